//! Links of random programs, one after the other, as if each were a change of the ones before: what was
//! kept must not show.
use std::collections::{BTreeSet, VecDeque};
use std::sync::Mutex;

use flick_translator::{Ahead, Counting, Kept, Program};

/// Of one link, by key.
type Records = Vec<(u128, Vec<u8>)>;

/// Records of the last links.
static LAST: Mutex<VecDeque<Records>> = Mutex::new(VecDeque::new());
/// How many.
const LINKS: usize = 40;

/// The translation of a module, which is the same with all that was kept.
pub fn linked(program: &(dyn Program + Sync), entries: &BTreeSet<u64>) -> Ahead {
    let mut last = LAST.lock().unwrap();
    let mut kept = Kept::default();
    for (key, record) in last.iter().flatten() {
        kept.add(*key, record);
    }
    let (clean, new) = Ahead::of(program, entries, false, Counting::None, &Kept::default());
    let (again, made) = Ahead::of(program, entries, false, Counting::None, &kept);
    assert_eq!(format!("{again:?}"), format!("{clean:?}"));
    let new: Records = (new.records.into_iter())
        .map(|(key, record)| (key, record.into_owned()))
        .collect();
    let again = made.records.iter();
    assert!(
        again
            .map(|(key, record)| (*key, record.to_vec()))
            .eq(new.iter().cloned())
    );
    last.push_back(new);
    if last.len() > LINKS {
        last.pop_front();
    }
    clean
}
