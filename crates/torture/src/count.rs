//! How often each feature crossed, from the names of the functions that statistics counted: the
//! generator gives every kind of function a name of its own (`Kind::tag`).
use std::collections::BTreeMap;

use flick_events::Summary;

use crate::generate::Feature;
use crate::generated_program::{Id, Kind, Program};

/// Those of the features that a call by name shows.
pub const COUNTED: [Feature; 10] = [
    Feature::Varargs,
    Feature::StructByValue,
    Feature::Throw,
    Feature::Longjmp,
    Feature::Thread,
    Feature::Callback,
    Feature::Virtual,
    Feature::Signal,
    Feature::Fork,
    Feature::Goto,
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossings {
    /// Calls that changed sides, all of them.
    pub calls: u64,
    pub by_feature: BTreeMap<Feature, u64>,
}

impl Crossings {
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        for (feature, count) in &other.by_feature {
            *self.by_feature.entry(*feature).or_default() += count;
        }
    }

    /// Of one run of a generated program.
    pub fn of(program: Option<&Program>, summaries: &[Summary]) -> Self {
        let mut crossings = Self::default();
        let mut calls: BTreeMap<Id, u64> = BTreeMap::new();
        for summary in summaries {
            for call in summary.host_to_nxp.iter().chain(&summary.nxp_to_host) {
                crossings.calls += call.count;
                let Some(program) = program else { continue };
                let name = source_name(&call.function);
                if let Some(function) = program.functions.iter().find(|f| f.name == name) {
                    *calls.entry(function.id).or_default() += call.count;
                } else if name == "pthread_create" {
                    crossings.count(Feature::Thread, call.count);
                } else if name == "fork" {
                    crossings.count(Feature::Fork, call.count);
                } else if matches!(name, "on_raised" | "on_fault" | "on_tick" | "raise") {
                    crossings.count(Feature::Signal, call.count);
                } else if name.starts_with("make_S") || name.starts_with("fold_S") {
                    crossings.count(Feature::StructByValue, call.count);
                } else if matches!(name, "snprintf" | "vsnprintf" | "__snprintf_chk") {
                    crossings.count(Feature::Varargs, call.count);
                }
            }
        }
        let Some(program) = program else {
            return crossings;
        };
        for function in &program.functions {
            let count = calls.get(&function.id).copied().unwrap_or(0);
            let feature = match function.kind {
                Kind::Variadic { .. } | Kind::List { .. } | Kind::Print => Feature::Varargs,
                Kind::Compare { .. } | Kind::Callback => Feature::Callback,
                Kind::Thread { .. } => Feature::Thread,
                Kind::Goto { .. } => Feature::Goto,
                Kind::Virtual { .. } => Feature::Virtual,
                Kind::Plain { .. } if function.name.starts_with("sv") => Feature::StructByValue,
                // Every call on the way to a jump is left by the jump. What crossed more often than
                // any other on the way is what jumps at least passed over.
                Kind::SetJump { .. } => {
                    crossings.count(Feature::Longjmp, on_the_way(program, function.id, &calls));
                    continue;
                }
                Kind::Try { .. } => {
                    crossings.count(Feature::Throw, on_the_way(program, function.id, &calls));
                    continue;
                }
                _ => continue,
            };
            crossings.count(feature, count);
        }
        crossings
    }

    fn count(&mut self, feature: Feature, count: u64) {
        *self.by_feature.entry(feature).or_default() += count;
    }
}

fn on_the_way(program: &Program, head: Id, calls: &BTreeMap<Id, u64>) -> u64 {
    let mut most = 0;
    let mut at = program.function(head).and_then(|f| f.kind.next());
    while let Some(id) = at {
        most = most.max(calls.get(&id).copied().unwrap_or(0));
        at = program.function(id).and_then(|f| f.kind.next());
    }
    most
}

/// The function of the source that a linker's name is: `sv3` of `_Z3sv3P3ctx2S1`, `vt5` of
/// `_ZN3vt53runEP3ctxy`, `cb2` of `cb2.flick.01234567`.
pub fn source_name(symbol: &str) -> &str {
    let plain = symbol.split('.').next().unwrap_or(symbol);
    let Some(mangled) = plain.strip_prefix("_Z") else {
        return plain;
    };
    let name = mangled.trim_start_matches(['N', 'L', 'K']);
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = name[..digits].parse().unwrap_or(0);
    name.get(digits..digits + length)
        .filter(|name| !name.is_empty())
        .unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Features};
    use flick_events::Calls;

    #[test]
    fn names_of_the_source() {
        for (symbol, name) in [
            ("sv3", "sv3"),
            ("_Z3sv3P3ctx2S1", "sv3"),
            ("_ZL4th12Pv", "th12"),
            ("_ZN3vt53runEP3ctxy", "vt5"),
            ("cb2.flick.01234567", "cb2"),
            ("_ZN7TrackedC2Ey", "Tracked"),
            ("_Z", "_Z"),
        ] {
            assert_eq!(source_name(symbol), name, "{symbol}");
        }
    }

    /// A jump over three crossing calls is one jump.
    #[test]
    fn jumps_count_once() {
        let program = (0..)
            .map(|seed| generate::program(seed, &Features::only(&[Feature::Longjmp])))
            .find(|p| p.functions.iter().filter(|f| f.kind.tag() == "jm").count() == 3)
            .unwrap();
        let call = |name: &str, count| Calls {
            function: name.into(),
            module: String::new(),
            count,
        };
        let names = program.functions.iter().map(|f| f.name.as_str());
        let summary = Summary {
            host_to_nxp: names
                .filter(|name| name.starts_with("jm"))
                .zip(2..)
                .map(|(name, count)| call(name, count))
                .collect(),
            nxp_to_host: vec![call("puts", 5)],
            ..Summary::default()
        };
        let chains = program
            .functions
            .iter()
            .filter(|f| f.kind.tag() == "js")
            .count();
        let crossings = Crossings::of(Some(&program), &[summary]);
        assert_eq!(crossings.calls, 2 + 3 + 4 + 5);
        let jumps = crossings.by_feature[&Feature::Longjmp];
        assert!(if chains == 1 { jumps == 4 } else { jumps > 4 }, "{jumps}");
    }
}
