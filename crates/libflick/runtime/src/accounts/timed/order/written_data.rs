//! What threads of the process have written data to. Handlers come here, too: there is no lock.
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::keys::Key;

/// Hashes of keys; 0: none. What finds no place is not known.
static WRITTEN: [AtomicU64; 1 << 10] = [const { AtomicU64::new(0) }; 1 << 10];

/// The places for a hash, from its own on.
fn places(hash: u64) -> impl Iterator<Item = &'static AtomicU64> {
    let first = hash as usize % WRITTEN.len();
    WRITTEN[first..].iter().chain(&WRITTEN[..first])
}

fn hash(key: Key) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish().max(1)
}

/// The calling thread writes data to what has this key.
pub fn writes(key: Key) {
    let hash = hash(key);
    for place in places(hash) {
        match place.compare_exchange(0, hash, Relaxed, Relaxed) {
            Err(other) if other != hash => {}
            _ => return,
        }
    }
}

/// Whether a thread has.
pub fn is_written(key: Key) -> bool {
    let hash = hash(key);
    places(hash)
        .map(|place| place.load(Relaxed))
        .take_while(|&known| known != 0)
        .any(|known| known == hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_known_until_there_is_no_place() {
        for number in 0..2 * WRITTEN.len() as u64 {
            assert!(!is_written(Key::Data(7, number)));
            writes(Key::Data(7, number));
            writes(Key::Data(7, number));
        }
        let known =
            (0..2 * WRITTEN.len() as u64).filter(|&number| is_written(Key::Data(7, number)));
        assert_eq!(known.count(), WRITTEN.len());
    }
}
