//! The order of the threads of a timed run: by virtual time, at stated points
//! (`docs/virtual-threads.md`).
//!
//! One thread holds the token ([`flick_sim::thread_token`]) and runs. The others sleep in their
//! slots ([`slot`]). The order begins when the process makes its second thread ([`lives`]), if the
//! program was linked with the functions that come by here ([`linked_library`]).
mod barriers;
mod fork_lock;
mod linked_library;
mod lives;
mod machine;
pub mod notes;
mod one_processor;
mod ordered_threads;
mod sent_signals;
mod slot;
mod stated_points;
pub mod timers;
mod waiting;
mod watchdog;
mod written_data;

pub use linked_library::{clocks_are_virtual, is_on, real, timed};
pub use lives::{Child, announce, end, forked, join, joined};
pub use machine::{Advanced, Machine, MachineTurn, set_machine};
pub use ordered_threads::{ANY_DATA, Key, after_fork, before_fork};
pub use stated_points::{Call, Here, arrive, point};
pub use written_data::writes;
