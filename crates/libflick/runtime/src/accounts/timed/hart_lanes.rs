//! The harts of a card in the trace of a timed run: which function's code each executes, over time. A hart is a
//! thread of the trace with a number of its own ([`FIRST_HART`]), beside the process's threads.
use std::sync::Mutex;

use flick_events::trace::{Detail, Event, FIRST_HART, MIN_BUFFER, Recorder, What};

use super::things::{Thing, number};
use super::tracer;
use crate::locks::bounded::{self, held};

/// A hart that has executed code of a thread.
struct Lane {
    hart: u32,
    recorder: Recorder<'static>,
}

static LANES: Mutex<Vec<Lane>> = Mutex::new(Vec::new());

/// A hart's code of the gate's function, called by this thread, begins at this time, in picoseconds. Who changes what harts do has the
/// turn, so that the times of a hart ascend.
pub fn begins(hart: u32, name: &[u8], time: u64, gate: usize, thread: Option<u32>) {
    put((hart, name), time, Thing::Gate(gate), thread);
}

/// It ends.
pub fn ends(hart: u32, time: u64) {
    put((hart, b""), time, Thing::Idle, None);
}

fn put((hart, name): (u32, &[u8]), time: u64, thing: Thing, thread: Option<u32>) {
    if !tracer::enabled() {
        return;
    }
    // A signal handler that interrupts this is left out.
    let Some(mut lanes) = bounded::lock(&LANES) else {
        return;
    };
    let at = match lanes.iter().position(|lane| lane.hart == hart) {
        Some(at) => at,
        None => {
            let buffer = Box::leak(vec![0; MIN_BUFFER].into_boxed_slice());
            let process = std::process::id();
            let mut recorder = Recorder::new(buffer, process, FIRST_HART + hart);
            let (time, what) = (0, What::ThreadStart { name });
            recorder.put(tracer::detail(), tracer::write, Event { time, what });
            lanes.push(Lane { hart, recorder });
            lanes.len() - 1
        }
    };
    let id = number(thing);
    let what = What::State { id, thread };
    let recorder = &mut lanes[at].recorder;
    recorder.put(tracer::detail(), tracer::write, Event { time, what });
}

/// The child of a fork has harts of its own.
pub fn forked() {
    held(&LANES).clear();
}

/// Writes what is left of them, at the end of the process, at this time.
pub fn finish(time: u64) {
    for lane in held(&LANES).iter_mut() {
        // Harts are few: each keeps its own sums, and gives nothing back.
        let detail = tracer::detail().min(Detail::Long);
        let _ = lane.recorder.end(detail, time, tracer::write);
        lane.recorder.flush(tracer::write);
    }
}
