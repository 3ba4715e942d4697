//! A timed run (`FLICK_PLATFORM`): virtual time of a platform, in two worlds at once
//! (`docs/timing.md`).
//!
//! NxP code runs in the interpreter under [`flick_timing::Timed`]; host code that was compiled with
//! `--flick-timed` counts itself ([`host_code`]); crossings are charged part by part
//! ([`crossing_costs`]). All of it is kept by thread ([`state`]) and added up at the end
//! ([`total`]).
mod branch_table;
pub mod card_time;
mod clock;
pub mod crossing_costs;
mod ended;
mod hart_lanes;
pub mod host_code;
mod library;
mod long_histories;
mod near_lines;
mod normal;
mod nxp_layout;
pub mod nxp_map;
pub mod order;
mod own_memory;
mod profile;
mod queue;
mod seen_lines;
pub(crate) mod setting;
mod sites;
pub mod state;
pub(crate) mod sums;
mod things;
pub mod threads;
pub mod tile_cores;
pub mod total;
pub mod trace;
mod tracer;
mod ways_out;

use flick_timing::{Costs, Platform};

use crate::config;
use crate::heap::marks;
use crate::os::fatal;

pub use setting::enabled;

/// Starts to time. Call once, before gates get their targets; ends the process (FLK0111) where the
/// platform cannot be used.
pub fn init(name: &str) {
    let platform = Platform::load(name).unwrap_or_else(|error| {
        fatal::exit(
            "FLK0111",
            &format!("the platform cannot be used: {error}"),
            &error.help,
        )
    });
    normal::start_again();
    normal::make_openmp_sleep();
    let costs = Costs::new(&platform);
    queue::init(platform.nxp_cores);
    state::before_end(order::end);
    if !setting::set(platform, costs) {
        return;
    }
    if let Some(path) = &config::get().trace {
        tracer::init(path, config::get().trace_size);
        // SAFETY: a plain function that lives as long as the process.
        unsafe { libc::atexit(finish) };
    }
    own_memory::enable();
    setting::enable();
    order::timed(!config::get().real_time);
    marks::enable();
    nxp_map::mark_all();
    host_code::price_units();
    // SAFETY: a plain function that lives as long as the process.
    unsafe {
        libc::pthread_atfork(
            Some(order::before_fork),
            Some(order::after_fork),
            Some(forked),
        )
    };
    // The main thread's, so that what runs before its first crossing is in its account.
    state::current();
}

/// The child's prediction is its own.
extern "C" fn forked() {
    queue::forget();
    let before = order::forked();
    hart_lanes::forked();
    state::forked();
    order::inherit(before);
}

/// The process ends: completes the trace.
extern "C" fn finish() {
    if let (Some(mut state), Some(total)) = (state::current(), total::total()) {
        trace::finish(&mut state, &total);
    }
}
