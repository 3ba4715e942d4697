//! The functions and calls that `FLICK_PROFILE=functions` adds to a timed run's record.
use crate::lines::{escape, push, unescape};

/// What code is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Runs {
    /// Instrumented, on the host.
    #[default]
    Host,
    /// On the NxP.
    Nxp,
    /// Not instrumented.
    Library,
}

const RUNS: [(&str, Runs); 3] = [
    ("host", Runs::Host),
    ("nxp", Runs::Nxp),
    ("library", Runs::Library),
];

/// In the place of a refusal's code: others have the function's name, so that no placement file can
/// name it.
pub const AMBIGUOUS: &str = "ambiguous";

/// What a function has done itself, without what it has called. Times are picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// As the linker knows it.
    pub name: String,
    /// The file that it is in, and its entry there.
    pub module: String,
    /// Offset of the entry in `module`, in bytes.
    pub offset: u64,
    /// Where it runs, and whether its time was counted.
    pub runs: Runs,
    /// The code of the error that keeps it from the NxP, or [`AMBIGUOUS`]; empty if nothing does.
    pub refusal: String,
    /// How often it was called.
    pub calls: u64,
    /// On the host, with its accesses to NxP-local memory.
    pub host: u64,
    /// What the same takes on the NxP, with all its accesses but to stacks.
    pub nxp: u64,
    /// Accesses to NxP-local memory.
    pub local: u64,
    /// Accesses to the host's memory, where known.
    pub remote: u64,
    /// Of `host`: what there is not if the host's memory had what NxP code has allocated; accesses
    /// to that.
    pub spare: i64,
    /// The accesses to what NxP code has allocated.
    pub marked: u64,
    /// How often it has allocated memory on the NxP.
    pub allocations: u64,
}

/// Indices of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the function that calls.
    pub caller: usize,
    /// Index of the function that is called.
    pub callee: usize,
    /// Number of calls.
    pub calls: u64,
}

/// The call graph of a run, of all threads together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// What a call and its return cost, of the NxP by the host, and of the host by the NxP.
    /// Picoseconds.
    pub host_nxp_host: u64,
    /// The same for a call of the host by the NxP.
    pub nxp_host_nxp: u64,
    /// All functions that were called.
    pub functions: Vec<Function>,
    /// All pairs of a function that called and one that was called.
    pub edges: Vec<Edge>,
}

/// Appends the lines of the record to `out`.
pub fn write(profile: &Profile, out: &mut String) {
    push(
        out,
        format_args!(
            "timed-crossing {} {}",
            profile.host_nxp_host, profile.nxp_host_nxp
        ),
    );
    for function in &profile.functions {
        let runs = RUNS.iter().find(|(_, runs)| *runs == function.runs);
        let numbers = [
            function.calls,
            function.host,
            function.nxp,
            function.local,
            function.remote,
            function.offset,
        ]
        .map(|number| number.to_string())
        .join(" ");
        let names = [&function.name, &function.module, &function.refusal].map(|name| escape(name));
        push(
            out,
            format_args!(
                "timed-function {} {numbers} {}",
                runs.map_or("", |(name, _)| name),
                names.join("\t")
            ),
        );
        if (function.spare, function.marked, function.allocations) != (0, 0, 0) {
            let Function {
                spare,
                marked,
                allocations,
                ..
            } = function;
            push(
                out,
                format_args!("timed-function-heap {spare} {marked} {allocations}"),
            );
        }
    }
    for edge in &profile.edges {
        push(
            out,
            format_args!("timed-edge {} {} {}", edge.caller, edge.callee, edge.calls),
        );
    }
}

/// Takes the value of `crossing`, `function` or `edge`.
pub fn take(profile: &mut Profile, key: &str, value: &str) -> Option<()> {
    match key {
        "crossing" => {
            let (there, back) = value.split_once(' ')?;
            profile.host_nxp_host = there.parse().ok()?;
            profile.nxp_host_nxp = back.parse().ok()?;
        }
        "function" => profile.functions.push(function(value)?),
        "function-heap" => {
            let function = profile.functions.last_mut()?;
            let mut words = value.split(' ');
            let spare = words.next()?.parse().ok()?;
            let mut number = || words.next()?.parse().ok();
            let (marked, allocations) = (number()?, number()?);
            if words.next().is_some() {
                return None;
            }
            (function.spare, function.marked, function.allocations) = (spare, marked, allocations);
        }
        "edge" => {
            let mut numbers = value.split(' ').map(str::parse);
            let mut number = || numbers.next()?.ok();
            let edge = Edge {
                caller: number()? as usize,
                callee: number()? as usize,
                calls: number()?,
            };
            // Functions come first.
            let known = profile.functions.len();
            if edge.caller >= known || edge.callee >= known || numbers.next().is_some() {
                return None;
            }
            profile.edges.push(edge);
        }
        _ => {}
    }
    Some(())
}

fn function(value: &str) -> Option<Function> {
    let mut words = value.splitn(8, ' ');
    let runs = words.next()?;
    let runs = RUNS.iter().find(|(name, _)| *name == runs)?.1;
    let mut number = || words.next()?.parse::<u64>().ok();
    let mut function = Function {
        runs,
        calls: number()?,
        host: number()?,
        nxp: number()?,
        local: number()?,
        remote: number()?,
        offset: number()?,
        ..Function::default()
    };
    let mut names = words.next()?.split('\t');
    let mut name = || unescape(names.next()?);
    (function.name, function.module, function.refusal) = (name()?, name()?, name()?);
    names.next().is_none().then_some(function)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn full() -> Profile {
        let function = |name: &str, runs| Function {
            name: name.into(),
            module: "/a b/c\td".into(),
            offset: 8,
            runs,
            refusal: "FLK0203".into(),
            calls: 1,
            host: 2,
            nxp: u64::MAX,
            local: 4,
            remote: 5,
            spare: if runs == Runs::Nxp { -6 } else { 0 },
            marked: u64::from(runs == Runs::Nxp) * 7,
            allocations: u64::from(runs == Runs::Nxp) * 8,
        };
        Profile {
            host_nxp_host: 6,
            nxp_host_nxp: 7,
            functions: vec![
                function("main", Runs::Host),
                function("walk\\", Runs::Nxp),
                function("", Runs::Library),
            ],
            edges: vec![Edge {
                caller: 0,
                callee: 2,
                calls: 9,
            }],
        }
    }

    #[test]
    fn damage_is_noticed() {
        let mut profile = full();
        for (key, value) in [
            ("crossing", "1"),
            ("function", "host 1 2 3 4 5 6 a\tb"),
            ("function", "nowhere 1 2 3 4 5 6 a\tb\tc"),
            ("function", "host 1 2 3 4 5 a\tb\tc"),
            ("function-heap", "1 2"),
            ("function-heap", "1 -2 3"),
            ("edge", "0 3 1"),
            ("edge", "0 1"),
            ("edge", "0 1 2 3"),
            ("edge", "0 1 x"),
        ] {
            assert_eq!(take(&mut profile, key, value), None, "{key} {value}");
        }
        assert_eq!(profile, full());
    }
}
