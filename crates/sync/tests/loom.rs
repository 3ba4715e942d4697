//! The interleavings of a few threads, as loom enumerates them.
#![cfg(loom)]
use flick_sync::{Bump, Entrance, RangeList, RwSpinLock, Tally};
use loom::cell::Cell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

#[test]
fn readers_see_whole_writes_and_may_nest() {
    loom::model(|| {
        let lock = Arc::new(RwSpinLock::new((0, 0)));
        let writer = {
            let lock = lock.clone();
            thread::spawn(move || {
                lock.write(|pair| pair.0 += 1);
                lock.write(|pair| pair.1 += 1);
            })
        };
        lock.read(|pair| assert!(pair.0 >= pair.1));
        lock.read(|outer| lock.read(|inner| assert_eq!(outer, inner)));
        writer.join().unwrap();
        assert_eq!(lock.read(|pair| *pair), (1, 1));
    });
}

#[test]
fn two_writers_exclude_each_other() {
    loom::model(|| {
        let lock = Arc::new(RwSpinLock::new(0));
        let other = {
            let lock = lock.clone();
            thread::spawn(move || lock.write(|n| *n += 1))
        };
        lock.write(|n| *n += 1);
        other.join().unwrap();
        assert_eq!(lock.read(|n| *n), 2);
    });
}

#[test]
fn a_lock_held_around_a_fork_keeps_readers_out() {
    loom::model(|| {
        let lock = Arc::new(RwSpinLock::new(Cell::new(0)));
        let reader = {
            let lock = lock.clone();
            thread::spawn(move || {
                lock.read(|n| n.set(n.get() + 1));
            })
        };
        lock.lock();
        lock.unlock();
        reader.join().unwrap();
        assert_eq!(lock.read(Cell::get), 1);
    });
}

/// Who closes the entrance finds nobody inside, and who was kept out gets in.
#[test]
fn nobody_is_inside_a_closed_entrance() {
    loom::model(|| {
        let entrance = Arc::new(Entrance::<2>::new());
        let inside = Arc::new(AtomicUsize::new(0));
        let visitor = {
            let (entrance, inside) = (entrance.clone(), inside.clone());
            thread::spawn(move || {
                for _ in 0..2 {
                    entrance.enter(2);
                    inside.fetch_add(1, Ordering::Relaxed);
                    inside.fetch_sub(1, Ordering::Relaxed);
                    entrance.leave(2);
                }
            })
        };
        entrance.close(1, || false);
        assert_eq!(inside.load(Ordering::Relaxed), 0);
        // What the closer itself does inside.
        entrance.enter(1);
        entrance.leave(1);
        entrance.reopen(false);
        visitor.join().unwrap();
        entrance.close(1, || panic!("somebody is still inside"));
    });
}

#[test]
fn two_threads_close_one_after_the_other() {
    loom::model(|| {
        let entrance = Arc::new(Entrance::<1>::new());
        let forks = Arc::new(AtomicUsize::new(0));
        let close = |number, entrance: &Entrance<1>, forks: &AtomicUsize| {
            entrance.close(number, || false);
            assert_eq!(forks.fetch_add(1, Ordering::Relaxed), 0);
            forks.fetch_sub(1, Ordering::Relaxed);
            entrance.reopen(false);
        };
        let other = {
            let (entrance, forks) = (entrance.clone(), forks.clone());
            thread::spawn(move || close(2, &entrance, &forks))
        };
        close(1, &entrance, &forks);
        other.join().unwrap();
    });
}

/// A node that changes hands is never read as the start of one range with the size of another.
#[test]
fn a_reader_sees_one_range_or_the_other() {
    loom::model(|| {
        let list = Arc::new(RangeList::new());
        list.add(0x1000, 0x3000);
        let reader = {
            let list = list.clone();
            // Behind the new range, and within the old one's size of its start.
            thread::spawn(move || assert!(!list.contains(0x9800)))
        };
        list.remove(0x1000, 0x3000);
        list.add(0x8000, 0x9000);
        reader.join().unwrap();
        assert!(list.contains(0x8800) && !list.contains(0x1800));
        assert_eq!(list.capacity(), 1);
    });
}

#[test]
fn a_new_range_is_read_whole() {
    loom::model(|| {
        let list = Arc::new(RangeList::new());
        let reader = {
            let list = list.clone();
            thread::spawn(move || assert!(!list.contains(0x2000) && !list.contains(0x800)))
        };
        list.add(0x1000, 0x2000);
        reader.join().unwrap();
        assert!(list.contains(0x1000));
    });
}

#[test]
fn every_count_is_counted_once() {
    loom::model(|| {
        let tally = Arc::new(Tally::<2>::new());
        let threads: Vec<_> = [[16, 32], [32, 48]]
            .map(|keys| {
                let tally = tally.clone();
                thread::spawn(move || {
                    keys.iter()
                        .filter(|&&key| tally.add(key) == Some(0))
                        .count()
                })
            })
            .into_iter()
            .collect();
        let firsts: usize = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum();
        let mut counts: Vec<(usize, u64)> = tally.counts().collect();
        counts.sort_unstable();
        let all: u64 = counts.iter().map(|&(_, count)| count).sum();
        assert_eq!(all + tally.others(), 4);
        counts.dedup_by_key(|&mut (key, _)| key);
        assert_eq!(counts.len(), 2);
        assert_eq!(firsts, 2);
    });
}

/// Also not while a request fails that is too large.
#[test]
fn no_part_is_handed_out_twice() {
    loom::model(|| {
        let bump = Arc::new(Bump::new(3));
        let takers = [4, 1].map(|size| {
            let bump = bump.clone();
            thread::spawn(move || bump.take(size).map(|start| (start, size)))
        });
        let own = [1, 1].map(|size| bump.take(size).map(|start| (start, size)));
        let others = takers.map(|taker| taker.join().unwrap());
        let mut parts: Vec<_> = own.into_iter().chain(others).flatten().collect();
        parts.sort_unstable();
        assert!(
            parts.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0),
            "{parts:?}"
        );
        assert!(parts.iter().all(|(start, size)| start + size <= 3));
    });
}
