//! At how many nodes the chase of Figure 5a pays, by the NxP's clock, the link and the pages.
use super::Both;
use crate::markdown;
use crate::paper::Chase;

/// What is set of the platform and of the machine, behind their names.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    pub platform: String,
    pub machine: String,
}

/// A value of a sweep: its name, and nanoseconds where it is a time.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub name: &'static str,
    nanoseconds: f64,
}

/// What is changed, and to what.
pub struct Sweep {
    pub what: &'static str,
    kind: Kind,
    pub values: &'static [Value],
}

enum Kind {
    Clock,
    Link,
    Pages,
}

const fn value(name: &'static str, nanoseconds: f64) -> Value {
    Value { name, nanoseconds }
}

/// Nanoseconds of a link's way, and of a load of the NxP's own memory: those of flick-isca20.
const LINK: f64 = 279.0;
const MEMORY: f64 = 267.0;
/// Microseconds of a descriptor's way in flick-isca20, which contains the link's.
const DESCRIPTOR: f64 = 1.1;
/// Nanoseconds of that which the machine's link takes.
pub(super) const MACHINE_LINK: f64 = 306.4;

/// All sweeps.
pub const SWEEPS: &[Sweep] = &[
    Sweep {
        what: "NxP clock",
        kind: Kind::Clock,
        values: &[
            value("100 MHz", 0.0),
            value("200 MHz", 0.0),
            value("400 MHz", 0.0),
            value("800 MHz", 0.0),
            value("1600 MHz", 0.0),
        ],
    },
    Sweep {
        what: "link, one way",
        kind: Kind::Link,
        values: &[
            value("140 ns", 140.0),
            value("279 ns", LINK),
            value("558 ns", 558.0),
            value("1116 ns", 1116.0),
            value("2232 ns", 2232.0),
        ],
    },
    Sweep {
        what: "pages of the NxP's memory",
        kind: Kind::Pages,
        values: &[
            value("4 KiB", 0.0),
            value("2 MiB", 0.0),
            value("1 GiB", 0.0),
        ],
    },
];

impl Sweep {
    /// The name of the file of a value's run.
    pub fn file(&self, value: &str) -> String {
        let what = match self.kind {
            Kind::Clock => "clock",
            Kind::Link => "link",
            Kind::Pages => "pages",
        };
        format!("even-{what}-{}", value.replace(' ', ""))
    }

    /// What is set for a value. A load over the link takes both its ways and the memory.
    pub fn setting(&self, value: &Value) -> Setting {
        let name = value.name;
        match self.kind {
            Kind::Clock => Setting {
                platform: format!(",nxp.clock={name}"),
                machine: format!(",tile.nxp.clock={name}"),
            },
            Kind::Link => {
                let load = 2.0 * value.nanoseconds + MEMORY;
                let way = DESCRIPTOR * 1000.0 + value.nanoseconds - LINK;
                let crossings = [
                    "host-calls-nxp",
                    "nxp-returns",
                    "nxp-calls-host",
                    "host-returns",
                ];
                let ways = crossings.map(|crossing| format!(",crossing.{crossing}.link={way} ns"));
                // The rest of a descriptor's way stays as it is.
                let executed = MACHINE_LINK + value.nanoseconds - LINK;
                Setting {
                    platform: format!(
                        ",host.memory.nxp.load={load} ns,nxp.memory.host.load={load} ns,\
                         crossing.machine-link={executed:.1} ns{}",
                        ways.concat()
                    ),
                    machine: format!(",link.latency={name}"),
                }
            }
            Kind::Pages => Setting {
                platform: format!(",pages.nxp={name}"),
                machine: String::new(),
            },
        }
    }
}

/// The chase with a value.
pub struct EvenRow {
    pub what: &'static str,
    pub value: &'static str,
    pub chases: Both<Chase>,
}

/// Nodes at which the chase pays.
pub fn table(rows: &[EvenRow]) -> Vec<Vec<String>> {
    let head = [
        "nodes at which a call pays",
        "",
        "predicted",
        "with firmware",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in rows {
        let even = |chase: &Chase| markdown::figure(chase.break_even(), 1);
        lines.push(vec![
            row.what.into(),
            row.value.into(),
            even(&row.chases.platform),
            even(&row.chases.firmware),
        ]);
    }
    lines
}
