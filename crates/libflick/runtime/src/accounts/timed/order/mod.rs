//! The order of the threads of a timed run: by virtual time, at stated points
//! (`docs/virtual-threads.md`).
//!
//! One thread holds the token ([`flick_sim::thread_token`]) and runs. The others sleep in their
//! slots ([`slot`]). The order begins when the process makes its second thread ([`lives`]), if the
//! program was linked with the functions that come by here ([`linked_library`]).
mod barriers;
mod driven_machine;
mod fork_lock;
mod inherited_timers;
pub mod kept_timers;
mod keys;
mod linked_library;
mod lives;
mod machine_turn;
pub mod notes;
mod one_processor;
mod ordered_threads;
mod processor_time;
mod sent_signals;
pub mod set_timers;
pub mod signal_waits;
pub mod signals_of_threads;
mod slot;
mod stated_points;
mod timer_files;
mod virtual_timers;
mod waiting;
mod watchdog;
mod written_data;

pub use driven_machine::{Advanced, Machine, set_machine};
pub use inherited_timers::inherit;
pub use keys::{ANY_DATA, Key};
pub use linked_library::{clocks_are_virtual, is_on, real, timed};
pub use lives::{Child, announce, end, forked, is_own, join, joined};
pub use machine_turn::MachineTurn;
pub use ordered_threads::{after_fork, before_fork};
pub use processor_time::Meter;
pub use stated_points::{Call, Here, arrive, point};
pub use written_data::writes;
