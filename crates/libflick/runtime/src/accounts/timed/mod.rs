//! A timed run (`FLICK_PLATFORM`): virtual time of a platform, in two worlds at once (`docs/timing.md`).
//!
//! NxP code runs in the interpreter under [`flick_timing::Timed`]; host code that was compiled with
//! `--flick-timed` counts itself ([`host`]); crossings are charged part by part ([`crossing`]). All of it is kept by
//! thread ([`state`]) and added up at the end ([`total`]).
pub mod blocks;
pub mod crossing;
pub mod host;
mod library;
mod normal;
mod patient;
mod profile;
mod queue;
mod sites;
pub mod state;
mod things;
pub mod threads;
pub mod total;
pub mod trace;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use flick_engine::CodeRegion;
use flick_timing::{Costs, Layout, Platform};

use crate::config;
use crate::fatal;
use crate::{memory, modules};

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Whether the process is timed. Then NxP code runs on the counted paths.
#[inline]
pub fn enabled() -> bool {
    ENABLED.load(Relaxed)
}

pub struct Setting {
    pub platform: Platform,
    pub costs: Costs,
}

static SETTING: OnceLock<Setting> = OnceLock::new();

/// The platform, where the process is timed.
pub fn setting() -> Option<&'static Setting> {
    SETTING.get()
}

/// Starts to time. Call once, before gates get their targets; ends the process (FLK0111) where the platform cannot be
/// used.
pub fn init(name: &str) {
    let platform = Platform::load(name).unwrap_or_else(|error| {
        fatal::exit(
            "FLK0111",
            &format!("the platform cannot be used: {error}"),
            &error.help,
        )
    });
    normal::start_without_tunables();
    let costs = Costs::new(&platform);
    queue::init(platform.nxp_cores);
    if SETTING.set(Setting { platform, costs }).is_err() {
        return;
    }
    if let Some(path) = &config::get().trace {
        trace::init(path);
        // SAFETY: a plain function that lives as long as the process.
        unsafe { libc::atexit(finish) };
    }
    ENABLED.store(true, Relaxed);
    host::mark_all();
    host::price_units();
    // SAFETY: a plain function that lives as long as the process.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    // The main thread's, so that what runs before its first crossing is in its account.
    state::current();
}

/// The child's prediction is its own.
extern "C" fn forked() {
    queue::forget();
    state::forked();
}

/// The process ends: completes the trace.
extern "C" fn finish() {
    let state = state::current();
    if let (false, Some(total)) = (state.is_null(), total::total()) {
        // SAFETY: this thread's.
        trace::finish(unsafe { &mut *state }, &total);
    }
}

/// Of femtoseconds, as records have them.
fn picoseconds(time: u128) -> u64 {
    u64::try_from(time / 1000).unwrap_or(u64::MAX)
}

/// Where NxP-local memory is now.
pub(crate) fn layout(code: Option<&CodeRegion>) -> Layout {
    let image = code.and_then(|code| modules::image_range(code.base()));
    let image = image.unwrap_or_default();
    let (base, heap, size) = memory::region::parts();
    Layout {
        base: base as u64,
        heap: heap as u64,
        size: size as u64,
        image: image.start,
        image_size: image.end - image.start,
        is_data: host::has_data().then_some(is_data),
        marks: blocks::marks(),
    }
}

fn is_data(address: u64) -> bool {
    memory::is_local(address as usize)
}
