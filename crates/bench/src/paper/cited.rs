//! What the paper states: "Flick: Fast and Lightweight ISA-Crossing Call for Heterogeneous-ISA
//! Environments", ISCA 2020. Figure 5 is not in the text; of it there is what section V.B says.

/// A row of Table II.
pub struct System {
    pub work: &'static str,
    pub fast: &'static str,
    pub slow: &'static str,
    pub interconnect: &'static str,
    /// Microseconds of a migration there and back.
    pub overhead: f64,
}

const fn system(
    work: &'static str,
    fast: &'static str,
    slow: &'static str,
    interconnect: &'static str,
    overhead: f64,
) -> System {
    System {
        work,
        fast,
        slow,
        interconnect,
        overhead,
    }
}

/// Table II.
pub const SYSTEMS: [System; 5] = [
    system(
        "ASPLOS'12 [11]",
        "MIPS, 2 GHz",
        "ARM, 833 MHz",
        "not considered",
        600.0,
    ),
    system(
        "EuroSys'15 [13]",
        "Xeon E5-2695, 2.4 GHz",
        "Xeon Phi 3120A, 1.1 GHz",
        "PCIe",
        700.0,
    ),
    system(
        "ISCA'16 [6]",
        "Xeon E5-2640, 2.5 GHz",
        "ARM Cortex R7, 750 MHz",
        "PCIe Gen3 x4",
        430.0,
    ),
    system(
        "ARM big.LITTLE [2]",
        "Cortex A15, 1.8 GHz",
        "Cortex A7",
        "on chip",
        22.0,
    ),
    system(
        "Flick, the paper",
        "Xeon E5-2620v3, 2.4 GHz",
        "RV64I, 200 MHz",
        "PCIe Gen3 x8",
        HOST_NXP_HOST,
    ),
];

/// Table III, microseconds.
pub const HOST_NXP_HOST: f64 = 18.3;
pub const NXP_HOST_NXP: f64 = 16.9;

/// Section V.B, Figure 5a: host time over Flick's where it has levelled off.
pub const PLATEAU: f64 = 2.6;
/// Nodes per call at which both take the same time.
pub const BREAK_EVEN: f64 = 32.0;
/// Figure 5b, with a pause between calls: "approximately 2x".
pub const PLATEAU_WITH_PAUSE: f64 = 2.0;
/// Microseconds.
pub const PAUSE: f64 = 100.0;
/// The longest list.
pub const NODES: u64 = 1024;

/// A row of Table IV, with what the figures there are rounded to.
pub struct Dataset {
    /// What `bfs -g` calls it.
    pub name: &'static str,
    pub title: &'static str,
    /// What SNAP calls its file.
    pub file: &'static str,
    pub vertices: &'static str,
    pub edges: &'static str,
    /// Seconds.
    pub baseline: f64,
    pub flick: f64,
    /// Bytes that the search of bench/paper takes with such a graph: 32 an edge at the end, of a
    /// vertex as many, and some to spare.
    pub memory: u64,
}

impl Dataset {
    pub fn ratio(&self) -> f64 {
        self.flick / self.baseline
    }
}

/// Table IV.
pub const DATASETS: [Dataset; 3] = [
    Dataset {
        name: "epinions",
        title: "Epinions1",
        file: "soc-Epinions1.txt",
        vertices: "76k",
        edges: "509k",
        baseline: 1.8,
        flick: 2.4,
        memory: 64 << 20,
    },
    Dataset {
        name: "pokec",
        title: "Pokec",
        file: "soc-pokec-relationships.txt",
        vertices: "1,633k",
        edges: "30,623k",
        baseline: 107.4,
        flick: 90.3,
        memory: 1200 << 20,
    },
    Dataset {
        name: "livejournal",
        title: "LiveJournal1",
        file: "soc-LiveJournal1.txt",
        vertices: "4,848k",
        edges: "68,994k",
        baseline: 240.5,
        flick: 220.9,
        memory: 2600 << 20,
    },
];
