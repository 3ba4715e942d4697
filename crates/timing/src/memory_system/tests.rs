use super::*;

fn shape(harts: usize, coherence: bool) -> SystemShape {
    let small = CacheShape { sets: 4, ways: 2 };
    SystemShape {
        line: 6,
        harts: vec![
            HartShape {
                code: Some(small),
                data: Some(small),
                tlb: Some(TlbShape {
                    first: CacheShape { sets: 1, ways: 2 },
                    second: Some((CacheShape { sets: 1, ways: 8 }, 7)),
                    walk: 5,
                    reads: true,
                }),
                store_buffer: 2,
                overlap: 1.0,
            };
            harts
        ],
        shared: Some(SharedShape {
            lines: CacheShape { sets: 64, ways: 2 },
            hit: 100,
            banks: BankShape {
                banks: 2,
                interleave: 6,
                occupancy: 10,
            },
        }),
        coherence: coherence.then_some(CoherenceShape {
            transfer: 150,
            upgrade: 60,
        }),
        memories: vec![MemoryShape {
            range: 0..1 << 20,
            latency: 1000,
            banks: BankShape {
                banks: 1,
                interleave: 6,
                occupancy: 50,
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
    system.clean(1, 0, false, 4000);
    assert_eq!(system.lookup(1, Kind::Load, 0), Lookup::Miss);
}

#[test]
fn translations_are_kept() {
    let system = MemorySystem::new(&shape(1, true));
    let translate = |address, bits, space, walked: &[u64]| {
        let found = system.translation(0, Kind::Load, address, bits, space);
        if found == Translated::Free {
            return 0;
        }
        system.translate(0, Kind::Load, (address, bits, space), found, walked, 0)
    };
    // Two entries of page tables in one line.
    assert_eq!(translate(0x5000, 12, 1, &[0x100, 0x108]), 5 + 1100);
    assert_eq!(translate(0x5fff, 12, 1, &[]), 0);
    assert_eq!(translate(0x5000, 12, 2, &[0x100]), 5);
    assert_eq!(translate(0x20_0000, 21, 1, &[0x100]), 5);
    // It is in the second TLB alone.
    assert_eq!(translate(0x5000, 12, 1, &[]), 7);
    assert_eq!(translate(0x3f_ffff, 21, 1, &[]), 0);
    assert_eq!(translate(0x5000, 64, 1, &[]), 0);
    system.flush_translations(0);
    assert_eq!(translate(0x5000, 12, 1, &[0x100]), 5);
    assert_eq!(system.counters(0).events()[Event::Walk as usize], 4);
}
