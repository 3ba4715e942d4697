//! The timing of a tile of a machine file: its memory system, and the costs of its harts' cores. What a
//! machine file leaves open is decided here (`docs/machine.md`, "How time works").
use flick_riscv::Class;
use flick_timing::branch_predictor::{Directions, PredictorShape};
use flick_timing::core_costs::{CLASSES, CoreCosts};
use flick_timing::machine::{
    Cache, Coherence, CoreModel, Hart, Machine, Memory, Predictor, Tile, Tlb, Walk, WritePolicy,
};
use flick_timing::memory_system::{
    BankShape, CacheShape, CoherenceShape, DataShape, HartShape, MemoryShape, PrefetcherShape,
    SystemShape, Time, TlbShape,
};
use flick_timing::platform::NxpClass;

use crate::machine_timing::{HartTiming, MachineTiming};

const FS_PER_PS: f64 = 1000.0;
/// Cycles of the first hart that a hart may be ahead of another between accesses that others see.
pub const SLICE_CYCLES: u64 = 100;
/// Messages of a directory's protocol: a line that another cache has modified comes by a request, a
/// forward and an answer; a shared one is taken by a request and an answer.
const TRANSFER_MESSAGES: u64 = 3;
const UPGRADE_MESSAGES: u64 = 2;
/// On a bus, by a request and an answer, and by a request.
const TRANSFER_BROADCASTS: u64 = 2;

fn picoseconds(femtoseconds: f64) -> Time {
    (femtoseconds / FS_PER_PS).round() as Time
}

/// The class of platform files that has the costs of a class of instructions.
fn class_of(class: Class) -> Option<NxpClass> {
    Some(match class {
        Class::Int => NxpClass::Int,
        Class::Address => NxpClass::Address,
        Class::Bit => NxpClass::Bit,
        Class::Mul => NxpClass::Mul,
        Class::Div => NxpClass::Div,
        Class::Load => NxpClass::Load,
        Class::Store => NxpClass::Store,
        Class::Atomic => NxpClass::Atomic,
        Class::Branch => NxpClass::Branch,
        Class::Jump => NxpClass::Jump,
        Class::Fp => NxpClass::Fp,
        Class::FpMul => NxpClass::FpMul,
        Class::FpDiv => NxpClass::FpDiv,
        Class::System | Class::Privileged => NxpClass::System,
        Class::Vector => return None,
    })
}

/// Costs of a hart without a core model: a cycle an instruction, and an exception.
fn plain_costs(hart: &Hart, device: Time) -> CoreCosts {
    let period = picoseconds(hart.period).max(1);
    CoreCosts {
        period,
        classes: [period; CLASSES.len()],
        taken: 0,
        mispredicted: 0,
        trap: period,
        device,
        vector_width: 0,
        predictor: PredictorShape::default(),
    }
}

fn costs(hart: &Hart, core: Option<&CoreModel>, device: Time) -> CoreCosts {
    let plain = plain_costs(hart, device);
    let Some(core) = core else {
        return plain;
    };
    let time = |cycles: f64| picoseconds(cycles * hart.period);
    let issue = f64::from(core.issue.max(1));
    let hit = core.l1d.map_or(0.0, |cache| cache.hit);
    let classes = CLASSES.map(|class| {
        let cycles = match class_of(class) {
            Some(class) => core.cycles.get(class as usize).copied().unwrap_or(1.0),
            None => core.vector.map_or(1.0, |vector| vector.start.max(1.0)),
        };
        let hit = if class == Class::Load { hit } else { 0.0 };
        // The first cycle of instructions that begin together is one for all.
        let shared = cycles.min(1.0) / issue;
        time(shared + (cycles - 1.0).max(0.0) + hit).max(1)
    });
    CoreCosts {
        classes,
        taken: time(core.taken),
        mispredicted: time(core.mispredict),
        trap: time(core.trap).max(1),
        vector_width: core.vector.map_or(0, |vector| vector.datapath),
        predictor: PredictorShape {
            directions: match core.predictor {
                Predictor::None => Directions::Known,
                Predictor::Static => Directions::Static,
                Predictor::TwoBit(counters) => Directions::TwoBit(counters as usize),
            },
            targets: core.targets.map(|count| count as usize),
            returns: core.returns.map(|count| count as usize),
        },
        ..plain
    }
}

fn cache_shape(cache: &Cache) -> CacheShape {
    CacheShape {
        line: cache.line.trailing_zeros(),
        sets: (cache.size / (cache.line * cache.ways as u64)) as usize,
        ways: cache.ways,
    }
}

fn tlb_shape(hart: &Hart, tlb: &Tlb) -> TlbShape {
    let (cycles, reads) = match tlb.walk {
        Walk::Cycles(cycles) => (cycles, false),
        Walk::Cached(cycles) => (cycles, true),
    };
    TlbShape {
        entries: CacheShape {
            line: 0,
            sets: tlb.entries / tlb.ways,
            ways: tlb.ways,
        },
        walk: picoseconds(cycles * hart.period),
        reads,
    }
}

fn hart_shape(tile: &Tile, hart: &Hart, core: Option<&CoreModel>) -> HartShape {
    let time = |cycles: f64| picoseconds(cycles * hart.period);
    let level = |cache: &Cache| (cache_shape(cache), time(cache.hit));
    HartShape {
        code: core.and_then(|core| core.l1i.as_ref()).map(level),
        data: core
            .and_then(|core| core.l1d.as_ref())
            .map(|cache| DataShape {
                lines: cache_shape(cache),
                writes_through: cache.write == WritePolicy::Through,
                allocates: cache.allocates,
            }),
        second: core.and_then(|core| core.l2.as_ref()).map(level),
        prefetcher: core
            .and_then(|core| core.prefetch)
            .map(|prefetch| PrefetcherShape {
                streams: prefetch.streams as usize,
                degree: prefetch.degree.into(),
            }),
        code_tlb: core
            .and_then(|core| core.itlb.as_ref())
            .map(|tlb| tlb_shape(hart, tlb)),
        data_tlb: core
            .and_then(|core| core.dtlb.as_ref())
            .map(|tlb| tlb_shape(hart, tlb)),
        shared: tile.caches.iter().map(|cache| time(cache.hit)).collect(),
        store_buffer: core.map_or(0, |core| core.store_buffer as usize),
        overlap: core.map_or(1.0, |core| core.overlap),
    }
}

fn memory_shape(memory: &Memory) -> MemoryShape {
    MemoryShape {
        range: memory.base..memory.base + memory.size,
        latency: picoseconds(memory.latency as f64),
        byte: memory.byte / FS_PER_PS,
        banks: BankShape {
            banks: memory.banks as usize,
            interleave: memory.interleave.trailing_zeros(),
            occupancy: picoseconds(memory.occupancy as f64),
            arbitration: memory.arbitration,
        },
    }
}

fn coherence(coherence: Coherence) -> Option<CoherenceShape> {
    let message = |fs: u64| picoseconds(fs as f64);
    Some(match coherence {
        Coherence::Free | Coherence::None => return None,
        Coherence::Directory(fs) => CoherenceShape {
            transfer: TRANSFER_MESSAGES * message(fs),
            upgrade: UPGRADE_MESSAGES * message(fs),
        },
        Coherence::Snoop(fs) => CoherenceShape {
            transfer: TRANSFER_BROADCASTS * message(fs),
            upgrade: message(fs),
        },
    })
}

/// The timing of a tile of harts.
pub fn timing_of(machine: &Machine, tile: &Tile) -> MachineTiming {
    timing_of_tiles(machine, std::slice::from_ref(tile))
}

/// The timing of all tiles of harts of a machine.
pub fn timing_of_tiles<'t>(
    machine: &Machine,
    tiles: impl IntoIterator<Item = &'t Tile>,
) -> MachineTiming {
    let mut timing = MachineTiming {
        tiles: vec![],
        harts: vec![],
        slice: SLICE_CYCLES,
    };
    for (number, tile) in tiles.into_iter().enumerate() {
        let device = picoseconds(tile.device_latency as f64);
        let harts = tile.harts.iter().enumerate();
        timing
            .harts
            .extend(harts.map(|(hart_number, hart)| HartTiming {
                tile: number,
                number: hart_number,
                costs: costs(hart, machine.core(hart), device),
            }));
        let shape = |hart| hart_shape(tile, hart, machine.core(hart));
        timing.tiles.push(SystemShape {
            harts: tile.harts.iter().map(shape).collect(),
            shared: tile.caches.iter().map(cache_shape).collect(),
            coherence: coherence(tile.coherence),
            holds_bytes: tile.coherence == Coherence::None,
            memories: tile.memories.iter().map(memory_shape).collect(),
            elsewhere: device,
        });
    }
    let period = timing.harts.first().map_or(1, |hart| hart.costs.period);
    timing.slice = SLICE_CYCLES * period;
    timing
}
