//! What people read of NxP code: reports of faults, backtraces, the record for debuggers, code for them.
pub(crate) mod backtrace;
pub(crate) mod debug_code;
pub(crate) mod debugger;
pub(crate) mod fault_report;
