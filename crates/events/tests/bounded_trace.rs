//! A trace with a limit of size: it stays below that, and its sums are those of a whole trace.
use std::cell::RefCell;
use std::collections::BTreeMap;

use flick_events::trace::{
    Accounts, Detail, Event, FIRST_HART, How, Ids, Interval, MIN_BUFFER, Parts, Recorder, Side,
    Sums, Trace, Walk, What, process_block,
};

const PARTS: [(u32, u64); 2] = [(3, 1_000), (4, 18_300_000)];

/// Bits from a fixed sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// Which detail there is after so many events, and whether what is written may be merged.
type Choose<'c> = &'c dyn Fn(u64, u64) -> Detail;

/// A file that events go to.
struct Bounded<'c> {
    file: RefCell<Vec<u8>>,
    detail: Choose<'c>,
    rest: Interval,
}

impl<'c> Bounded<'c> {
    fn new(detail: Choose<'c>) -> Self {
        Self {
            file: RefCell::new(process_block(1, b"./a", b"near")),
            detail,
            rest: Interval::default(),
        }
    }

    fn now(&self, count: u64) -> Detail {
        (self.detail)(count, self.file.borrow().len() as u64)
    }

    /// Puts `count` random events of a thread there.
    fn thread(&mut self, thread: u32, count: u64) {
        let mut buffer = vec![0; MIN_BUFFER];
        let mut recorder = Recorder::new(&mut buffer, 1, thread);
        let mut random = Random(u64::from(thread) * 77 + 1);
        let mut time = random.below(1_000_000_000);
        let write = |block: &[u8]| self.file.borrow_mut().extend(block);
        let name = b"thread";
        let what = What::ThreadStart { name };
        recorder.put(self.now(0), write, Event { time, what });
        let mut depth = 0;
        for done in 0..count {
            time += random.below(100_000_000);
            let side = if depth % 2 == 0 {
                Side::Nxp
            } else {
                Side::Host
            };
            let number = |random: &mut Random, most| random.below(most) as u32 + 1;
            let parts = Parts::new(&PARTS[..random.below(3) as usize]);
            let what = match random.below(if thread < FIRST_HART { 8 } else { 1 }) {
                _ if thread >= FIRST_HART => What::State {
                    id: number(&mut random, 20),
                    thread: Some(number(&mut random, 4)).filter(|&id| id > 1),
                },
                0..=2 if depth < 9 => {
                    depth += 1;
                    What::Enter {
                        side,
                        function: number(&mut random, 300),
                        site: number(&mut random, 3),
                        depth: depth - 1,
                        parts,
                    }
                }
                3 => What::Wait {
                    duration: random.below(1_000_000),
                    core: 0,
                },
                4 => What::Way {
                    duration: random.below(1_000_000),
                    hart: Some(number(&mut random, 4)).filter(|&hart| hart > 1),
                },
                _ => {
                    // A jump now and then, past others.
                    let by = 1 + random.below(8) as u32 / 7;
                    depth = depth.saturating_sub(by);
                    let how = if by > 1 { How::Jump } else { How::Return };
                    What::Leave { how, depth, parts }
                }
            };
            recorder.put(self.now(done), write, Event { time, what });
        }
        // Harts are few, and each keeps its own sums.
        let most = if thread < FIRST_HART {
            Detail::Merged
        } else {
            Detail::Long
        };
        let detail = self.now(count).min(most);
        if let Some(rest) = recorder.end(detail, time + 5, write) {
            self.rest.merge(rest);
        }
        recorder.flush(write);
    }

    fn finish(mut self) -> Vec<u8> {
        if !self.rest.is_empty() {
            let mut buffer = vec![0; MIN_BUFFER];
            let write = |block: &[u8]| self.file.borrow_mut().extend(block);
            let mut recorder = Recorder::new(&mut buffer, 1, 1_000_000);
            recorder.put_all(b"the rest", &mut self.rest, write);
        }
        self.file.into_inner()
    }
}

/// What there is in all: of threads, and of harts.
fn sums(file: &[u8]) -> [Sums; 2] {
    let trace = Trace::read(file).unwrap();
    let mut all = [Sums::default(), Sums::default()];
    for thread in &trace.processes[0].threads {
        let sums = &mut all[usize::from(thread.is_tile)];
        let mut accounts = Accounts::new(thread.id);
        let mut walk = Walk::default();
        thread.each(|event| walk.event(event, &mut |step| sums.step(&mut accounts, &step)));
        walk.finish(&mut |step| sums.step(&mut accounts, &step));
    }
    assert_eq!(trace.failure(), None);
    all
}

/// Says where they differ, and not all that they are.
fn assert_same(some: &[Sums; 2], others: &[Sums; 2], about: &str) {
    for (sums, other) in some.iter().zip(others) {
        assert_eq!(sums.lanes, other.lanes, "{about}");
        fn differ<K: Ord + PartialEq, V: PartialEq>(
            some: &BTreeMap<K, V>,
            others: &BTreeMap<K, V>,
        ) -> usize {
            let there = some
                .iter()
                .filter(|(key, value)| others.get(key) != Some(value));
            there.count() + others.keys().filter(|key| !some.contains_key(key)).count()
        }
        let differ = [
            differ(&sums.calls, &other.calls),
            differ(&sums.begun, &other.begun),
            differ(&sums.states, &other.states),
        ];
        assert_eq!(differ, [0; 3], "{about}");
    }
}

fn file(threads: &[u32], events: u64, detail: Choose<'_>) -> Vec<u8> {
    let mut bounded = Bounded::new(detail);
    for &thread in threads {
        bounded.thread(thread, events);
    }
    bounded.finish()
}

const THREADS: [u32; 4] = [1, 2, FIRST_HART, FIRST_HART + 1];

#[test]
fn sums_are_exact_wherever_they_begin() {
    let whole = sums(&file(&THREADS, 400, &|_, _| Detail::Events));
    assert!(whole[0].calls.len() > 200 && whole[0].calls.values().any(|call| call.jumps > 0));
    assert!(whole[0].begun.len() > 10 && whole[1].states.len() > 40);
    let kinds = [Detail::Fine, Detail::Middle, Detail::Long, Detail::Merged];
    for detail in kinds {
        for from in [0, 1, 7, 100, 399, 400] {
            let coarse = |count, _| if count < from { Detail::Events } else { detail };
            let seen = sums(&file(&THREADS, 400, &coarse));
            assert_same(&seen, &whole, &format!("{detail:?} {from}"));
        }
    }
    // Coarser and coarser.
    let steps = |count, _| Detail::numbered((count / 80) as u8);
    assert_same(&sums(&file(&THREADS, 400, &steps)), &whole, "steps");
}

#[test]
fn a_long_run_stays_below_its_limit() {
    const EVENTS: u64 = 400_000;
    let whole = file(&THREADS, EVENTS, &|_, _| Detail::Events);
    for most in [1 << 20, 4 << 20] {
        let bounded = file(&THREADS, EVENTS, &|_, size| Detail::of(size, most));
        let size = bounded.len() as u64;
        assert!(size <= most && size > most / 2, "{size} of {most}");
        assert!(whole.len() as u64 > 2 * most);
        assert_same(&sums(&bounded), &sums(&whole), "");
        let trace = Trace::read(&bounded).unwrap();
        let threads = &trace.processes[0].threads;
        assert!(threads.iter().any(|thread| thread.coarse_from.is_some()));
    }
}

/// Many threads, each of which ends soon.
#[test]
fn many_threads_have_one_sum() {
    let threads: Vec<u32> = (1..20_000).collect();
    let most = 1 << 20;
    let bounded = file(&threads, 20, &|_, size| Detail::of(size, most));
    let size = bounded.len() as u64;
    assert!(size <= most, "{size}");
    let whole = file(&threads, 20, &|_, _| Detail::Events);
    assert!(whole.len() as u64 > 4 * most);
    assert_same(&sums(&bounded), &sums(&whole), "");
}

/// Samples in a sum keep their stacks and weights.
#[test]
fn samples_are_added_up() {
    let weights = |detail: Detail| {
        let file = RefCell::new(process_block(1, b"./a", b"near"));
        let write = |block: &[u8]| file.borrow_mut().extend(block);
        let mut buffer = vec![0; MIN_BUFFER];
        let mut recorder = Recorder::new(&mut buffer, 1, 1);
        for time in 0..1_000 {
            let stack = [time as u32 % 7, 3];
            let what = What::Sample {
                side: if time % 3 == 0 { Side::Host } else { Side::Nxp },
                weight: time,
                staying: 2 * time,
                stack: Ids::new(&stack),
            };
            let time = time * 1_000_000;
            recorder.put(detail, write, Event { time, what });
        }
        recorder.end(detail.min(Detail::Long), 1 << 40, write);
        recorder.flush(write);
        let file = file.into_inner();
        let trace = Trace::read(&file).unwrap();
        let (mut sums, mut count) = (BTreeMap::new(), 0);
        trace.processes[0].threads[0].each(|event| {
            if let What::Sample {
                side,
                weight,
                staying,
                stack,
            } = event.what
            {
                let stack: Vec<u32> = stack.collect();
                let sum: &mut (u64, u64) = sums.entry((side, stack)).or_default();
                *sum = (sum.0 + weight, sum.1 + staying);
                count += 1;
            }
        });
        (sums, count)
    };
    let (whole, count) = weights(Detail::Events);
    assert_eq!(count, 1_000);
    let (coarse, fewer) = weights(Detail::Middle);
    assert_eq!(coarse, whole);
    assert!(fewer < 900, "{fewer}");
}

#[test]
fn detail_by_what_is_left() {
    for (size, detail) in [
        (0, Detail::Events),
        (512, Detail::Events),
        (513, Detail::Fine),
        (769, Detail::Middle),
        (897, Detail::Long),
        (961, Detail::Merged),
        (5000, Detail::Merged),
    ] {
        assert_eq!(Detail::of(size, 1024), detail, "{size}");
    }
    assert_eq!(Detail::numbered(200), Detail::Merged);
    assert_eq!(Detail::numbered(1), Detail::Fine);
}
