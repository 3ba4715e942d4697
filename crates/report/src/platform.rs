//! The platform that a run is for.
use std::ffi::{OsStr, OsString};

/// What the option says; without it, what the environment says.
pub fn named(option: Option<&OsStr>) -> Option<OsString> {
    option
        .map(OsStr::to_owned)
        .or_else(|| std::env::var_os("FLICK_PLATFORM"))
        .filter(|platform| !platform.is_empty())
}
