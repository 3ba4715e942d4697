//! `flick stat --verify-baseline`: the predicted time without migration against a run in which
//! nothing migrates.
use std::ffi::{OsStr, OsString};

use flick_events::timed::{Timed, duration};
use flick_image::Error;

use crate::again;

/// Runs `command` with everything on the host and compares with what the first run predicts.
pub fn verify(
    command: &[OsString],
    (platform, clock): (&OsStr, &[(&str, &OsStr)]),
    first: Option<&Timed>,
) -> Result<String, Error> {
    let Some(first) = first else {
        return Ok(" Baseline: the run has left no prediction.\n\n".into());
    };
    let off = [("FLICK_OFFLOAD", OsStr::new("off"))];
    let Some(second) = again::run(command, platform, &[&off[..], clock].concat())?.timed else {
        return Ok(" Baseline: the run with FLICK_OFFLOAD=off has left no prediction.\n\n".into());
    };
    Ok(compare(first, &second))
}

fn compare(first: &Timed, second: &Timed) -> String {
    let predicted = first.baseline();
    // Data that the program itself puts into NxP memory is there in the second run, too, and with nothing placed
    // it is not.
    let found = match first.has_own_memory() {
        true => second.before,
        false => second.migrating,
    };
    let difference = found as f64 / predicted.max(1) as f64 - 1.0;
    let remark = if first.host_counted {
        ""
    } else {
        " Host code was not built with --flick-timed: the second run lacks its time.\n"
    };
    format!(
        " Baseline: {} predicted, {} in a run with everything on the host ({:+.1} %)\n{remark}\n",
        duration(predicted),
        duration(found),
        difference * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_of_the_second_run() {
        let first = Timed {
            staying: 1_000_000,
            before: 1_000_000,
            host_counted: true,
            ..Timed::default()
        };
        let second = Timed {
            migrating: 1_050_000,
            ..Timed::default()
        };
        let text = compare(&first, &second);
        assert!(text.contains("1.000 us predicted, 1.050 us"), "{text}");
        assert!(text.contains("(+5.0 %)"), "{text}");
        // What placed functions have allocated is not where it was.
        let first = Timed {
            staying: 9_000_000,
            ..first
        };
        assert_eq!(compare(&first, &second), text);
        // Where the host's own memory is described, all data is there.
        let described = |timed: Timed| Timed {
            own_levels: vec![0, 0],
            ..timed
        };
        let second = Timed {
            migrating: 8_000_000,
            before: 1_050_000,
            ..second
        };
        assert_eq!(compare(&described(first), &described(second)), text);
    }
}
