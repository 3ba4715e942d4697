//! What the environment sets for a timed run: the platform, and whether it is profiled.
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use flick_timing::platform::Crossing;
use flick_timing::{Costs, Platform};

use crate::config::{self, Backend};

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Whether the process is timed. Then NxP code runs on the counted paths.
#[inline]
pub fn enabled() -> bool {
    ENABLED.load(Relaxed)
}

pub struct Setting {
    pub platform: Platform,
    pub costs: Costs,
    /// What a crossing costs by the platform: all of it, or what the host does, where a card executes the
    /// rest.
    pub crossing: Crossing,
}

static SETTING: OnceLock<Setting> = OnceLock::new();

/// The platform, where the process is timed.
pub fn setting() -> Option<&'static Setting> {
    SETTING.get()
}

/// Whether the platform describes the host's own memory.
#[inline]
pub fn has_own_memory() -> bool {
    setting().is_some_and(|setting| setting.platform.host.window.is_some())
}

/// Whether the process is profiled.
pub fn is_profiled() -> bool {
    enabled() && config::get().profile
}

/// Sets the platform; false if there is one already.
pub fn set(platform: Platform, costs: Costs) -> bool {
    let crossing = match config::get().backend {
        Backend::Inline => platform.crossing,
        Backend::Card => platform.crossing.of_host(),
    };
    let setting = Setting {
        platform,
        costs,
        crossing,
    };
    SETTING.set(setting).is_ok()
}

/// From now on the process is timed.
pub fn enable() {
    ENABLED.store(true, Relaxed);
}

/// Of femtoseconds, as records have them.
pub fn picoseconds(time: u128) -> u64 {
    u64::try_from(time / 1000).unwrap_or(u64::MAX)
}
