//! Real runs against the model: a run of `tests/card/models/three_threads.c`, whose points the machine has
//! written (`flick machine run --points`), must be a path through the model's states. The file is that of
//! `FLICK_POINTS`; without it there is nothing to compare.
use std::collections::HashSet;

use flick_kernel_core::lines::command;
use flick_kernel_core::threads::Place;
use stateright::Model;

use super::{HARTS, Sharing, State, Step, THREADS};

/// The machine's first user hart, which is the model's hart 0.
const FIRST_USER: usize = 1;
/// The number of `process_end`, behind which threads end that the model knows nothing of.
const PROCESS_END: u64 = 45;

/// What the kernel hart has done in one piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Piece {
    /// The user hart that it has served; `None`: it has looked at the time.
    served: Option<usize>,
    wakes: Vec<Place>,
    runs: Vec<(usize, Place)>,
    preempts: Vec<usize>,
}

/// Reads the kernel hart's pieces.
fn pieces(text: &str) -> Vec<Piece> {
    let (mut all, mut open) = (vec![], Piece::default());
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let [_, _, name, first, second, call] = words[..] else {
            panic!("no point: {line}");
        };
        let [first, second, call] = [first, second, call].map(|word| {
            let digits = word.strip_prefix("0x").unwrap();
            u64::from_str_radix(digits, 16).unwrap()
        });
        let hart = || first as usize - FIRST_USER;
        match name {
            "trap" if call == PROCESS_END => break,
            "serve" => open.served = Some(hart()),
            "wake" => open.wakes.push(first as Place),
            "run" => open.runs.push((hart(), (second & 0xffff) as Place)),
            "tell" if second & command::PREEMPT != 0 => open.preempts.push(hart()),
            "served" | "attended" => all.push(std::mem::take(&mut open)),
            _ => {}
        }
    }
    all
}

/// Steps of three threads that stay.
fn steps() -> Vec<Step> {
    let harts = (0..HARTS).flat_map(|n| [Step::Waits(n), Step::Yields(n), Step::Saves(n)]);
    harts
        .chain((0..THREADS as Place).map(Step::Wakes))
        .collect()
}

/// All states that three threads can come to.
fn all_states() -> HashSet<State> {
    let mut found: HashSet<_> = Sharing(0).init_states().into_iter().collect();
    let mut new: Vec<_> = found.iter().cloned().collect();
    while let Some(state) = new.pop() {
        for step in steps() {
            if let Some(next) = Sharing(0).next_state(&state, step)
                && found.insert(next.clone())
            {
                new.push(next);
            }
        }
    }
    found
}

/// Goes on from a state, if the piece's effects are those of these steps.
fn follow(from: &State, steps: &[Step], piece: &Piece) -> Option<State> {
    let mut state = from.clone();
    let (mut runs, mut preempts) = (vec![], vec![]);
    for &step in steps {
        let next = Sharing(0).next_state(&state, step)?;
        for n in 0..HARTS {
            let (before, after) = (state.harts[n], next.harts[n]);
            if let Some(place) = after.runs.filter(|_| after.runs != before.runs) {
                runs.push((n, place));
            }
            if after.asked && !before.asked {
                preempts.push(n);
            }
        }
        state = next;
    }
    let sorted = |mut all: Vec<(usize, Place)>| {
        all.sort_unstable();
        all
    };
    let is_same = sorted(runs) == sorted(piece.runs.clone()) && preempts == piece.preempts;
    is_same.then_some(state)
}

/// The states that a piece can lead to.
fn next_states(states: &HashSet<State>, piece: &Piece) -> HashSet<State> {
    let wakes: Vec<_> = piece
        .wakes
        .iter()
        .map(|&place| Step::Wakes(place))
        .collect();
    let mut ways = vec![wakes.clone()];
    if let Some(n) = piece.served {
        for step in [Step::Waits(n), Step::Yields(n), Step::Saves(n)] {
            ways.push([&wakes[..], &[step]].concat());
            ways.push([&[step], &wakes[..]].concat());
        }
    }
    let all = states.iter();
    all.flat_map(|state| ways.iter().filter_map(|way| follow(state, way, piece)))
        .collect()
}

/// The number of the first piece that the model does not allow.
fn first_fault(pieces: &[Piece]) -> Option<usize> {
    let mut states = all_states();
    pieces.iter().position(|piece| {
        states = next_states(&states, piece);
        states.is_empty()
    })
}

/// The pieces from where all three threads are there.
fn trace() -> Option<Vec<Piece>> {
    let path = std::env::var_os("FLICK_POINTS")?;
    let all = pieces(&std::fs::read_to_string(path).unwrap());
    let last = THREADS as Place - 1;
    let begin = all
        .iter()
        .position(|piece| piece.runs.iter().any(|run| run.1 == last));
    Some(all[begin.unwrap() + 1..].to_vec())
}

#[test]
fn a_real_run_is_one_of_the_model() {
    let Some(all) = trace() else { return };
    let runs: usize = all.iter().map(|piece| piece.runs.len()).sum();
    let preempts: usize = all.iter().map(|piece| piece.preempts.len()).sum();
    println!("{} pieces, {runs} runs, {preempts} preemptions", all.len());
    assert!(runs > 300 && preempts > 5);
    if let Some(n) = first_fault(&all) {
        panic!(
            "piece {n}: {:?} behind {:?}",
            all[n],
            &all[n.saturating_sub(8)..n]
        );
    }
}

/// Faults that are planted in the run: a thread does not run, another one runs, runs twice, or is not
/// woken; a hart is not asked to save its thread.
#[test]
fn faults_in_a_run_are_found() {
    let Some(all) = trace() else { return };
    let half = all.len() / 2;
    type Plant = fn(&mut Piece) -> bool;
    let plants: [(&str, Plant); 5] = [
        ("no run", |piece| piece.runs.pop().is_some()),
        ("another runs", |piece| {
            let run = piece.runs.first_mut();
            run.map(|run| run.1 = (run.1 + 1) % THREADS as Place)
                .is_some()
        }),
        ("two runs", |piece| {
            let run = piece.runs.first().copied();
            piece
                .runs
                .extend(run.map(|(hart, place)| (1 - hart, place)));
            run.is_some()
        }),
        ("no wake-up", |piece| piece.wakes.pop().is_some()),
        ("no demand", |piece| piece.preempts.pop().is_some()),
    ];
    for (name, plant) in plants {
        let mut faulty = all.clone();
        let planted = faulty[half..].iter_mut().position(plant);
        assert!(planted.is_some(), "{name}: there is none");
        let found = first_fault(&faulty);
        println!(
            "{name}: planted in piece {}, found in {found:?}",
            half + planted.unwrap()
        );
        assert!(found.is_some(), "{name} is not found");
    }
    // Two pieces in the wrong order: a hart gets a thread, and calls next when it gets another one.
    let starts = |piece: &Piece, hart| piece.runs.iter().any(|run| run.0 == hart);
    let next_call = |n: usize| {
        let hart = all[n].runs.first()?.0;
        let next = n
            + 1
            + all[n + 1..]
                .iter()
                .position(|piece| piece.served == Some(hart))?;
        starts(&all[next], hart).then_some((n, next))
    };
    let (first, second) = (half..all.len()).find_map(next_call).unwrap();
    let mut faulty = all.clone();
    faulty.swap(first, second);
    assert!(first_fault(&faulty).is_some(), "the order is not found");
}
