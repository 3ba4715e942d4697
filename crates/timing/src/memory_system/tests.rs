use super::*;
use crate::machine::Arbitration;

fn cache(sets: usize) -> CacheShape {
    CacheShape {
        line: 6,
        sets,
        ways: 2,
    }
}

fn shape(harts: usize, coherence: bool) -> SystemShape {
    let tlb = TlbShape {
        entries: CacheShape {
            line: 0,
            sets: 1,
            ways: 2,
        },
        walk: 5,
        reads: true,
    };
    let data = DataShape {
        lines: cache(4),
        writes_through: false,
        allocates: true,
    };
    SystemShape {
        harts: vec![
            HartShape {
                code: Some((cache(4), 0)),
                data: Some(data),
                second: None,
                prefetcher: None,
                code_tlb: Some(tlb),
                data_tlb: Some(tlb),
                shared: vec![100],
                store_buffer: 2,
                overlap: 1.0,
            };
            harts
        ],
        shared: vec![cache(64)],
        coherence: coherence.then_some(CoherenceShape {
            transfer: 150,
            upgrade: 60,
        }),
        holds_bytes: false,
        memories: vec![MemoryShape {
            range: 0..1 << 20,
            latency: 1000,
            byte: 0.0,
            banks: BankShape {
                banks: 1,
                interleave: 6,
                occupancy: 50,
                arbitration: Arbitration::Fifo,
            },
        }],
        elsewhere: 9000,
    }
}

fn load(system: &MemorySystem, hart: usize, address: u64, now: Time) -> Time {
    match system.lookup(hart, Kind::Load, address) {
        Lookup::Miss => system.access(hart, Kind::Load, address, now),
        _ => 0,
    }
}

#[test]
fn an_access_costs_the_levels_that_it_reaches() {
    let system = MemorySystem::new(&shape(2, true));
    assert_eq!(load(&system, 0, 0x40, 0), 1100);
    assert_eq!(load(&system, 0, 0x78, 2000), 0);
    // The shared cache has it for the other hart.
    assert_eq!(load(&system, 1, 0x40, 2000), 100);
    assert_eq!(load(&system, 0, 1 << 30, 3000), 9100);
    // Two harts at once, in different banks of the cache and one bank of the memory.
    assert_eq!(load(&system, 0, 0x2000, 20_000), 1100);
    assert_eq!(load(&system, 1, 0x3040, 20_000), 1150);
    assert_eq!(system.counters(1).bank_wait(), 50);
    assert_eq!(system.counters(0).events()[Event::LoadMiss as usize], 3);
    let stalls = system.counters(0).stalls();
    assert_eq!(stalls[Stall::Load as usize], 1100 + 9100 + 1100);
}

#[test]
fn a_prefetcher_asks_for_lines_of_a_stream() {
    let mut shape = shape(1, true);
    shape.harts[0].second = Some((cache(16), 10));
    shape.harts[0].prefetcher = Some(PrefetcherShape {
        streams: 2,
        degree: 4,
    });
    let system = MemorySystem::new(&shape);
    // The second step is as the first one: four lines are asked for, and the bank serves one after the other.
    for (line, time) in [(0, 1110), (1, 1110), (2, 1110)] {
        assert_eq!(load(&system, 0, line * 64, line * 2000), time);
    }
    let prefetches = || system.counters(0).events()[Event::Prefetch as usize];
    assert_eq!(prefetches(), 4);
    // The next one has not come yet, and its bank had to serve the third line before.
    assert_eq!(load(&system, 0, 3 * 64, 4500), 1160 - 500);
    assert_eq!(prefetches(), 5);
    assert_eq!(load(&system, 0, 4 * 64, 10_000), 10);
    // A snapshot has what is under way.
    let saved = system.save();
    let other = MemorySystem::new(&shape);
    assert!(other.restore(&saved));
    assert_eq!(other.save(), saved);
    for system in [&system, &other] {
        assert_eq!(load(system, 0, 8 * 64, 10_050), 1110 - 50);
    }
    shape.harts[0].prefetcher = None;
    assert!(!MemorySystem::new(&shape).restore(&saved));
}

#[test]
fn a_store_takes_a_line_from_other_caches() {
    let system = MemorySystem::new(&shape(2, true));
    load(&system, 0, 0, 0);
    load(&system, 1, 0, 2000);
    assert_eq!(system.lookup(1, Kind::Store, 0), Lookup::Miss);
    // The buffer has room for two stores.
    assert_eq!(system.access(1, Kind::Store, 0, 3000), 0);
    assert_eq!(system.fence(1, 3010), 50);
    assert_eq!(system.lookup(1, Kind::Store, 8), Lookup::Contended);
    assert_eq!(system.counters(0).events()[Event::Invalidated as usize], 1);
    // The other hart has it modified.
    assert_eq!(load(&system, 0, 0, 4000), 150);
    assert_eq!(system.lookup(1, Kind::Store, 0), Lookup::Miss);
    assert_eq!(system.lookup(1, Kind::Load, 0), Lookup::Contended);
    // A line that nobody else has becomes modified without a word.
    load(&system, 0, 0x1000, 5000);
    assert_eq!(system.lookup(0, Kind::Store, 0x1000), Lookup::Hit);
}

#[test]
fn a_full_store_buffer_stalls() {
    let system = MemorySystem::new(&shape(1, true));
    let stores = [0, 0x40, 0x80].map(|at| system.access(0, Kind::Store, at, 0));
    assert_eq!(stores, [0, 0, 1100]);
}

#[test]
fn without_coherence_nobody_is_asked() {
    let system = MemorySystem::new(&shape(2, false));
    load(&system, 0, 0, 0);
    load(&system, 1, 0, 2000);
    system.access(1, Kind::Store, 0, 3000);
    assert_eq!(system.lookup(0, Kind::Load, 0), Lookup::Hit);
    assert_eq!(system.lookup(1, Kind::Store, 0), Lookup::Hit);
    system.operate(1, 0, BlockOperation::Flush, 4000);
    assert_eq!(system.lookup(1, Kind::Load, 0), Lookup::Miss);
}

#[test]
fn dirty_lines_of_a_whole_cache_pass_the_store_buffer() {
    let system = MemorySystem::new(&shape(1, false));
    let fill = || {
        for at in [0, 0x40, 0x80] {
            system.access(0, Kind::Store, at, 0);
        }
        load(&system, 0, 0xc0, 0);
    };
    let has = |at| system.lookup(0, Kind::Load, at) == Lookup::Hit;
    fill();
    // The buffer has room for two.
    let stall = system.operate_on_all(0, BlockOperation::Clean, 100_000);
    assert!(stall > 0 && has(0) && has(0xc0));
    assert_eq!(system.operate_on_all(0, BlockOperation::Clean, 200_000), 0);
    fill();
    assert_eq!(
        system.operate_on_all(0, BlockOperation::Invalidate, 300_000),
        0
    );
    assert!(!has(0) && !has(0xc0));
    fill();
    assert_eq!(
        system.operate_on_all(0, BlockOperation::Flush, 400_000),
        stall
    );
    assert!(!has(0) && !has(0xc0));
}

#[test]
fn stores_go_through_a_cache() {
    let mut shape = shape(1, true);
    let data = shape.harts[0].data.as_mut().unwrap();
    (data.writes_through, data.allocates) = (true, false);
    let system = MemorySystem::new(&shape);
    assert_eq!(system.lookup(0, Kind::Store, 0), Lookup::Miss);
    assert_eq!(system.access(0, Kind::Store, 0, 0), 0);
    // It has filled no line, and the next level has it.
    assert_eq!(load(&system, 0, 0, 2000), 100);
    assert_eq!(system.lookup(0, Kind::Store, 0), Lookup::Miss);
    system.access(0, Kind::Store, 0, 3000);
    assert_eq!(system.fence(0, 3000), 100);
    assert_eq!(system.lookup(0, Kind::Load, 0), Lookup::Hit);
}

#[test]
fn a_hart_may_have_two_levels_or_none() {
    let mut shape = shape(2, true);
    shape.harts[0].second = Some((cache(16), 20));
    shape.harts[1].data = None;
    shape.memories[0].byte = 2.0;
    let system = MemorySystem::new(&shape);
    assert_eq!(load(&system, 0, 0, 0), 20 + 100 + 1000 + 128);
    // Three lines of one set of the first level.
    load(&system, 0, 0x100, 2000);
    load(&system, 0, 0x200, 4000);
    assert_eq!(load(&system, 0, 0, 6000), 20);
    for _ in 0..2 {
        assert_eq!(load(&system, 1, 0, 8000), 100);
    }
}

#[test]
fn translations_are_kept() {
    let system = MemorySystem::new(&shape(1, true));
    let translate = |address, bits, space, walked: &[u64]| {
        if system.is_translated(0, Kind::Load, address, bits, space) {
            return 0;
        }
        system.translate(0, Kind::Load, (address, bits, space), walked, 0)
    };
    // Two entries of page tables in one line.
    assert_eq!(translate(0x5000, 12, 1, &[0x100, 0x108]), 5 + 1100);
    assert_eq!(translate(0x5fff, 12, 1, &[]), 0);
    assert_eq!(translate(0x5000, 12, 2, &[0x100]), 5);
    assert_eq!(translate(0x20_0000, 21, 1, &[0x100]), 5);
    // The TLB has two entries.
    assert_eq!(translate(0x5000, 12, 1, &[0x100]), 5);
    assert_eq!(translate(0x3f_ffff, 21, 1, &[]), 0);
    assert_eq!(translate(0x5000, 64, 1, &[]), 0);
    system.flush_translations(0);
    assert_eq!(translate(0x5000, 12, 1, &[0x100]), 5);
    assert_eq!(system.counters(0).events()[Event::DataTlbMiss as usize], 5);
}

#[test]
fn a_saved_system_has_the_same_future() {
    let accesses = |system: &MemorySystem, from: u64| {
        let mut found = vec![];
        for n in from..from + 300 {
            let (hart, address) = ((n % 2) as usize, n * n * 56 % 0x3000);
            let kind = [Kind::Fetch, Kind::Load, Kind::Store][n as usize % 3];
            if !system.is_translated(hart, kind, address, 12, 1) {
                found.push(system.translate(
                    hart,
                    kind,
                    (address, 12, 1),
                    &[0x8000 + address],
                    n * 90,
                ));
            }
            if system.lookup(hart, kind, address) == Lookup::Miss {
                found.push(system.access(hart, kind, address, n * 90));
            }
            if kind == Kind::Store {
                system.modify(hart, address);
            }
        }
        found.push(system.fence(1, (from + 300) * 90));
        found
    };
    let system = MemorySystem::new(&shape(2, true));
    accesses(&system, 0);
    let saved = system.save();
    let other = MemorySystem::new(&shape(2, true));
    assert!(other.restore(&saved) && other.save() == saved);
    assert_eq!(accesses(&other, 300), accesses(&system, 300));
    assert_eq!(other.save(), system.save());
    assert_eq!(other.counters(0).stalls(), system.counters(0).stalls());
    // Other harts, caches, buffers, banks.
    let change = |change: fn(&mut SystemShape)| {
        let mut shape = shape(2, true);
        change(&mut shape);
        shape
    };
    let others = [
        shape(3, true),
        change(|shape| shape.harts[1].data = None),
        change(|shape| shape.harts[0].store_buffer = 3),
        change(|shape| shape.shared[0].ways = 4),
        change(|shape| shape.memories[0].banks.banks = 2),
        change(|shape| shape.memories.clear()),
    ];
    for shape in others {
        assert!(!MemorySystem::new(&shape).restore(&saved), "{shape:?}");
    }
}
