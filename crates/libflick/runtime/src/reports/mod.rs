//! What people read of NxP code: reports of faults, backtraces, and the record for debuggers.
pub(crate) mod backtrace;
pub(crate) mod debug_code;
pub(crate) mod debugger;
pub(crate) mod fault_report;
