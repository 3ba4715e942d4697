//! What to move: the changes of the cheapest placement that are worth the trouble, in groups that
//! go together.
use flick_events::profile::Profile;

use super::cut;
use super::model::{Bound, Heap, Model, Small};

/// Of the whole time: what a group must gain.
pub const WORTH: f64 = 0.01;

/// Functions that belong together: to move one of them alone would make crossings of their calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Nodes, and whether they go to the NxP.
    pub moves: Vec<(usize, bool)>,
    /// Picoseconds that the program would lose without it.
    pub gain: f64,
}

#[derive(Clone, Debug)]
pub struct Advice {
    pub model: Model,
    /// The most gain first.
    pub groups: Vec<Group>,
    /// By node: what is on the NxP then.
    pub on_nxp: Vec<bool>,
    /// Picoseconds of all threads, as it is and then.
    pub now: f64,
    pub then: f64,
    /// What placed functions have allocated is in the host's memory then.
    heap_back: bool,
}

impl Advice {
    pub fn new(profile: &Profile) -> Self {
        let as_is = Self::with(profile, Heap::AsIs);
        if !profile.functions.iter().any(|known| known.allocations > 0) {
            return as_is;
        }
        let mut back = Self::with(profile, Heap::Back);
        if back.then > as_is.then - as_is.now * WORTH {
            return as_is;
        }
        // The model has the data where it will be: what it costs now is the other's.
        let gain = as_is.now - back.then - back.gained();
        back.now = as_is.now;
        back.heap_back = true;
        back.undo(gain);
        back
    }

    /// All that is on the NxP goes back, for this gain.
    pub fn all_back(&mut self, gain: f64) {
        let nodes = self.model.nodes.iter().enumerate();
        let there = nodes.filter(|&(at, node)| node.on_nxp && !self.is_small(at));
        let moves = there.map(|(at, _)| (at, false)).collect();
        self.groups = vec![Group { moves, gain }];
        self.on_nxp.fill(false);
        self.heap_back = true;
    }

    /// All stays where it is.
    pub fn nothing(&mut self) {
        self.groups.clear();
        self.on_nxp = self.model.present();
        self.heap_back = false;
    }

    /// Sum of the groups' gains.
    fn gained(&self) -> f64 {
        self.groups.iter().map(|group| group.gain).sum()
    }

    /// Makes one group, with this gain beyond those of its parts, of all that goes back with the
    /// heap.
    fn undo(&mut self, gain: f64) {
        let of_heap =
            |&(node, _): &(usize, bool)| self.model.nodes[node].bound == Some(Bound::Heap);
        let all = std::mem::take(&mut self.groups);
        let (parts, rest): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|group| group.moves.iter().any(of_heap));
        let mut undone = Group {
            moves: Vec::new(),
            gain,
        };
        for part in parts {
            undone.moves.extend(part.moves);
            undone.gain += part.gain;
        }
        undone.moves.sort_unstable();
        self.groups = rest;
        self.groups.push(undone);
        self.groups.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    }

    fn with(profile: &Profile, heap: Heap) -> Self {
        let model = Model::new(profile, heap);
        let present = model.present();
        let now = model.cost(&present);
        let mut on_nxp = cut::best(&model);
        let mut groups: Vec<Group> = Vec::new();
        for moves in together(&model, &present, &on_nxp) {
            let mut without = on_nxp.clone();
            for &node in &moves {
                without[node] = present[node];
            }
            let gain = model.cost(&without) - model.cost(&on_nxp);
            let bound = |&node: &usize| model.nodes[node].bound.is_some();
            if gain < now * WORTH && !moves.iter().any(bound) {
                on_nxp = without;
            } else {
                let moves = moves.iter().map(|&node| (node, on_nxp[node])).collect();
                groups.push(Group { moves, gain });
            }
        }
        groups.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        Self {
            then: model.cost(&on_nxp),
            model,
            groups,
            on_nxp,
            now,
            heap_back: false,
        }
    }

    /// Whether the node goes back with what it, or another, has allocated on the NxP.
    pub fn goes_with_heap(&self, node: usize) -> bool {
        self.heap_back && self.model.nodes[node].of_heap && !self.on_nxp[node]
    }

    /// Whether the node goes where its callers are.
    pub fn is_small(&self, node: usize) -> bool {
        self.model.small.iter().any(|small| small.function == node)
    }

    /// Small functions of which some callers move, and where they have to be then.
    pub fn small(&self) -> impl Iterator<Item = (&Small, Place)> {
        self.model.small.iter().filter_map(|small| {
            let there = |&node: &usize| self.on_nxp[node];
            let mut callers = small.callers.iter();
            let place = match self.model.nodes[small.function].on_nxp {
                true if callers.clone().all(there) => return None,
                true if callers.any(there) => Place::Both,
                true => Place::Host,
                // Another caller may come.
                false if callers.any(there) => Place::Both,
                false => return None,
            };
            Some((small, place))
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Host,
    Nxp,
    Both,
}

impl Place {
    /// As placement files have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Nxp => "nxp",
            Self::Both => "both",
        }
    }
}

/// The nodes that move, in groups of those between which there are calls.
fn together(model: &Model, present: &[bool], wanted: &[bool]) -> Vec<Vec<usize>> {
    let moves = |node: usize| present[node] != wanted[node];
    let mut seen = vec![false; present.len()];
    let mut groups = Vec::new();
    for first in 0..present.len() {
        if !moves(first) || seen[first] {
            continue;
        }
        seen[first] = true;
        let (mut group, mut todo) = (Vec::new(), vec![first]);
        while let Some(at) = todo.pop() {
            group.push(at);
            for edge in &model.edges {
                let next = match (edge.caller == at, edge.callee == at) {
                    (true, _) => edge.callee,
                    (_, true) => edge.caller,
                    _ => continue,
                };
                if moves(next) && !std::mem::replace(&mut seen[next], true) {
                    todo.push(next);
                }
            }
        }
        group.sort_unstable();
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use flick_events::profile::{Edge, Function, Runs};

    use super::*;

    fn function(name: &str, runs: Runs, calls: u64, host: u64, nxp: u64) -> Function {
        Function {
            name: name.into(),
            runs,
            calls,
            host,
            nxp,
            ..Function::default()
        }
    }

    fn profile(functions: Vec<Function>, edges: &[(usize, usize, u64)]) -> Profile {
        let edge = |&(caller, callee, calls): &(usize, usize, u64)| Edge {
            caller,
            callee,
            calls,
        };
        Profile {
            host_nxp_host: 20_000,
            nxp_host_nxp: 10_000,
            functions,
            edges: edges.iter().map(edge).collect(),
        }
    }

    fn moves(advice: &Advice) -> Vec<(usize, bool)> {
        let all = advice.groups.iter().flat_map(|group| &group.moves);
        all.copied().collect()
    }

    fn small(advice: &Advice) -> Vec<(usize, Place)> {
        let all = advice.small();
        all.map(|(small, place)| (small.function, place)).collect()
    }

    #[test]
    fn heavy_functions_move_and_light_ones_move_back() {
        let mut functions = vec![
            function("main", Runs::Host, 1, 100_000, 1),
            // Gains 900 ns and pays one crossing.
            function("scan", Runs::Host, 1, 1_000_000, 100_000),
            // Gains 5 ns a call, and crosses each time.
            function("touch", Runs::Nxp, 10, 60_000, 10_000),
            function("printf", Runs::Library, 1, 30_000, 0),
        ];
        let edges = [(0, 1, 1), (0, 2, 10), (0, 3, 1)];
        let advice = Advice::new(&profile(functions.clone(), &edges));
        assert_eq!(moves(&advice), [(1, true), (2, false)]);
        assert_eq!(
            advice.now,
            100_000. + 1_000_000. + 10_000. + 200_000. + 30_000.
        );
        assert_eq!(
            advice.then,
            100_000. + 100_000. + 20_000. + 60_000. + 30_000.
        );
        assert_eq!(advice.groups[0].gain, 880_000.);
        // It cannot be placed.
        functions[1].refusal = "FLK0203".into();
        let advice = Advice::new(&profile(functions, &edges));
        assert_eq!(moves(&advice), [(2, false)]);
    }

    #[test]
    fn functions_that_call_each_other_move_together() {
        let functions = vec![
            function("main", Runs::Host, 1, 0, 0),
            function("outer", Runs::Host, 1, 500_000, 100_000),
            // It is slower there; but where it is, it would be crossed to a hundred times.
            function("inner", Runs::Host, 100, 500_000, 600_000),
        ];
        let advice = Advice::new(&profile(functions, &[(0, 1, 1), (1, 2, 100)]));
        assert_eq!(advice.groups.len(), 1);
        assert_eq!(advice.groups[0].moves, [(1, true), (2, true)]);
        assert_eq!(advice.then, 20_000. + 100_000. + 600_000.);
    }

    #[test]
    fn small_functions_are_on_both_sides() {
        let functions = vec![
            function("main", Runs::Host, 1, 0, 0),
            function("outer", Runs::Host, 1, 500_000, 100_000),
            function("small", Runs::Host, 100, 50_000, 100_000),
            function("smaller", Runs::Host, 50, 1_000, 2_000),
        ];
        let edges = [(0, 1, 1), (0, 2, 50), (1, 2, 50), (2, 3, 50)];
        let advice = Advice::new(&profile(functions, &edges));
        assert_eq!(moves(&advice), [(1, true)]);
        assert_eq!(small(&advice), [(2, Place::Both), (3, Place::Both)]);
        assert_eq!(advice.now, 551_000.);
        // Half of them is the host's.
        assert_eq!(advice.then, 20_000. + 100_000. + 25_500. + 51_000.);
    }

    #[test]
    fn small_functions_go_back_with_their_callers() {
        let functions = vec![
            function("main", Runs::Host, 1, 0, 0),
            function("work", Runs::Nxp, 1, 100_000, 900_000),
            function("small", Runs::Nxp, 100, 1_000, 2_000),
        ];
        let advice = Advice::new(&profile(functions, &[(0, 1, 1), (1, 2, 100)]));
        assert_eq!(moves(&advice), [(1, false)]);
        assert_eq!(small(&advice), [(2, Place::Host)]);
    }

    #[test]
    fn what_was_allocated_goes_back_with_the_functions_that_use_it() {
        let mut functions = vec![
            // It works on what `parse` has allocated: 900 of its 1000 ns.
            function("main", Runs::Host, 1, 1_000_000, 1),
            function("parse", Runs::Nxp, 1, 400_000, 300_000),
            // It works on other data.
            function("scan", Runs::Nxp, 1, 1_000_000, 100_000),
            function("use", Runs::Nxp, 1, 200_000, 100_000),
        ];
        let edges = [(0, 1, 1), (0, 2, 1), (0, 3, 1)];
        // Each is cheaper where it is, with the data where it is.
        assert!(
            Advice::new(&profile(functions.clone(), &edges))
                .groups
                .is_empty()
        );
        functions[0].spare = 900_000;
        functions[0].marked = 9;
        functions[1].spare = 350_000;
        functions[1].allocations = 1;
        functions[3].spare = 150_000;
        functions[3].marked = 1;
        let advice = Advice::new(&profile(functions.clone(), &edges));
        assert!(advice.goes_with_heap(1));
        assert_eq!(moves(&advice), [(1, false), (3, false)]);
        assert_eq!(
            advice.now,
            1_000_000. + 300_000. + 100_000. + 100_000. + 60_000.
        );
        assert_eq!(
            advice.then,
            100_000. + 50_000. + 100_000. + 50_000. + 20_000.
        );
        assert_eq!(advice.groups[0].gain, advice.now - advice.then);
        // Where the host hardly uses it, it stays.
        functions[0].spare = 0;
        functions[0].marked = 0;
        functions[1].spare = 1_000;
        functions[3].spare = 1_000;
        let advice = Advice::new(&profile(functions, &edges));
        assert!(advice.groups.is_empty());
    }

    #[test]
    fn what_calls_a_library_all_the_time_stays() {
        let functions = vec![
            function("main", Runs::Host, 1, 0, 0),
            function("log", Runs::Host, 1, 500_000, 100_000),
            function("write", Runs::Library, 1000, 1_000, 0),
        ];
        let advice = Advice::new(&profile(functions, &[(0, 1, 1), (1, 2, 1000)]));
        assert!(advice.groups.is_empty());
        assert_eq!(advice.now, advice.then);
    }
}
