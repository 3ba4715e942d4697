//! Why there is nothing to gain, in sentences for text and for programs.
use flick_events::profile::AMBIGUOUS;
use flick_events::timed::{Timed, duration};

use super::model::Bound;
use super::proposal::{Outcome, Proposal};

/// `name`: how a function of the profile is called. Empty where there is something to gain.
pub fn why_nothing(
    proposal: &Proposal,
    timed: &Timed,
    mut name: impl FnMut(usize) -> String,
) -> Vec<String> {
    let before = duration(proposal.before);
    match proposal.outcome {
        Outcome::Moves | Outcome::Undo => Vec::new(),
        Outcome::Slower(best) => vec![format!(
            "The best placement takes {}: more than the {before} with nothing placed.",
            duration(best)
        )],
        Outcome::Data(best) => vec![
            format!(
                "The best placement takes {}, with the data in NxP memory. With nothing placed, and all data in",
                duration(best)
            ),
            format!(
                "ordinary memory, it is {before}: take the marks, FLICK_NXP_DATA and flick_alloc(FLICK_MEM_NXP, size) out."
            ),
        ],
        Outcome::AtBest => heaviest(proposal, timed)
            .map(|(at, part)| why_it_stays(proposal, timed, (at, part), &mut name))
            .into_iter()
            .collect(),
    }
}

/// The node that takes the most time itself where it is, and its part of all.
fn heaviest(proposal: &Proposal, timed: &Timed) -> Option<(usize, f64)> {
    let advice = &proposal.advice;
    let time = |at: usize| {
        let node = &advice.model.nodes[at];
        let function = timed.profile.functions.get(node.function)?;
        Some(if node.on_nxp {
            function.nxp
        } else {
            function.host
        })
    };
    let all = (0..advice.model.nodes.len()).filter_map(|at| Some((at, time(at)?)));
    let (at, most) = all.max_by_key(|&(_, time)| time)?;
    Some((at, most as f64 / advice.now.max(1.0)))
}

fn why_it_stays(
    proposal: &Proposal,
    timed: &Timed,
    (at, part): (usize, f64),
    name: &mut impl FnMut(usize) -> String,
) -> String {
    let advice = &proposal.advice;
    let node = &advice.model.nodes[at];
    let function = &timed.profile.functions[node.function];
    let begin = format!(
        "The most time ({:.1} %) is that of {}",
        part * 100.0,
        name(node.function)
    );
    let (host, nxp) = (duration(function.host), duration(function.nxp));
    match &node.bound {
        Some(Bound::Library) => {
            format!("{begin}, a function of a library, which stays on the host.")
        }
        Some(Bound::Entry) => {
            format!("{begin}, where the program begins: only a function of its own could move.")
        }
        Some(Bound::Refused(code)) if code == AMBIGUOUS => {
            format!("{begin}, which no placement file can name: several functions have this name.")
        }
        Some(Bound::Refused(code)) => {
            format!("{begin}, which cannot be placed (flick explain {code}).")
        }
        _ if node.on_nxp => format!("{begin}: {nxp} on the NxP, where it is, {host} on the host."),
        _ if advice.is_small(at) => {
            format!(
                "{begin}: {host} on the host, {nxp} on the NxP. It is small and goes with its callers."
            )
        }
        _ => {
            let model = &advice.model;
            let present = model.present();
            let mut moved = present.clone();
            moved[at] = true;
            let own = node.nxp - node.host;
            let crossings = model.cost(&moved) - model.cost(&present) - own;
            format!(
                "{begin}: {host} on the host, {nxp} on the NxP, and {} of crossings.",
                duration(crossings.max(0.0) as u64)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use flick_events::profile::{Edge, Function, Profile, Runs};

    use super::*;

    fn said(work: Function, calls: u64) -> String {
        let main = Function {
            name: "main".into(),
            calls: 1,
            host: 1_000,
            nxp: 9_000,
            ..Function::default()
        };
        let migrating = work.host + main.host;
        let timed = Timed {
            migrating,
            staying: migrating,
            before: migrating,
            threads: 1,
            profile: Profile {
                host_nxp_host: 2_000_000,
                nxp_host_nxp: 2_000_000,
                functions: vec![main, Function { calls, ..work }],
                edges: vec![Edge {
                    caller: 0,
                    callee: 1,
                    calls,
                }],
            },
            ..Timed::default()
        };
        let proposal = Proposal::new(&timed);
        assert!(!proposal.changes());
        let name = |at: usize| timed.profile.functions[at].name.clone();
        why_nothing(&proposal, &timed, name).join(" ")
    }

    #[test]
    fn the_reason_is_of_the_function_that_takes_the_most() {
        let work = Function {
            name: "work".into(),
            host: 99_000_000,
            nxp: 90_000_000,
            ..Function::default()
        };
        assert_eq!(
            said(work.clone(), 30),
            "The most time (100.0 %) is that of work: 99.00 us on the host, 90.00 us on the NxP, and 60.00 us of crossings."
        );
        let refused = Function {
            refusal: "FLK0203".into(),
            ..work.clone()
        };
        assert!(
            said(refused, 1).ends_with("work, which cannot be placed (flick explain FLK0203).")
        );
        let library = Function {
            runs: Runs::Library,
            ..work
        };
        assert!(said(library, 1).contains("a function of a library"));
    }
}
