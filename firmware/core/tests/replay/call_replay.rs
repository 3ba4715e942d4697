//! Real runs against the model: a run of `tests/card/models/three_callers.c`, whose points the machine has
//! written (`flick machine run --points`), must be a path through the model's states. The points are some of
//! the model's steps; the others may come between them. The file is that of `FLICK_CALL_POINTS`; without it
//! there is nothing to compare.
use std::collections::HashSet;

use flick_kernel_core::lines::command;
use stateright::Model;

use super::{Calls, HARTS, Kernel, State, Step, User};

/// The machine's first user hart, which is the model's hart 0.
const FIRST_USER: usize = 1;
/// The number of `kernel_nothing`: the calls that are compared.
const NOTHING: u64 = 59;

/// Commands that answer.
const ANSWERS: u64 = command::REPLY | command::GO_ON;

/// What is seen of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// The line of a hart is complete.
    Ask(usize),
    /// The kernel hart serves a hart, and answers.
    Serve(usize),
    /// The hart has its answer.
    Told(usize),
}

/// Reads what is seen between the first call that is compared and the last one.
fn read(text: &str) -> Vec<Seen> {
    let (mut all, mut calls, mut served) = (vec![], [0; HARTS], None);
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let [_, hart, name, first, second, call] = words[..] else {
            panic!("no point: {line}");
        };
        let [first, second, call] = [first, second, call].map(|word| {
            let digits = word.strip_prefix("0x").unwrap();
            u64::from_str_radix(digits, 16).unwrap()
        });
        let hart = hart.parse::<usize>().unwrap().wrapping_sub(FIRST_USER);
        let of = (first as usize).wrapping_sub(FIRST_USER);
        match name {
            "trap" => calls[hart] = call,
            "ask" if calls[hart] == NOTHING => all.push(Seen::Ask(hart)),
            "told" if calls[hart] == NOTHING => all.push(Seen::Told(hart)),
            "serve" => served = Some(of),
            // An answer is a command that lets the thread go on: the call may be of a page's first access.
            "tell" if second & ANSWERS != 0 && served == Some(of) && calls[of] == NOTHING => {
                all.push(Seen::Serve(of));
                served = None;
            }
            _ => {}
        }
    }
    all
}

/// A step that no point is at.
fn is_hidden(state: &State, step: Step) -> bool {
    match step {
        Step::User(n) => match state.users[n] {
            User::Runs => false,
            User::Looks => state.commands[n] & command::REPLY == 0,
            _ => true,
        },
        Step::Kernel => !matches!(state.kernel, Kernel::Serves(callers) if callers != 0),
        Step::Repeat(_) => false,
    }
}

/// The states, and those that they can come to by steps without points.
fn close(states: HashSet<State>) -> HashSet<State> {
    let mut new: Vec<_> = states.iter().cloned().collect();
    let mut all = states;
    while let Some(state) = new.pop() {
        for step in (0..HARTS).map(Step::User).chain([Step::Kernel]) {
            if is_hidden(&state, step)
                && let Some(next) = Calls.next_state(&state, step)
                && all.insert(next.clone())
            {
                new.push(next);
            }
        }
    }
    all
}

fn follow(state: &State, seen: Seen) -> Option<State> {
    let mut from = state.clone();
    let mut next = match seen {
        Seen::Ask(n) if state.users[n] == User::Runs => Calls.next_state(state, Step::User(n))?,
        Seen::Told(n) if state.users[n] == User::Looks => {
            let mut next = Calls.next_state(state, Step::User(n))?;
            if next.users[n] != User::Runs {
                return None;
            }
            // The model counts few calls.
            (next.calls[n], next.answers[n]) = (0, 0);
            next
        }
        Seen::Serve(n) => {
            // The kernel hart serves those that it has taken in turns, and the model from the first one on.
            let Kernel::Serves(callers) = state.kernel else {
                return None;
            };
            if callers >> n & 1 == 0 {
                return None;
            }
            from.kernel = Kernel::Serves(1 << n);
            let mut next = Calls.next_state(&from, Step::Kernel)?;
            let rest = callers & !(1 << n);
            next.kernel = match next.kernel {
                Kernel::MustInterrupt(hart, _) => Kernel::MustInterrupt(hart, rest),
                _ => Kernel::Serves(rest),
            };
            next
        }
        _ => return None,
    };
    next.repeats = 0;
    (!next.is_broken).then_some(next)
}

/// The number of the first point that the model does not allow.
fn first_fault(all: &[Seen]) -> Option<usize> {
    let mut states: HashSet<_> = Calls.init_states().into_iter().collect();
    all.iter().position(|&seen| {
        let closed = close(std::mem::take(&mut states));
        states = closed
            .iter()
            .filter_map(|state| follow(state, seen))
            .collect();
        states.is_empty()
    })
}

fn trace() -> Option<Vec<Seen>> {
    let path = std::env::var_os("FLICK_CALL_POINTS")?;
    Some(read(&std::fs::read_to_string(path).unwrap()))
}

#[test]
fn a_real_run_is_one_of_the_model() {
    let Some(all) = trace() else { return };
    println!("{} points", all.len());
    assert!(all.len() > 1000);
    if let Some(n) = first_fault(&all) {
        panic!(
            "point {n}: {:?} behind {:?}",
            all[n],
            &all[n.saturating_sub(12)..n]
        );
    }
}

/// Faults that are planted in the run: a point is missing, comes twice, or before the one in front of it.
#[test]
fn faults_in_a_run_are_found() {
    let Some(all) = trace() else { return };
    let half = all.len() / 2;
    let kinds: [fn(&Seen) -> bool; 3] = [
        |seen| matches!(seen, Seen::Ask(_)),
        |seen| matches!(seen, Seen::Serve(_)),
        |seen| matches!(seen, Seen::Told(_)),
    ];
    for is_kind in kinds {
        let at = half + all[half..].iter().position(is_kind).unwrap();
        let mut missing = all.clone();
        missing.remove(at);
        let mut twice = all.clone();
        twice.insert(at, all[at]);
        for faulty in [missing, twice] {
            let found = first_fault(&faulty);
            println!("{:?}: planted in point {at}, found in {found:?}", all[at]);
            assert!(found.is_some(), "{:?} is not found", all[at]);
        }
    }
    // An answer before it was given.
    let is_pair =
        |n: &usize| matches!((all[*n - 1], all[*n]), (Seen::Serve(a), Seen::Told(b)) if a == b);
    let at = (half..all.len()).find(is_pair).unwrap();
    let mut swapped = all.clone();
    swapped.swap(at - 1, at);
    assert!(first_fault(&swapped).is_some(), "the order is not found");
}
