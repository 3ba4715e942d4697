//! The platform that a run is for.
use std::ffi::{OsStr, OsString};

use flick_diagnostics::Code;
use flick_image::Error;

/// What the option says; without it, what the environment says.
pub fn named(option: Option<&OsStr>) -> Option<OsString> {
    option
        .map(OsStr::to_owned)
        .or_else(|| std::env::var_os("FLICK_PLATFORM"))
        .filter(|platform| !platform.is_empty())
}

/// The same for `tool`, which needs one. FLK0104 without.
pub fn required(tool: &str, option: Option<&OsStr>) -> Result<OsString, Error> {
    named(option).ok_or_else(|| {
        Error::new(
            Code::BadOption,
            "no platform is named",
            "--platform",
            "virtual time is that of a platform",
            format!(
                "name one, or a file that describes it: {tool} --platform=flick-isca20 ./program"
            ),
        )
    })
}
