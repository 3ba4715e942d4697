//! The measurements of M3x (ATC 2019) beside its figures and the bars (`flick bench paper m3x`).
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use crate::paper::{Check, check_csv, check_table, write_files};

mod core_trips;
mod image_chain;
mod real_programs;
mod request_batches;
mod round_trips;
mod suspended;
mod switches;

pub use core_trips::CoreTrips;
pub use image_chain::{CHAIN_MODES, ChainMode, ChainTimes, Chains, Program};
pub use real_programs::{REPLAYED, RealPrograms, parse as parse_programs, split_replayed};
pub use request_batches::{ACCELERATORS, Batches};
pub use round_trips::RoundTrips;
pub use suspended::Suspended;
pub use switches::Switches;

/// One network, and accelerators behind PCIe.
pub const MACHINES: [&str; 2] = ["m3x-noc", "m3x-pcie"];

/// The programs of the card's kernel that are measured.
pub const PROGRAMS: [&str; 7] = [
    "autonomous",
    "assisted",
    "batches",
    "round_trips",
    "suspended",
    "suspended_core",
    "core_trips",
];

fn is_pcie(machine: &str) -> bool {
    machine.ends_with("pcie")
}

/// Everything that was measured.
pub struct Results {
    /// What it was measured with.
    pub by: String,
    /// Figure 5.
    pub trips: Vec<RoundTrips>,
    /// The same to receivers without a turn, by the same machines.
    pub suspended: Vec<Suspended>,
    pub core_trips: Vec<CoreTrips>,
    /// Figure 8.
    pub batches: Vec<Batches>,
    /// Figures 9 and 10.
    pub chains: Vec<Chains>,
    /// Chains that share their accelerators.
    pub switches: Vec<Switches>,
    /// Figures 6 and 7.
    pub programs: RealPrograms,
}

impl Results {
    /// Round trips to receivers without a turn, and with one.
    fn both_trips(&self) -> Vec<(&Suspended, &RoundTrips)> {
        self.suspended.iter().zip(&self.trips).collect()
    }
}

/// Writes the page, the tables and the plots into `dir`. The error has the path in it.
pub fn write(results: &Results, dir: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut files = vec![
        ("bars.csv".into(), check_csv(&checks(results)).into_bytes()),
        ("paper-m3x.md".into(), page(results).into_bytes()),
    ];
    files.push((
        "fig5.csv".into(),
        round_trips::csv(&results.trips).into_bytes(),
    ));
    files.push((
        "fig5-suspended.csv".into(),
        suspended::csv(&results.both_trips()).into_bytes(),
    ));
    files.push((
        "fig5-cores.csv".into(),
        core_trips::csv(&results.core_trips).into_bytes(),
    ));
    files.push((
        "switches.csv".into(),
        switches::csv(&results.switches).into_bytes(),
    ));
    files.push(("fig6.csv".into(), results.programs.csv().into_bytes()));
    files.extend(request_batches::files(&results.batches));
    for chains in &results.chains {
        files.extend(chains.files());
    }
    write_files(files, dir)
}

/// The bars.
pub fn checks(results: &Results) -> Vec<Check> {
    let trips = results.trips.iter().flat_map(RoundTrips::checks);
    let suspended = results.both_trips().into_iter();
    let core_trips = results.core_trips.iter();
    let core_trips = core_trips.flat_map(|trips| trips.checks(&results.trips));
    trips
        .chain(suspended.flat_map(|(suspended, running)| suspended.checks(running)))
        .chain(core_trips)
        .chain(results.chains.iter().flat_map(Chains::checks))
        .chain(results.switches.iter().flat_map(Switches::checks))
        .chain(results.programs.checks())
        .collect()
}

/// The page for people.
pub fn page(results: &Results) -> String {
    let mut text = String::from("# The measurements of M3x, repeated\n\n");
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{}. docs/paper-m3x.md says how it is measured, and what is input.\n\n## Bars\n",
        results.by
    );
    text.push_str(&check_table(&checks(results)));
    text.push_str(&round_trips::section(&results.trips));
    text.push_str(&suspended::section(&results.both_trips()));
    text.push_str(&core_trips::section(&results.core_trips));
    text.push_str(&results.programs.section());
    text.push_str(&request_batches::section(&results.batches));
    for chains in &results.chains {
        text.push_str(&chains.section());
    }
    text.push_str(&switches::section(&results.switches));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_written() {
        let results = Results {
            by: "a test".into(),
            trips: round_trips::tests::both(1.0).into(),
            suspended: suspended::tests::both(1.0).into(),
            core_trips: core_trips::tests::both(1.0).into(),
            batches: request_batches::tests::all(),
            chains: image_chain::tests::both(1.0).into(),
            switches: switches::tests::both(1.0).into(),
            programs: real_programs::tests::all(1.0),
        };
        let dir = tempfile::tempdir().unwrap();
        let files = write(&results, dir.path()).unwrap();
        assert_eq!(files.len(), 2 + 5 + 5 + 2 * 5);
        let page = std::fs::read_to_string(dir.path().join("paper-m3x.md")).unwrap();
        assert!(page.contains("![Figure 10a](fig10a.svg)"), "{page}");
    }
}
