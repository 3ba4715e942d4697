//! The cost of a crossing, part by part (paper section IV.B).
use super::quantity::TIME;
use super::toml_reader::{Error, Table};

/// A part of a crossing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Part {
    /// The page fault that notices the call.
    Fault = 0,
    /// The migration handler of the side that leaves.
    Handler = 1,
    /// Packing and unpacking the descriptor.
    Descriptor = 2,
    /// The descriptor's transfer.
    Link = 3,
    /// The time until the NxP's scheduler looks.
    Poll = 4,
    /// Context switches on either side.
    Switch = 5,
    /// The interrupt at the host.
    Interrupt = 6,
    /// Waking the host's thread.
    Wake = 7,
}

/// Names in platform files, by [`Part`].
pub const PARTS: [&str; 8] = [
    "fault",
    "handler",
    "descriptor",
    "link",
    "poll",
    "switch",
    "interrupt",
    "wake",
];

/// Femtoseconds by [`Part`].
pub type Parts = [u64; PARTS.len()];

/// The parts of the four kinds of crossings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crossing {
    /// The host calls the NxP.
    pub host_calls_nxp: Parts,
    /// The NxP returns to the host.
    pub nxp_returns: Parts,
    /// The NxP calls the host.
    pub nxp_calls_host: Parts,
    /// The host returns to the NxP.
    pub host_returns: Parts,
    /// Femtoseconds of each `link` that are a machine's link itself, so that a machine executes them. `None`:
    /// all of it.
    pub machine_link: Option<u64>,
}

impl Crossing {
    /// What is charged of it for a program on a card. The rest is what the card's link and harts do, which a
    /// simulated machine executes (`docs/card.md`, "What is charged").
    ///
    /// Where the NxP leaves, `switch` is its own; so it is a part of `switch` where the NxP's thread comes.
    pub fn of_host(&self) -> Self {
        let link = |parts: &Parts| {
            let link = parts[Part::Link as usize];
            link.saturating_sub(self.machine_link.unwrap_or(link))
        };
        let leaves = |parts: &Parts, nxp: &Parts| {
            let mut host = [0; PARTS.len()];
            host[Part::Link as usize] = link(parts);
            for part in [Part::Fault, Part::Handler, Part::Descriptor] {
                host[part as usize] = parts[part as usize];
            }
            let switch = Part::Switch as usize;
            host[switch] = parts[switch].saturating_sub(nxp[switch]);
            host
        };
        let comes = |parts: &Parts| {
            let mut host = [0; PARTS.len()];
            host[Part::Link as usize] = link(parts);
            for part in [Part::Interrupt, Part::Wake] {
                host[part as usize] = parts[part as usize];
            }
            host
        };
        Self {
            host_calls_nxp: leaves(&self.host_calls_nxp, &self.nxp_returns),
            nxp_returns: comes(&self.nxp_returns),
            nxp_calls_host: comes(&self.nxp_calls_host),
            host_returns: leaves(&self.host_returns, &self.nxp_calls_host),
            machine_link: self.machine_link,
        }
    }
}

pub fn read(mut table: Table<'_>) -> Result<Crossing, Error> {
    let crossing = Crossing {
        host_calls_nxp: parts(table.table_even_empty("host-calls-nxp")?)?,
        nxp_returns: parts(table.table_even_empty("nxp-returns")?)?,
        nxp_calls_host: parts(table.table_even_empty("nxp-calls-host")?)?,
        host_returns: parts(table.table_even_empty("host-returns")?)?,
        machine_link: match table.has("machine-link") {
            true => Some(table.quantity("machine-link", &TIME)? as u64),
            false => None,
        },
    };
    table.end()?;
    Ok(crossing)
}

fn parts(mut table: Table<'_>) -> Result<Parts, Error> {
    let mut parts = Parts::default();
    for (part, key) in PARTS.into_iter().enumerate() {
        parts[part] = table.quantity_or(key, &TIME, 0.0)? as u64;
    }
    table.end()?;
    Ok(parts)
}
