//! The paper's tables with the NxP's half of a crossing executed, beside what the platform predicts
//! (`flick bench paper firmware`).
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use flick_timing::Platform;
use flick_timing::platform::{Part, Parts};

use crate::markdown;
use crate::paper::{
    Chase, Check, Dataset, HOST_NXP_HOST, NXP_HOST_NXP, Null, Search, check_csv, check_table,
    within, write_files,
};

mod break_even;
mod firmware_tables;
#[cfg(test)]
mod firmware_tests;
mod thread_table;

pub use break_even::{EvenRow, SWEEPS, Setting};
pub use thread_table::{COUNTS, FEW_COUNTS, Threaded};

/// The project's bar: with nothing fitted, the null calls are so near the paper's.
const NEAR: f64 = 0.1;

/// What takes no time in a further run of `null.c`, and what is set of the machine for that. The difference is
/// what it takes.
pub const WITHOUT: [(&str, &str); 3] = [
    ("link", ",link.latency=0 ns,link.width=4 KiB"),
    ("misses", ",core.nxp.l1i.size=1 MiB"),
    ("registers", ",tile.nxp.device-latency=0 ns"),
];

/// The same in both worlds.
pub struct Both<T> {
    /// The NxP's half takes what the platform file says.
    pub platform: T,
    /// It is executed.
    pub firmware: T,
}

/// A row of Table IV.
pub struct Searched {
    pub dataset: &'static Dataset,
    pub uncalibrated: Both<Search>,
    pub fitted: Both<Search>,
}

/// Everything that was measured.
pub struct Results {
    /// What it was measured with, for the head of the page.
    pub by: String,
    /// Of the platform file, by round trip.
    pub parts: [PlatformParts; 2],
    pub null: Both<Null>,
    /// With firmware, and a hart of the kernel's own.
    pub harts: Null,
    /// In the order of [`WITHOUT`], with firmware.
    pub without: Vec<Null>,
    /// Without a pause between calls, and with one.
    pub chases: [Both<Chase>; 2],
    pub graphs: Vec<Searched>,
    pub evens: Vec<EvenRow>,
    /// By numbers of threads and harts.
    pub threaded: Vec<Threaded>,
}

/// Parts of a round trip in a platform file, microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlatformParts {
    pub host: f64,
    pub link: f64,
    /// What is charged of `link` on a card, besides the machine's link.
    pub beside_machine_link: f64,
    /// What is executed otherwise.
    pub nxp: f64,
}

/// Of a platform: host-NxP-host, and NxP-host-NxP.
pub fn host_and_link(platform: &str) -> Result<[PlatformParts; 2], String> {
    const FS_PER_US: f64 = 1e9;
    let platform = Platform::load(platform).map_err(|error| error.to_string())?;
    let (all, host) = (platform.crossing, platform.crossing.of_host());
    let sum = |ways: [&Parts; 2]| ways.into_iter().flatten().sum::<u64>() as f64 / FS_PER_US;
    let link = |ways: [&Parts; 2]| {
        let links = ways.map(|way| way[Part::Link as usize]);
        links.into_iter().sum::<u64>() as f64 / FS_PER_US
    };
    let parts = |all: [&Parts; 2], charged: [&Parts; 2]| {
        let host = sum(charged) - link(charged);
        PlatformParts {
            host,
            link: link(all),
            beside_machine_link: link(charged),
            nxp: sum(all) - host - link(all),
        }
    };
    Ok([
        parts(
            [&all.host_calls_nxp, &all.nxp_returns],
            [&host.host_calls_nxp, &host.nxp_returns],
        ),
        parts(
            [&all.nxp_calls_host, &all.host_returns],
            [&host.nxp_calls_host, &host.host_returns],
        ),
    ])
}

/// Microseconds of both round trips.
fn trips(null: &Null) -> [f64; 2] {
    [null.host_nxp_host.migrating, null.nxp_host_nxp.migrating]
}

/// What the bars say.
pub fn checks(results: &Results) -> Vec<Check> {
    let [there, back] = trips(&results.null.firmware);
    vec![
        within(
            "host-NxP-host with firmware, µs".into(),
            there,
            HOST_NXP_HOST,
            NEAR,
        ),
        within(
            "NxP-host-NxP with firmware, µs".into(),
            back,
            NXP_HOST_NXP,
            NEAR,
        ),
    ]
}

/// Writes the page and the tables into `dir`. The error has the path in it.
pub fn write(results: &Results, dir: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let files = vec![
        ("bars.csv".into(), check_csv(&checks(results)).into_bytes()),
        ("paper-firmware.md".into(), page(results).into_bytes()),
    ];
    write_files(files, dir)
}

/// The page for people.
pub fn page(results: &Results) -> String {
    let mut text = String::from("# The paper's tables and figures, with firmware in the path\n\n");
    let _ = writeln!(
        text,
        "{}. What is charged: docs/card.md. What is input and fitted: docs/paper.md.\n\n## Bars\n",
        results.by
    );
    text.push_str(&check_table(&checks(results)));
    let mut part = |title: &str, table: Vec<Vec<String>>| {
        let _ = write!(text, "\n## {title}\n\n{}", markdown::table(&table));
    };
    part(
        "Tables II and III: a migration there and back",
        firmware_tables::crossings(results),
    );
    part("Its parts", firmware_tables::parts(results));
    part(
        "Figure 5: pointer chasing",
        firmware_tables::curves(results),
    );
    if !results.graphs.is_empty() {
        part(
            "Table IV: breadth-first search",
            firmware_tables::searches(results),
        );
    }
    part("Break-even of Figure 5a", break_even::table(&results.evens));
    part(
        "Several threads on several harts",
        thread_table::speedups(&results.threaded),
    );
    part(
        "Harts until the card wins",
        thread_table::harts_to_win(&results.threaded),
    );
    text
}
