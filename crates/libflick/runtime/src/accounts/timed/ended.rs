//! Threads that have ended, for those that join them.
use std::collections::HashMap;
use std::sync::Mutex;

use super::sums::Times;
use crate::locks::bounded::held;

/// When threads that nobody has joined yet have ended, in each world.
static ENDED: Mutex<Option<HashMap<libc::pthread_t, Times>>> = Mutex::new(None);

/// The calling thread ends at these times.
pub fn ended(times: Times) {
    let mut ended = held(&ENDED);
    // SAFETY: the calling thread's own number.
    let own = unsafe { libc::pthread_self() };
    ended.get_or_insert_default().insert(own, times);
}

/// When `thread`, which has been joined, has ended.
pub fn take(thread: libc::pthread_t) -> Option<Times> {
    held(&ENDED).get_or_insert_default().remove(&thread)
}
