//! What placements cost, by a profile: each function's own time on the side that it is on, and the crossings between.
use std::collections::{BTreeSet, HashMap};

use flick_events::profile::{Function, Profile, Runs};

/// Why a function is where it is, whatever that costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    Entry,
    Library,
    /// The code of the error.
    Refused(String),
}

#[derive(Clone, Debug)]
pub struct Node {
    /// Index in the profile.
    pub function: usize,
    /// Picoseconds of its own, with those of the small functions that go with it.
    pub host: f64,
    pub nxp: f64,
    pub on_nxp: bool,
    /// It stays on the host.
    pub bound: Option<Bound>,
}

#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub caller: usize,
    pub callee: usize,
    pub calls: f64,
}

/// A function that goes where its callers are: as small as no crossing pays for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Small {
    /// Index in the profile.
    pub function: usize,
    /// Nodes that it goes with.
    pub callers: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub small: Vec<Small>,
    /// Picoseconds of a call and its return.
    pub host_nxp_host: f64,
    pub nxp_host_nxp: f64,
}

fn bound(function: &Function) -> Option<Bound> {
    // Initialisers are in lists that are run by address, before and after all else.
    const INITIALISERS: [&str; 2] = ["_GLOBAL__", "__cxx_"];
    let starts = |prefix: &&str| function.name.starts_with(*prefix);
    if function.runs == Runs::Library {
        Some(Bound::Library)
    } else if function.name == "main" || INITIALISERS.iter().any(starts) {
        Some(Bound::Entry)
    } else if function.runs == Runs::Host && !function.refusal.is_empty() {
        Some(Bound::Refused(function.refusal.clone()))
    } else {
        None
    }
}

impl Model {
    pub fn new(profile: &Profile) -> Self {
        let mut nodes: Vec<Node> = profile
            .functions
            .iter()
            .enumerate()
            .map(|(at, function)| Node {
                function: at,
                host: function.host as f64,
                nxp: function.nxp as f64,
                on_nxp: function.runs == Runs::Nxp,
                bound: bound(function),
            })
            .collect();
        let mut edges: Vec<Edge> = profile
            .edges
            .iter()
            .map(|edge| Edge {
                caller: edge.caller,
                callee: edge.callee,
                calls: edge.calls as f64,
            })
            .collect();
        // Whoever called what no edge explains is outside, on the host.
        let outside = nodes.len();
        for (at, function) in profile.functions.iter().enumerate() {
            let known = edges.iter().filter(|edge| edge.callee == at);
            let calls = function.calls as f64 - known.map(|edge| edge.calls).sum::<f64>();
            if calls > 0.0 {
                edges.push(Edge {
                    caller: outside,
                    callee: at,
                    calls,
                });
            }
        }
        nodes.push(Node {
            function: usize::MAX,
            host: 0.0,
            nxp: 0.0,
            on_nxp: false,
            bound: Some(Bound::Library),
        });
        let mut model = Self {
            nodes,
            edges,
            small: Vec::new(),
            host_nxp_host: profile.host_nxp_host as f64,
            nxp_host_nxp: profile.nxp_host_nxp as f64,
        };
        model.fold(profile);
        model
    }

    /// Adds small functions that call nothing (but such functions), and are called where they are, to their callers, in
    /// proportion to the calls.
    fn fold(&mut self, profile: &Profile) {
        let mut folded: HashMap<usize, Vec<(usize, f64)>> = HashMap::new();
        while let Some(at) = (0..profile.functions.len()).find(|&at| {
            !folded.contains_key(&at)
                && self.is_small(at, profile, |callee| folded.contains_key(&callee))
        }) {
            let calls: Vec<(usize, f64)> = self
                .edges
                .iter()
                .filter(|edge| edge.callee == at && edge.caller != at)
                .map(|edge| (edge.caller, edge.calls))
                .collect();
            let all: f64 = calls.iter().map(|(_, calls)| calls).sum();
            let (host, nxp) = (self.nodes[at].host, self.nodes[at].nxp);
            for &(caller, calls) in &calls {
                self.nodes[caller].host += host * calls / all;
                self.nodes[caller].nxp += nxp * calls / all;
            }
            (self.nodes[at].host, self.nodes[at].nxp) = (0.0, 0.0);
            folded.insert(at, calls);
        }
        for &function in folded.keys() {
            let mut callers = BTreeSet::new();
            let mut seen = BTreeSet::new();
            let mut todo = vec![function];
            while let Some(at) = todo.pop() {
                match folded.get(&at) {
                    Some(calls) if seen.insert(at) => todo.extend(calls.iter().map(|call| call.0)),
                    Some(_) => {}
                    None => {
                        callers.insert(at);
                    }
                }
            }
            self.small.push(Small {
                function,
                callers: callers.into_iter().collect(),
            });
        }
        self.small.sort_by_key(|small| small.function);
        self.edges.retain(|edge| {
            !folded.contains_key(&edge.caller) && !folded.contains_key(&edge.callee)
        });
    }

    fn is_small(&self, at: usize, profile: &Profile, is_folded: impl Fn(usize) -> bool) -> bool {
        let (node, function) = (&self.nodes[at], &profile.functions[at]);
        let known = |caller: usize| caller < profile.functions.len() && caller != at;
        let mut callers = self.edges.iter().filter(|edge| edge.callee == at);
        let mut callees = self.edges.iter().filter(|edge| edge.caller == at);
        let a_call = node.host.max(node.nxp) / (function.calls.max(1) as f64);
        node.bound.is_none()
            && a_call < self.host_nxp_host.min(self.nxp_host_nxp) / 2.0
            && callers.clone().count() > 0
            && callers
                .all(|edge| known(edge.caller) && self.nodes[edge.caller].on_nxp == node.on_nxp)
            && callees.all(|edge| is_folded(edge.callee))
    }

    /// Where everything is now.
    pub fn present(&self) -> Vec<bool> {
        self.nodes.iter().map(|node| node.on_nxp).collect()
    }

    /// Picoseconds of everything, where `on_nxp` has what is on the NxP.
    pub fn cost(&self, on_nxp: &[bool]) -> f64 {
        let own = |(node, &there): (&Node, &bool)| if there { node.nxp } else { node.host };
        let crossing = |edge: &Edge| match (on_nxp[edge.caller], on_nxp[edge.callee]) {
            (false, true) => edge.calls * self.host_nxp_host,
            (true, false) => edge.calls * self.nxp_host_nxp,
            _ => 0.0,
        };
        let owns: f64 = self.nodes.iter().zip(on_nxp).map(own).sum();
        owns + self.edges.iter().map(crossing).sum::<f64>()
    }

    /// Calls that cross.
    pub fn crossings(&self, on_nxp: &[bool]) -> f64 {
        let crosses = |edge: &&Edge| on_nxp[edge.caller] != on_nxp[edge.callee];
        self.edges
            .iter()
            .filter(crosses)
            .map(|edge| edge.calls)
            .sum()
    }
}
