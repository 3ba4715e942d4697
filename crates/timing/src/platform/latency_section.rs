//! How operations flow through a host's core that executes out of order: `[host.latency]`.
use super::core_model::{HOST_CLASSES, Window};
use super::toml_reader::{Error, Table};

/// Operations side by side, and in chains. Femtoseconds by [`HOST_CLASSES`].
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Between two operations of a class that do not wait for each other.
    pub apart: [u64; HOST_CLASSES.len()],
    /// Until the result of an operation is there for the next one; 0 for classes without a result.
    pub chained: [u64; HOST_CLASSES.len()],
    /// Between two operations of any kind: as many begin in a cycle as the window is wide.
    pub issue: u64,
    /// Instructions that are under way at a time.
    pub window: u64,
}

/// Classes with a key in `[host.latency]`. A load's latency is the hit of the nearest cache.
const KEYS: [&str; 7] = ["int", "mul", "div", "fp", "fp-mul", "fp-div", "vector"];

/// Reads `[host.latency]`; `None` if there is no such table. `apart` has the figures of
/// `[host.cycles]`, and `cycles` makes femtoseconds of cycles.
pub fn read(
    host: &mut Table<'_>,
    window: Option<&Window>,
    apart: &[u64],
    cycles: impl Fn(f64) -> u64,
) -> Result<Option<Flow>, Error> {
    let Some(mut table) = host.table_if("latency")? else {
        return Ok(None);
    };
    let Some(window) = window else {
        let why = "a latency needs a window: the file does not describe the host's own memory";
        let help = "describe [host.memory.host] and [host.window], or leave [host.latency] out";
        return Err(table.error("", why, help));
    };
    let mut chained = [0; HOST_CLASSES.len()];
    for (class, key) in HOST_CLASSES.into_iter().enumerate() {
        chained[class] = match key {
            _ if KEYS.contains(&key) => cycles(table.number(key, (0.0, 1e6))?),
            "load" => apart[class] + window.chain,
            "atomic" => apart[class],
            _ => 0,
        };
    }
    table.end()?;
    Ok(Some(Flow {
        apart: std::array::from_fn(|class| apart[class]),
        chained,
        issue: window.issue,
        window: window.instructions,
    }))
}

impl Flow {
    /// The cost of an operation that waits for others in part: the geometric mean of the time in a chain and
    /// the time side by side. It is for code whose chains are not known.
    pub fn between(&self) -> Vec<u64> {
        let each = self.apart.iter().zip(&self.chained);
        each.map(|(&apart, &chained)| match chained {
            0 => apart,
            _ => (apart as f64 * chained as f64).sqrt().round() as u64,
        })
        .collect()
    }
}
