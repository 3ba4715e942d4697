//! The cheapest placement: a minimum cut. What is on the host's side of it stays there; an edge
//! that is cut is a function's own time on the side that it is on, or the crossings of a call.
use petgraph::Direction;
use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::model::Model;

/// More than all that a run can take; sums of it fit.
const NEVER: u64 = 1 << 60;
/// Of the whole time: what a function must gain for being moved, so that nothing moves for nothing.
const LEAST: f64 = 2e-4;

/// What should be on the NxP.
pub fn best(model: &Model) -> Vec<bool> {
    let bias = model.cost(&model.present()) * LEAST;
    let mut graph: DiGraph<(), u64> = DiGraph::new();
    let (host, nxp) = (graph.add_node(()), graph.add_node(()));
    let capacity = |time: f64| (time.max(0.0) as u64).min(NEVER);
    let nodes: Vec<NodeIndex> = model
        .nodes
        .iter()
        .map(|node| {
            let at = graph.add_node(());
            let (to_nxp, to_host) = if node.on_nxp {
                (0.0, bias)
            } else {
                (bias, 0.0)
            };
            // Paid if it is on the NxP, and if it is on the host.
            let there = match node.bound {
                Some(_) => NEVER,
                None => capacity(node.nxp + to_nxp),
            };
            graph.add_edge(host, at, there);
            graph.add_edge(at, nxp, capacity(node.host + to_host));
            at
        })
        .collect();
    for edge in &model.edges {
        let (caller, callee) = (nodes[edge.caller], nodes[edge.callee]);
        graph.add_edge(caller, callee, capacity(edge.calls * model.host_nxp_host));
        graph.add_edge(callee, caller, capacity(edge.calls * model.nxp_host_nxp));
    }
    let (_, flows) = dinics(&graph, host, nxp);
    // What can still be reached from the host is on its side.
    let mut reached = vec![false; graph.node_count()];
    let mut todo = vec![host];
    reached[host.index()] = true;
    while let Some(at) = todo.pop() {
        let on = graph.edges_directed(at, Direction::Outgoing);
        let on = on.filter(|edge| flows[edge.id().index()] < *edge.weight());
        let back = graph.edges_directed(at, Direction::Incoming);
        let back = back.filter(|edge| flows[edge.id().index()] > 0);
        let next: Vec<NodeIndex> = on
            .map(|edge| edge.target())
            .chain(back.map(|edge| edge.source()))
            .collect();
        for node in next {
            if !std::mem::replace(&mut reached[node.index()], true) {
                todo.push(node);
            }
        }
    }
    nodes.iter().map(|node| !reached[node.index()]).collect()
}
