use super::super::{
    BankShape, CacheShape, CoherenceShape, DataShape, HartShape, MemoryShape, SystemShape, TlbShape,
};
use super::*;
use crate::machine::Arbitration;

const LATENCY: Time = 30;
const OCCUPANCY: Time = 20;

/// Harts without caches, and one bank.
fn shape(harts: usize, arbitration: Arbitration) -> SystemShape {
    let hart = HartShape {
        code: None,
        data: None,
        second: None,
        prefetcher: None,
        code_tlb: None,
        data_tlb: None,
        shared: vec![],
        store_buffer: 0,
        overlap: 1.0,
    };
    SystemShape {
        harts: vec![hart; harts],
        shared: vec![],
        coherence: None,
        holds_bytes: false,
        memories: vec![MemoryShape {
            range: 0..1 << 20,
            latency: LATENCY,
            byte: 0.0,
            banks: BankShape {
                banks: 1,
                interleave: 6,
                occupancy: OCCUPANCY,
                arbitration,
            },
        }],
        elsewhere: 500,
    }
}

/// Harts that load and then compute, in the order of virtual time.
struct Harts {
    system: MemorySystem,
    times: Vec<Time>,
    /// What each does between its loads.
    gaps: Vec<Time>,
    /// Who has been served, in this order.
    served: Vec<usize>,
}

impl Harts {
    fn new(shape: &SystemShape, starts: &[Time], gaps: &[Time]) -> Self {
        Self {
            system: MemorySystem::new(shape),
            times: starts.to_vec(),
            gaps: gaps.to_vec(),
            served: vec![],
        }
    }

    /// Until all harts have come to this time.
    fn run(&mut self, until: Time) {
        loop {
            let times = self.times.iter().enumerate();
            let (hart, now) = times
                .map(|(hart, &time)| (hart, time))
                .min_by_key(|at| at.1)
                .unwrap();
            if now >= until {
                return;
            }
            self.times[hart] += match self.system.ask_bank(hart, Kind::Load, 0, now) {
                0 => {
                    self.served.push(hart);
                    self.system.access(hart, Kind::Load, 0, now) + self.gaps[hart]
                }
                wait => wait,
            };
        }
    }

    fn counts(&self) -> Vec<usize> {
        let of = |hart| self.served.iter().filter(|&&other| other == hart).count();
        (0..self.times.len()).map(of).collect()
    }
}

/// A bank that always has a request serves one in each time of `OCCUPANCY`.
#[test]
fn harts_in_turn_get_equal_shares() {
    for gaps in [[0; 4], [0, 1, 17, 29]] {
        let mut harts = Harts::new(&shape(4, Arbitration::RoundRobin), &[0; 4], &gaps);
        let rounds = 100;
        harts.run(rounds * 4 * OCCUPANCY);
        assert_eq!(harts.counts(), [rounds as usize; 4]);
        let order = harts.served.chunks(4);
        assert!(order.clone().all(|round| round == [0, 1, 2, 3]));
        for (hart, gap) in gaps.into_iter().enumerate() {
            // All that a hart does not compute, it stands still: for its data, or for the bank.
            let counters = harts.system.counters(hart);
            let stall = counters.stalls()[Stall::Load as usize];
            assert_eq!(stall, harts.times[hart] - rounds * gap);
            assert_eq!(counters.bank_wait(), stall - rounds * LATENCY);
        }
    }
}

/// A hart asks again when its data has come and it has computed: at twice the occupancy, so that two harts
/// leave the bank no time.
#[test]
fn low_harts_let_high_ones_wait() {
    let gap = 2 * OCCUPANCY - LATENCY;
    let mut harts = Harts::new(&shape(4, Arbitration::Priority), &[0, 0, 0, 10], &[gap; 4]);
    harts.run(200 * OCCUPANCY);
    assert_eq!(harts.counts(), [100, 100, 0, 0]);
    // Hart 0 does something else: its share is the next one's.
    harts.times[0] = 400 * OCCUPANCY;
    harts.run(400 * OCCUPANCY);
    assert_eq!(harts.counts(), [100, 200, 100, 0]);
}

/// Where banks do not choose, nobody is told to wait, and the bank serves in the order of arrival.
#[test]
fn without_a_policy_the_first_comes_first() {
    let starts = [5, 3, 4, 1];
    let mut harts = Harts::new(&shape(4, Arbitration::Fifo), &starts, &[0; 4]);
    assert!(!harts.system.arbitrates());
    harts.run(100 * 4 * OCCUPANCY);
    assert!(
        harts
            .served
            .chunks_exact(4)
            .all(|round| round == [3, 1, 2, 0])
    );
    // The turns of round robin are others, and so is the order by numbers.
    let served = |arbitration| {
        let mut harts = Harts::new(&shape(4, arbitration), &starts, &[0; 4]);
        harts.run(1 + 4 * OCCUPANCY);
        harts.served
    };
    assert_eq!(served(Arbitration::RoundRobin), [3, 0, 1, 2]);
    assert_eq!(served(Arbitration::Priority)[..3], [3, 0, 1]);
}

/// An access takes what it takes without a policy, if the bank is free.
#[test]
fn a_free_bank_serves_at_once() {
    for arbitration in [
        Arbitration::Fifo,
        Arbitration::RoundRobin,
        Arbitration::Priority,
    ] {
        let mut shape = shape(2, arbitration);
        shape.memories[0].byte = 0.5;
        let mut harts = Harts::new(&shape, &[0, 500], &[1000; 2]);
        harts.run(10_000);
        assert_eq!(harts.times, [10 * 1062, 500 + 9 * 1062]);
    }
}

fn cache() -> CacheShape {
    CacheShape {
        line: 6,
        sets: 4,
        ways: 4,
    }
}

/// With a data cache for each hart, and one for all, each of which takes 7 to ask.
fn cached_shape(arbitration: Arbitration) -> SystemShape {
    let mut shape = shape(4, arbitration);
    for hart in &mut shape.harts {
        hart.data = Some(DataShape {
            lines: cache(),
            writes_through: false,
            allocates: true,
        });
        hart.shared = vec![7];
    }
    shape.shared = vec![cache()];
    shape
}

fn ask(system: &MemorySystem, hart: usize, address: u64, now: Time) -> Time {
    system.ask_bank(hart, Kind::Load, address, now)
}

fn load(system: &MemorySystem, hart: usize, address: u64, now: Time) -> Time {
    assert_eq!(ask(system, hart, address, now), 0);
    system.access(hart, Kind::Load, address, now)
}

#[test]
fn a_line_that_has_come_otherwise_needs_no_bank() {
    let system = MemorySystem::new(&cached_shape(Arbitration::RoundRobin));
    assert_eq!(load(&system, 0, 0, 100), 7 + LATENCY);
    // The bank is busy up to 127. Harts 1 and 2 want another line, and hart 3 a third one.
    for (hart, address) in [(1, 0x40), (2, 0x40), (3, 0x80)] {
        assert_eq!(ask(&system, hart, address, 105), 22);
    }
    // What the caches took has passed while they waited.
    assert_eq!(load(&system, 1, 0x40, 127), LATENCY);
    assert_eq!(system.counters(1).bank_wait(), 127 - 112);
    // Hart 2 has its turn, but the shared cache has the line: the bank serves hart 3.
    assert_eq!(load(&system, 2, 0x40, 127), 7);
    assert_eq!(ask(&system, 3, 0x80, 127), 20);
    assert_eq!(load(&system, 3, 0x80, 147), LATENCY);
    assert_eq!(system.counters(2).bank_wait(), 127 - 112);
    // The same when hart 2 does not come to ask again.
    let system = MemorySystem::new(&cached_shape(Arbitration::RoundRobin));
    load(&system, 0, 0, 100);
    for (hart, address) in [(1, 0x40), (2, 0x40), (3, 0x80)] {
        ask(&system, hart, address, 105);
    }
    load(&system, 1, 0x40, 127);
    assert_eq!(ask(&system, 3, 0x80, 127), 20);
    assert_eq!(load(&system, 3, 0x80, 147), LATENCY);
    assert_eq!(system.save().requests().count(), 0);
}

#[test]
fn a_request_that_is_given_up_blocks_nobody() {
    let begin = || {
        let system = MemorySystem::new(&cached_shape(Arbitration::Priority));
        load(&system, 0, 0, 100);
        for (hart, address) in [(1, 0x40), (2, 0x80)] {
            assert_eq!(ask(&system, hart, address, 105), 22);
        }
        system
    };
    let system = begin();
    system.give_up(1);
    assert_eq!(load(&system, 2, 0x80, 127), LATENCY);
    // Another access of the hart takes the place of the one for which it has asked.
    let system = begin();
    assert_eq!(ask(&system, 1, 0xc0, 126), 7);
    assert_eq!(ask(&system, 2, 0x80, 127), 0);
    assert_eq!(ask(&system, 1, 0xc0, 133), 147 - 133);
    // A hart that is stopped gets the bank once.
    let system = begin();
    assert_eq!(ask(&system, 2, 0x80, 127), 20);
    assert_eq!(load(&system, 2, 0x80, 147), LATENCY);
    assert_eq!(load(&system, 3, 0x100, 167), 7 + LATENCY);
}

#[test]
fn lines_of_other_caches_need_no_bank() {
    let mut shape = cached_shape(Arbitration::RoundRobin);
    shape.coherence = Some(CoherenceShape {
        transfer: 150,
        upgrade: 60,
    });
    let system = MemorySystem::new(&shape);
    let store = |hart, address, now| {
        assert_eq!(system.ask_bank(hart, Kind::Store, address, now), 0);
        system.access(hart, Kind::Store, address, now)
    };
    store(0, 0, 0);
    load(&system, 1, 0x40, 100);
    load(&system, 2, 0x40, 200);
    load(&system, 3, 0x80, 300);
    // The shared cache loses the first two lines, so that only the harts' own caches have them.
    for n in 1..5 {
        system.shared[0].insert(n << 8, LineState::Shared);
        system.shared[0].insert(n << 8 | 0x40, LineState::Shared);
    }
    // The bank is busy up to 327.
    assert_eq!(ask(&system, 3, 0xc0, 305), 22);
    assert_eq!(store(2, 0x40, 305), 60);
    assert_eq!(load(&system, 1, 0, 306), 150);
    system.give_up(3);
    assert_eq!(load(&system, 3, 0xc0, 327), 7 + LATENCY);
}

/// What a bank takes that nobody waits for is in front of the harts that wait.
#[test]
fn written_back_lines_take_the_bank_as_they_come() {
    let system = MemorySystem::new(&shape(3, Arbitration::RoundRobin));
    load(&system, 0, 0, 100);
    assert_eq!(ask(&system, 1, 0, 101), 19);
    assert_eq!(ask(&system, 2, 0, 102), 18);
    system.write_to_memory(0, 110);
    assert_eq!(ask(&system, 1, 0, 120), 20);
    assert_eq!(ask(&system, 2, 0, 120), 20);
    assert_eq!(load(&system, 1, 0, 140), LATENCY);
    assert_eq!(ask(&system, 2, 0, 140), 20);
}

/// The first entry that is missing waits for its turn, and the walk itself passes at that time.
#[test]
fn walks_ask_for_their_first_entry() {
    let mut shape = cached_shape(Arbitration::RoundRobin);
    for hart in &mut shape.harts {
        hart.data_tlb = Some(TlbShape {
            entries: CacheShape { line: 0, ..cache() },
            walk: 5,
            reads: true,
        });
    }
    let system = MemorySystem::new(&shape);
    load(&system, 0, 0, 100);
    let walked = [0x1000, 0x2000];
    let ask = |now| system.ask_bank_for_walk(1, Kind::Load, &walked, now);
    assert_eq!(ask(100), 27);
    assert_eq!(ask(127), 0);
    let stall = system.translate(1, Kind::Load, (0x5000, 12, 0), &walked, 127);
    // The second one comes to the bank at 127 + 30 + 7.
    assert_eq!(stall, LATENCY + 7 + LATENCY);
    let counters = system.counters(1);
    assert_eq!(counters.stalls()[Stall::Translation as usize], 27 + stall);
    assert_eq!(counters.bank_wait(), 127 - 112);
    // All entries are there now.
    assert_eq!(ask(200), 0);
}

#[test]
fn requests_are_saved() {
    for arbitration in [Arbitration::RoundRobin, Arbitration::Priority] {
        let shape = shape(4, arbitration);
        let mut harts = Harts::new(&shape, &[0, 3, 6, 9], &[0, 1, 17, 29]);
        harts.run(1001);
        let saved = harts.system.save();
        assert!(saved.requests().count() >= 2);
        let mut other = Harts::new(&shape, &[0; 4], &harts.gaps);
        other.times.clone_from(&harts.times);
        assert!(other.system.restore(&saved) && other.system.save() == saved);
        harts.served.clear();
        harts.run(3000);
        other.run(3000);
        assert_eq!((&other.served, &other.times), (&harts.served, &harts.times));
        assert_eq!(other.system.save(), harts.system.save());
        // Requests for a bank that does not choose, or for no bank.
        let fifo = self::shape(4, Arbitration::Fifo);
        assert!(!MemorySystem::new(&fifo).restore(&saved));
        let mut moved = shape.clone();
        moved.memories[0].range = 1 << 30..1 << 31;
        assert!(!MemorySystem::new(&moved).restore(&saved));
        assert!(!other.system.restore_request(
            0,
            Some(Request {
                kind: Kind::Load,
                address: 0,
                arrival: 9,
                start: Some(8),
            })
        ));
        assert!(!other.system.restore_request(
            0,
            Some(Request {
                kind: Kind::Load,
                address: 0,
                arrival: END_OF_TIME,
                start: None,
            })
        ));
    }
}
