//! The profiles of all threads, added up and named for the record.
use std::collections::{BTreeMap, HashMap};

use flick_events::profile::{Edge, Function as Record, Profile as Profiles, Runs};

use super::super::setting::{picoseconds, setting};
use super::super::state;
use super::super::things::{self, Thing};
use super::account::{Function, Own, stop};
use super::functions;

/// What all threads have recorded; empty where no profile was asked for.
pub fn record() -> Profiles {
    let Some(setting) = setting() else {
        return Profiles::default();
    };
    let mut all: HashMap<Function, Own> = HashMap::new();
    let mut edges: HashMap<(Function, Function), u64> = HashMap::new();
    let mut known = Names {
        host: functions::describe(),
        gates: HashMap::new(),
    };
    stop();
    for profile in state::all().filter_map(|state| state.profile.as_ref()) {
        if !profile.rests() {
            continue;
        }
        known.gates.extend(&profile.gates);
        let mut names: Vec<(&Function, u32)> = profile
            .numbers
            .iter()
            .map(|(function, &number)| (function, number))
            .collect();
        names.sort_by_key(|(_, number)| *number);
        for (function, number) in &names {
            if let Some(own) = profile.functions.get(*number as usize) {
                add(all.entry((*function).clone()).or_default(), own);
            }
        }
        for (&(caller, callee), count) in &profile.edges {
            let name = |number: u32| names.get(number as usize).map(|(name, _)| *name);
            if let (Some(caller), Some(callee)) = (name(caller), name(callee)) {
                *edges.entry((caller.clone(), callee.clone())).or_default() += count;
            }
        }
    }
    let mut named: Vec<(Record, Function)> = all
        .into_iter()
        .map(|(function, own)| (describe(&function, &own, &known), function))
        .collect();
    // Not by the order of a table that depends on addresses.
    named.sort_by(|(a, _), (b, _)| {
        let key = |record: &Record| (record.name.clone(), record.runs, record.module.clone());
        key(a).cmp(&key(b)).then(a.offset.cmp(&b.offset))
    });
    let index: HashMap<&Function, usize> = named
        .iter()
        .enumerate()
        .map(|(at, (_, function))| (function, at))
        .collect();
    let mut between: Vec<Edge> = edges
        .into_iter()
        .filter_map(|((caller, callee), calls)| {
            Some(Edge {
                caller: *index.get(&caller)?,
                callee: *index.get(&callee)?,
                calls,
            })
        })
        .collect();
    between.sort_by_key(|edge| (edge.caller, edge.callee));
    let crossing = &setting.platform.crossing;
    let sum = |parts: [&[u64]; 2]| parts.iter().copied().flatten().sum::<u64>() / 1000;
    Profiles {
        host_nxp_host: sum([&crossing.host_calls_nxp, &crossing.nxp_returns]),
        nxp_host_nxp: sum([&crossing.nxp_calls_host, &crossing.host_returns]),
        functions: named.into_iter().map(|(record, _)| record).collect(),
        edges: between,
    }
}

struct Names {
    host: BTreeMap<usize, functions::Known>,
    gates: HashMap<u64, usize>,
}

fn add(sum: &mut Own, own: &Own) {
    let Own {
        calls,
        host,
        nxp,
        host_memory,
        nxp_memory,
        host_library,
        nxp_library,
        local,
        remote,
        spare,
        marked,
        allocations,
    } = own;
    sum.calls += calls;
    sum.host += host;
    sum.nxp += nxp;
    sum.host_memory += host_memory;
    sum.nxp_memory += nxp_memory;
    sum.host_library += host_library;
    sum.nxp_library += nxp_library;
    sum.local += local;
    sum.remote += remote;
    sum.spare += spare;
    sum.marked += marked;
    sum.allocations += allocations;
}

fn describe(function: &Function, own: &Own, names: &Names) -> Record {
    let mut record = Record {
        calls: own.calls,
        host: picoseconds(own.host + own.host_memory + own.host_library),
        nxp: picoseconds(own.nxp + own.nxp_memory + own.nxp_library),
        local: own.local,
        remote: own.remote,
        spare: (own.spare / 1000) as i64,
        marked: own.marked,
        allocations: own.allocations,
        ..Record::default()
    };
    match function {
        Function::Host(entry) => {
            if let Some(known) = names.host.get(entry) {
                record.name.clone_from(&known.name);
                record.refusal.clone_from(&known.refusal);
                record.module.clone_from(&known.module);
                record.offset = known.offset;
            } else {
                record.name = format!("{entry:#x}");
            }
        }
        Function::Nxp(entry) => {
            record.runs = Runs::Nxp;
            let thing = names
                .gates
                .get(entry)
                .map_or(Thing::Nxp(*entry), |&gate| Thing::Gate(gate));
            record.name = things::name(thing).text;
        }
        Function::Library(name) => {
            record.runs = Runs::Library;
            record.name.clone_from(name);
        }
    }
    record
}
