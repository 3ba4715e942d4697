//! Why the order of a run is not exact: the calls and places that made it so.
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use flick_events::timed::NotExact;

use crate::accounts::symbols;
use crate::locks::bounded;

/// Something that is not ordered by virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub call: String,
    pub place: usize,
}

static NOTES: Mutex<Vec<Note>> = Mutex::new(Vec::new());
/// A handler has found the notes taken.
static LOST: AtomicBool = AtomicBool::new(false);

/// Notes that are kept: the first ones say what to look at.
const KEPT: usize = 8;

/// `call`, whose return address is `place`, is not ordered.
pub fn not_exact(call: &str, place: usize) {
    let Some(mut notes) = bounded::lock(&NOTES) else {
        LOST.store(true, Relaxed);
        return;
    };
    let note = Note {
        call: call.to_owned(),
        place,
    };
    if notes.len() < KEPT && !notes.contains(&note) {
        notes.push(note);
    }
}

/// The child of a fork begins anew.
pub fn forget() {
    if let Some(mut notes) = bounded::lock(&NOTES) {
        notes.clear();
    }
    LOST.store(false, Relaxed);
}

/// Calls and places, for people; none: the run is exact.
pub fn all() -> Vec<NotExact> {
    let notes = match bounded::lock(&NOTES) {
        Some(notes) => notes.clone(),
        None => Vec::new(),
    };
    let mut all: Vec<NotExact> = notes
        .into_iter()
        .map(|note| NotExact {
            call: note.call,
            place: place(note.place),
        })
        .collect();
    if LOST.load(Relaxed) {
        all.push(NotExact {
            call: "a signal handler".into(),
            place: String::new(),
        });
    }
    all
}

fn place(back: usize) -> String {
    if back == 0 {
        return String::new();
    }
    let caller = symbols::caller(back);
    let file = caller.path.rsplit('/').next().unwrap_or_default();
    format!("{} ({file}+{:#x})", caller.function, caller.offset)
}
