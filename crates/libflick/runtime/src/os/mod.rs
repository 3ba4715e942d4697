//! The process, its threads and its C library: what needs nothing else of the runtime.
pub(crate) mod errno;
pub mod fatal;
pub mod host_library;
pub(crate) mod host_stack;
pub(crate) mod illegal;
pub(crate) mod jump_buffer;
pub mod one_runtime;
pub(crate) mod own_file;
pub(crate) mod own_stack;
pub(crate) mod process_facts;
pub(crate) mod processors;
pub(crate) mod signal_mask;
pub(crate) mod system_call;
pub(crate) mod text;
pub(crate) mod thread_clock;
pub(crate) mod thread_pointer;
pub(crate) mod thread_status;
