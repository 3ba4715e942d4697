//! Counts of the tried cases, for the end of a session.
use flick_events::number::counted;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use crate::count::{COUNTED, Crossings};

/// The counts of a session.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// By where they come from.
    pub programs: BTreeMap<&'static str, u64>,
    /// Builds by Flick.
    pub builds: u64,
    /// Program, options, placement, trigger and engine: each was built, run and compared.
    pub combinations: u64,
    /// Functions that were asked for and placed.
    pub placed: u64,
    /// Functions that were asked for and stay on the host, by code.
    pub refused: BTreeMap<String, u64>,
    /// Whole builds that were refused, by code.
    pub refused_builds: BTreeMap<String, u64>,
    /// Runs that the runtime stopped at a limit that it knows, by code.
    pub stopped: BTreeMap<String, u64>,
    /// Programs that could not be used, by reason.
    pub discarded: BTreeMap<String, u64>,
    /// The crossings of all runs.
    pub crossings: Crossings,
    /// Cases in which Flick's build did otherwise than the plain build.
    pub differences: u64,
}

impl Totals {
    /// Adds the counts of another part of the session.
    pub fn add(&mut self, other: &Self) {
        for (kind, count) in &other.programs {
            *self.programs.entry(kind).or_default() += count;
        }
        self.builds += other.builds;
        self.combinations += other.combinations;
        self.placed += other.placed;
        for (mine, theirs) in [
            (&mut self.refused, &other.refused),
            (&mut self.refused_builds, &other.refused_builds),
            (&mut self.stopped, &other.stopped),
            (&mut self.discarded, &other.discarded),
        ] {
            for (key, count) in theirs {
                *mine.entry(key.clone()).or_default() += count;
            }
        }
        self.crossings.add(&other.crossings);
        self.differences += other.differences;
    }

    /// Number of programs, wherever they come from.
    pub fn program_count(&self) -> u64 {
        self.programs.values().sum()
    }

    /// One line, while it goes on.
    pub fn progress(&self, elapsed: Duration) -> String {
        format!(
            "torture: {}, {}, {}, {} different, {} s",
            counted(self.program_count(), "program"),
            counted(self.combinations, "combination"),
            counted(self.crossings.calls, "crossing call"),
            self.differences,
            elapsed.as_secs()
        )
    }

    /// The text at the end of the session, of several lines.
    pub fn text(&self, seeds: &str, elapsed: Duration) -> String {
        let mut text = String::new();
        let list = |counts: &BTreeMap<String, u64>| {
            let parts: Vec<String> = counts
                .iter()
                .map(|(key, count)| format!("{key} {count}"))
                .collect();
            parts.join(", ")
        };
        let kinds: Vec<String> = self
            .programs
            .iter()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        let _ = writeln!(
            text,
            "programs      {} ({}); {seeds}",
            self.program_count(),
            kinds.join(", ")
        );
        let _ = writeln!(
            text,
            "combinations  {} of program, options, placement, trigger and engine, in {}",
            self.combinations,
            counted(self.builds, "build")
        );
        let _ = writeln!(text, "placed        {}", counted(self.placed, "function"));
        if !self.refused.is_empty() {
            let _ = writeln!(text, "refused       {} (functions)", list(&self.refused));
        }
        if !self.refused_builds.is_empty() {
            let _ = writeln!(
                text,
                "refused       {} (whole builds)",
                list(&self.refused_builds)
            );
        }
        if !self.stopped.is_empty() {
            let _ = writeln!(text, "stopped       {} (runs)", list(&self.stopped));
        }
        let _ = writeln!(
            text,
            "crossings     {} that changed sides",
            counted(self.crossings.calls, "call")
        );
        for feature in COUNTED {
            if let Some(count) = self.crossings.by_feature.get(&feature) {
                let _ = writeln!(text, "  {:<11} {count}", feature.name());
            }
        }
        for (reason, count) in &self.discarded {
            let _ = writeln!(text, "not used      {count}: {reason}");
        }
        let _ = writeln!(text, "time          {} s", elapsed.as_secs());
        let _ = match self.differences {
            0 => writeln!(text, "no difference"),
            1 => writeln!(text, "1 DIFFERENCE"),
            count => writeln!(text, "{count} DIFFERENCES"),
        };
        text
    }
}
