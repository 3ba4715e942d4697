//! The runtime's locks, each with what it promises to signal handlers and to `fork`.
//!
//! | lock | for | a handler that finds it taken |
//! |---|---|---|
//! | [`signal_safe`] | tables that handlers read | reads beside other readers; writers block signals |
//! | [`fork_mutex`] | what is changed seldom | finds it free: its holder blocks signals |
//! | [`try_lock`] | the translator | goes on without: its code is interpreted |
//! | [`bounded`] | the accounts of timed runs | goes on without after a while |
//!
//! [`order`] has the mutexes that `fork` takes. Beside them `own_heaps.rs` has the hold of
//! libflick's own heap, and `flick-sync` the lists that are read without a lock.
pub(crate) mod bounded;
pub(crate) mod fork_mutex;
pub(crate) mod order;
pub(crate) mod signal_safe;
pub(crate) mod try_lock;
