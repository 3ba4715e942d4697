//! Advice for programs (`docs/json.md`).
use flick_events::profile::Runs;
use flick_events::timed::Timed;
use serde_json::{Value, json};

use super::advice::{Advice, Group, Place};
use super::build_rounds::{Round, Verified};
use super::model::Bound;
use super::proposal::{Outcome, Proposal};
use super::reasons_to_stay::why_nothing;

/// The keys of the document but for those of the run.
pub fn keys(proposal: &Proposal, timed: &Timed, verified: Option<&Verified>) -> Value {
    let outcome = match proposal.outcome {
        Outcome::Moves => "moves",
        Outcome::Undo => "undo",
        Outcome::AtBest | Outcome::Slower(_) | Outcome::Data(_) => "nothing",
    };
    let functions = &timed.profile.functions;
    let why = why_nothing(proposal, timed, |at| functions[at].name.clone());
    let advice = &proposal.advice;
    let nodes = 0..advice.model.nodes.len();
    let rows = nodes.filter_map(|at| function(advice, timed, at));
    let groups = advice.groups.iter();
    json!({
        "platform": timed.platform,
        "before_ps": proposal.before,
        "as_is_ps": proposal.as_is,
        "advised_ps": proposal.advised,
        "outcome": outcome,
        "why_nothing": (!why.is_empty()).then(|| why.join(" ")),
        "groups": groups.map(|of| group(advice, timed, of)).collect::<Vec<_>>(),
        "functions": rows.collect::<Vec<_>>(),
        "verified": verified.map(tried),
    })
}

fn group(advice: &Advice, timed: &Timed, group: &Group) -> Value {
    let moves = group.moves.iter().map(|&(node, to_nxp)| {
        let at = advice.model.nodes[node].function;
        json!({
            "function": timed.profile.functions[at].name,
            "to": if to_nxp { "nxp" } else { "host" },
        })
    });
    json!({
        "gain_ps": group.gain.max(0.0) as u64,
        "moves": moves.collect::<Vec<_>>(),
    })
}

/// A function, where it is and where it should be; none for what is outside of the profile.
fn function(advice: &Advice, timed: &Timed, at: usize) -> Option<Value> {
    let node = &advice.model.nodes[at];
    let function = timed.profile.functions.get(node.function)?;
    let runs = match function.runs {
        Runs::Host => "host",
        Runs::Nxp => "nxp",
        Runs::Library => "library",
    };
    let mut small = advice.small();
    let place = match small.find(|(small, _)| small.function == at) {
        Some((_, place)) => place,
        None if advice.on_nxp[at] => Place::Nxp,
        None => Place::Host,
    };
    let (bound, refusal) = match &node.bound {
        None => (None, None),
        Some(Bound::Entry) => (Some("entry"), None),
        Some(Bound::Library) => (Some("library"), None),
        Some(Bound::Heap) => (Some("heap"), None),
        Some(Bound::Refused(code)) => (Some("refused"), Some(code)),
    };
    Some(json!({
        "function": function.name,
        "module": function.module,
        "offset": function.offset,
        "runs": runs,
        "advised": place.word(),
        "bound": bound,
        "refusal": refusal,
        "calls": function.calls,
        "host_ps": function.host,
        "nxp_ps": (function.runs != Runs::Library).then_some(function.nxp),
        "nxp_accesses": function.local,
        "host_accesses": (function.runs == Runs::Host).then_some(function.remote),
    }))
}

fn tried(verified: &Verified) -> Value {
    let rounds = verified.rounds.iter();
    json!({
        "obtained_ps": verified.time,
        "best_round": verified.best.map(|best| best + 1),
        "rounds": rounds.map(round).collect::<Vec<_>>(),
    })
}

fn round(round: &Round) -> Value {
    let moves = round.entries.moves();
    let moves = moves.map(|(name, place)| json!({ "function": name, "to": place.word() }));
    json!({
        "predicted_ps": round.predicted,
        "obtained_ps": round.obtained,
        "moves": moves.collect::<Vec<_>>(),
        "dropped": round.dropped,
    })
}
