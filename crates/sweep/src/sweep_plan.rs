//! The plan: the points that are left to do, each with all that its run needs. Workers have nothing
//! else, so that an engine only distributes numbers.
use std::fs;
use std::path::{Path, PathBuf};

use flick_diagnostics::Code;
use flick_image::Error;
use serde::{Deserialize, Serialize};

use crate::result_files;

/// What `plan.json` has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The version of Flick that has made it.
    pub flick: String,
    /// The folder of the results.
    pub results: PathBuf,
    /// The folder in which programs run.
    pub directory: PathBuf,
    pub limit_s: f64,
    pub points: Vec<Task>,
}

/// A point that is to be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub key: String,
    /// For `FLICK_PLATFORM`.
    pub platform: String,
    pub command: Vec<String>,
    pub environment: Vec<(String, String)>,
    pub stdin: Option<PathBuf>,
}

impl Plan {
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        result_files::put(path, self)
    }

    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read(path).map_err(|error| result_files::unusable(path, &error))?;
        let plan: Self = serde_json::from_slice(&text).map_err(|error| {
            Error::new(
                Code::SweepFile,
                "the plan of a sweep cannot be used",
                path.display().to_string(),
                error.to_string(),
                "start the sweep again; it makes the plan",
            )
        })?;
        if plan.flick != env!("CARGO_PKG_VERSION") {
            return Err(Error::new(
                Code::OtherVersion,
                "made by another version of Flick",
                path.display().to_string(),
                format!(
                    "the sweep is of flick {}, and this worker is {}",
                    plan.flick,
                    env!("CARGO_PKG_VERSION")
                ),
                "install the same flick on all nodes",
            ));
        }
        Ok(plan)
    }
}

/// Numbers of a plan's points: `3`, `0-9`, `1,4-6`.
pub fn numbers(text: &str, count: usize) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= count {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// The points of a share `I/N`: `I`, `I + N`, ….
pub fn share(text: &str, count: usize) -> Option<Vec<usize>> {
    let (number, of) = text.split_once('/')?;
    let (number, of): (usize, usize) = (number.parse().ok()?, of.parse().ok()?);
    (number < of).then(|| (number..count).step_by(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_shares_of_points() {
        assert_eq!(numbers("1,4-6", 7), Some(vec![1, 4, 5, 6]));
        for wrong in ["", "7", "3-2", "a", "1,", "-"] {
            assert_eq!(numbers(wrong, 7), None, "{wrong}");
        }
        let shares: Vec<_> = (0..3).map(|i| share(&format!("{i}/3"), 7)).collect();
        assert_eq!(
            shares,
            [Some(vec![0, 3, 6]), Some(vec![1, 4]), Some(vec![2, 5])]
        );
        assert_eq!(share("9/10", 7), Some(Vec::new()));
        assert_eq!((share("3/3", 7), share("1", 7)), (None, None));
    }
}
