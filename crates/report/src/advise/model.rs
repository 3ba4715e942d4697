//! What placements cost, by a profile: each function's own time on the side that it is on, and the
//! crossings between.
use std::collections::{BTreeSet, HashMap};

use flick_events::profile::{Function, Profile, Runs};

/// Why a function is where it is, whatever that costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    Entry,
    Library,
    /// The code of the error.
    Refused(String),
    /// It works on what it, or another, has allocated on the NxP, and that is back in the host's
    /// memory.
    Heap,
}

/// Where what NxP code has allocated (`malloc`) is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heap {
    /// In NxP-local memory, as in the run.
    AsIs,
    /// In the host's, with all functions that allocate it or work on it.
    Back,
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
    /// It allocates memory on the NxP, or works on what was allocated there.
    pub of_heap: bool,
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

/// Whether the function allocates memory on the NxP, or works on what was allocated there.
fn is_of_heap(function: &Function) -> bool {
    function.marked > 0 || function.allocations > 0
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
    pub fn new(profile: &Profile, heap: Heap) -> Self {
        let mut nodes: Vec<Node> = profile
            .functions
            .iter()
            .enumerate()
            .map(|(at, function)| {
                let mut node = Node {
                    function: at,
                    host: function.host as f64,
                    nxp: function.nxp as f64,
                    on_nxp: function.runs == Runs::Nxp,
                    bound: bound(function),
                    of_heap: is_of_heap(function),
                };
                if heap == Heap::Back {
                    node.host -= function.spare as f64;
                    if node.bound.is_none() && node.of_heap {
                        node.bound = Some(Bound::Heap);
                    }
                }
                node
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
        let mut known = vec![0.0; profile.functions.len()];
        for edge in &edges {
            known[edge.callee] += edge.calls;
        }
        for (at, function) in profile.functions.iter().enumerate() {
            let calls = function.calls as f64 - known[at];
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
            of_heap: false,
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

    /// Adds small functions that call nothing (but such functions), and are called where they are,
    /// to their callers, in proportion to the calls.
    fn fold(&mut self, profile: &Profile) {
        let count = self.nodes.len();
        let (mut callers, mut callees) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for edge in &self.edges {
            callers[edge.callee].push((edge.caller, edge.calls));
            callees[edge.caller].push(edge.callee);
        }
        let mut is_folded = vec![false; count];
        let mut order = Vec::new();
        let mut todo: Vec<usize> = (0..profile.functions.len()).collect();
        while let Some(at) = todo.pop() {
            let leaf = callees[at].iter().all(|&callee| is_folded[callee]);
            if is_folded[at] || !leaf || !self.is_small(at, profile, &callers[at]) {
                continue;
            }
            let all: f64 = callers[at].iter().map(|(_, calls)| calls).sum();
            let (host, nxp) = (self.nodes[at].host, self.nodes[at].nxp);
            for &(caller, calls) in &callers[at] {
                self.nodes[caller].host += host * calls / all;
                self.nodes[caller].nxp += nxp * calls / all;
                // It may have nothing else below it.
                if caller < profile.functions.len() {
                    todo.push(caller);
                }
            }
            (self.nodes[at].host, self.nodes[at].nxp) = (0.0, 0.0);
            is_folded[at] = true;
            order.push(at);
        }
        // Callers before what they call.
        let mut with: HashMap<usize, BTreeSet<usize>> = HashMap::new();
        for &function in order.iter().rev() {
            let mut all = BTreeSet::new();
            for &(caller, _) in &callers[function] {
                match with.get(&caller) {
                    Some(above) => all.extend(above),
                    None => {
                        all.insert(caller);
                    }
                }
            }
            with.insert(function, all);
        }
        self.small = with
            .into_iter()
            .map(|(function, callers)| Small {
                function,
                callers: callers.into_iter().collect(),
            })
            .collect();
        self.small.sort_by_key(|small| small.function);
        self.edges
            .retain(|edge| !is_folded[edge.caller] && !is_folded[edge.callee]);
    }

    fn is_small(&self, at: usize, profile: &Profile, callers: &[(usize, f64)]) -> bool {
        let (node, function) = (&self.nodes[at], &profile.functions[at]);
        let a_call = node.host.max(node.nxp) / (function.calls.max(1) as f64);
        node.bound.is_none()
            && a_call < self.host_nxp_host.min(self.nxp_host_nxp) / 2.0
            && !callers.is_empty()
            && callers.iter().all(|&(caller, _)| {
                caller < profile.functions.len()
                    && caller != at
                    && self.nodes[caller].on_nxp == node.on_nxp
            })
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
