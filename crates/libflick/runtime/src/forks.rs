//! What `fork` does with the translator, the table of modules and libflick's own heap: the child
//! finds each of them free and whole. `heap/around_fork.rs` does the same for the NxP heap.
use crate::crossing::card;
use crate::memory::own_heaps;
use crate::{modules, translation};

/// Installs the handlers. Call once, before the other parts install theirs: in the child handlers
/// run in this order, and those of the statistics read the modules.
pub fn install() {
    // SAFETY: plain functions of the right types, which live as long as the process.
    unsafe {
        libc::pthread_atfork(
            Some(before_fork),
            Some(after_fork_in_parent),
            Some(after_fork_in_child),
        )
    };
}

extern "C" fn before_fork() {
    card::before_fork();
    translation::before_fork();
    modules::lock();
    own_heaps::before_fork();
}

extern "C" fn after_fork_in_parent() {
    own_heaps::after_fork();
    modules::unlock();
    translation::after_fork_in_parent();
    card::after_fork_in_parent();
}

extern "C" fn after_fork_in_child() {
    own_heaps::after_fork();
    modules::unlock();
    translation::after_fork_in_child();
    card::after_fork_in_child();
}
