//! `flick advise --verify`: builds the program by the placement that is proposed, runs it again, and drops
//! the moves that made it worse.
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::ExitStatus;

use flick_events::Summary;
use flick_events::profile::Runs;
use flick_events::timed::Timed;
use flick_image::Error;

use super::advice::Place;
use super::advice_file::Entries;
use super::build_command::{build, cannot_verify, ended};
use super::proposal::Proposal;
use crate::again;
use crate::reasons::Reasons;
use crate::run_program::file_error;

/// The most builds by a placement that is yet to be tried.
const ROUNDS: usize = 3;

/// A placement that was tried. Times are picoseconds.
#[derive(Clone, Debug)]
pub struct Round {
    pub entries: Entries,
    pub predicted: u64,
    pub obtained: u64,
    /// Functions that made it worse.
    pub dropped: BTreeSet<String>,
}

impl Round {
    /// Per cent by which more was obtained than predicted.
    pub fn difference(&self) -> f64 {
        (self.obtained as f64 / self.predicted.max(1) as f64 - 1.0) * 100.0
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Verified {
    pub rounds: Vec<Round>,
    /// The round that takes the least; none: the program as it was.
    pub best: Option<usize>,
    /// What that takes.
    pub time: u64,
}

impl Verified {
    /// What is left of the proposal.
    pub fn entries(&self) -> Option<&Entries> {
        self.best.map(|best| &self.rounds[best].entries)
    }

    /// For the placement file.
    pub fn remark(&self) -> String {
        format!("{} obtained", flick_events::timed::duration(self.time))
    }
}

/// A run of the program as a round has built it: its times, and what would move by its own advice.
struct Tried {
    obtained: u64,
    before: u64,
    advised: u64,
    advice: Entries,
}

/// The program, how it is built, and what for.
pub struct Trial<'a> {
    pub command: &'a [OsString],
    pub build: &'a [OsString],
    pub platform: &'a OsStr,
    /// How the program ended as it was.
    pub status: ExitStatus,
}

impl Trial<'_> {
    /// Tries `entries`, by which `proposal` is predicted, and what is left of them. At the end the program is
    /// built by the best. FLK0118.
    pub fn run(&self, proposal: &Proposal, entries: &Entries) -> Result<Verified, Error> {
        let dir = tempfile::Builder::new()
            .prefix("flick-advise")
            .tempdir()
            .map_err(|e| file_error(&std::env::temp_dir(), &e))?;
        let file = dir.path().join("place");
        let mut verified = Verified {
            rounds: Vec::new(),
            best: None,
            time: proposal.as_is,
        };
        let mut next = Some((entries.clone(), proposal.advised));
        while let Some((entries, predicted)) = next.take() {
            let tried = self.round(&file, &entries)?;
            let obtained = tried.obtained;
            // What takes longer than the program with nothing placed is no advice. The two runs differ in
            // what they know of that: code of the NxP is not the host's.
            let is_better =
                obtained < verified.time && obtained <= proposal.before.max(tried.before);
            if is_better {
                verified.best = Some(verified.rounds.len());
                verified.time = obtained;
            }
            let mut dropped = entries.contradicted(&tried.advice);
            if dropped.is_empty() && !is_better {
                dropped = entries.moves().map(|(name, _)| name.to_owned()).collect();
            }
            let rest = entries.without(&dropped);
            let left = rest.moves().next().is_some();
            if !dropped.is_empty() && left && verified.rounds.len() + 1 < ROUNDS {
                next = Some((rest, tried.advised));
            }
            verified.rounds.push(Round {
                entries,
                predicted,
                obtained,
                dropped,
            });
        }
        if verified.best != verified.rounds.len().checked_sub(1) {
            let place = verified.entries().map(|best| (best, file.as_path()));
            let place = place.map(|(best, file)| write(file, best).map(|()| file));
            build(self.build, place.transpose()?)?;
        }
        Ok(verified)
    }

    /// Builds and runs once.
    fn round(&self, file: &Path, entries: &Entries) -> Result<Tried, Error> {
        write(file, entries)?;
        build(self.build, Some(file))?;
        let (status, summary) = again::profiled(self.command, self.platform)?;
        if status != self.status {
            let why = format!(
                "the program that it built is another one: {}",
                ended(status)
            );
            let help = "compare the two programs' outputs; give the program a file to read";
            return Err(cannot_verify(self.build, why, help));
        }
        let Some((summary, timed)) = summary.as_ref().and_then(with_time) else {
            let why = "the program that it built leaves no record of its functions".to_owned();
            let help = "keep --flick-timed in the build command";
            return Err(cannot_verify(self.build, why, help));
        };
        if !is_placed(timed, entries) {
            let why =
                "the program that it built has none of the functions where the file puts them";
            let help = "let it compile and link all anew with flick cc: make -B, ninja -t clean";
            return Err(cannot_verify(self.build, why.to_owned(), help));
        }
        let proposal = Proposal::new(timed);
        Ok(Tried {
            obtained: proposal.as_is,
            before: proposal.before,
            advised: proposal.advised,
            advice: Entries::of(&proposal, timed, &Reasons::of(&summary.files)),
        })
    }
}

fn write(file: &Path, entries: &Entries) -> Result<(), Error> {
    let text = entries.text(&[]);
    fs::write(file, text).map_err(|e| file_error(file, &e))
}

fn with_time(summary: &Summary) -> Option<(&Summary, &Timed)> {
    let timed = summary.timed.as_ref()?;
    (!timed.profile.functions.is_empty()).then_some((summary, timed))
}

/// Whether any function that moves is where it should be, or all of them have not run.
fn is_placed(timed: &Timed, entries: &Entries) -> bool {
    let functions = &timed.profile.functions;
    let mut seen = false;
    for (name, place) in entries.moves() {
        let shown = flick_names::demangled(name);
        for function in functions {
            if function.name == name || function.name == *shown {
                seen = true;
                if (function.runs == Runs::Nxp) == (place != Place::Host) {
                    return true;
                }
            }
        }
    }
    !seen
}
