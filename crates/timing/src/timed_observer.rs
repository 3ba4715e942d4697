//! The engine's observer of a timed run. It charges each instruction and access of NxP code to both
//! worlds.
use flick_abi::timed::HostClass;
use flick_engine::Observer;
use flick_riscv::{Class, Insn, Op};

use crate::allocation_marks::Marks;
use crate::call_stack::{NoSampler, Sampler};
use crate::model::{Access, Chain, Cost, Pages, View};
use crate::platform::{Core, NXP_CLASSES, NxpClass, Platform, Region};
use crate::vector_classes;
use crate::worlds::{Stay, Worlds};

/// The cost of an instruction in both worlds, in femtoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Both {
    nxp: u64,
    host: u64,
}

/// The costs of a platform that do not depend on addresses.
#[derive(Clone, Debug)]
pub struct Costs {
    by_op: [Both; Op::COUNT],
    /// By [`NxpClass`], of a vector instruction's elements.
    by_class: [u64; NXP_CLASSES.len()],
    /// Of the host's operation in their place.
    vector: u64,
    taken: Both,
}

/// A class of instructions on the NxP, and the class of the host's operation that does the same.
fn classes(class: Class) -> (NxpClass, HostClass) {
    match class {
        Class::Int => (NxpClass::Int, HostClass::Int),
        Class::Address => (NxpClass::Address, HostClass::Int),
        Class::Bit => (NxpClass::Bit, HostClass::Int),
        Class::Mul => (NxpClass::Mul, HostClass::Mul),
        Class::Div => (NxpClass::Div, HostClass::Div),
        Class::Load => (NxpClass::Load, HostClass::Load),
        Class::Store => (NxpClass::Store, HostClass::Store),
        Class::Atomic => (NxpClass::Atomic, HostClass::Atomic),
        Class::Branch => (NxpClass::Branch, HostClass::Branch),
        Class::Jump => (NxpClass::Jump, HostClass::Branch),
        Class::Fp => (NxpClass::Fp, HostClass::Fp),
        Class::FpMul => (NxpClass::FpMul, HostClass::FpMul),
        Class::FpDiv => (NxpClass::FpDiv, HostClass::FpDiv),
        // Vector instructions are charged by their elements (`vector_classes.rs`).
        Class::System | Class::Privileged | Class::Vector => (NxpClass::System, HostClass::Int),
    }
}

impl Costs {
    /// The costs by the platform's two kinds of cores.
    pub fn new(platform: &Platform) -> Self {
        Self::of_cores(&platform.nxp, &platform.host)
    }

    /// The costs by an NxP's cores and the host's.
    pub fn of_cores(nxp_core: &Core, host_core: &Core) -> Self {
        let mut by_op = [Both::default(); Op::COUNT];
        for op in Op::all().filter(|op| op.class() != Class::Vector) {
            let (nxp, host) = classes(op.class());
            by_op[op as usize] = Both {
                nxp: nxp_core.costs[nxp as usize],
                host: host_core.costs[host as usize],
            };
        }
        let mut by_class = [0; NXP_CLASSES.len()];
        by_class.copy_from_slice(&nxp_core.costs[..NXP_CLASSES.len()]);
        Self {
            by_op,
            by_class,
            vector: host_core.costs[HostClass::Vector as usize],
            taken: Both {
                nxp: nxp_core.taken,
                host: host_core.taken,
            },
        }
    }
}

/// The time that NxP code has spent, in femtoseconds, and counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// RV64 instructions that were executed.
    pub instructions: u64,
    /// Loads and stores of NxP-local memory that is no stack.
    pub accesses: u64,
    /// Time on the NxP: here of instructions, below of data, its instruction cache, and TLB misses.
    pub compute: u64,
    /// Time of data: caches, and the memories behind them.
    pub memory: u64,
    /// Time of fetches that miss the instruction cache.
    pub fetch: u64,
    /// Time of TLB misses.
    pub tlb: u64,
    /// The same on the host.
    pub staying_compute: u64,
    /// Time of data on the host.
    pub staying_memory: u64,
    /// Time of TLB misses on the host.
    pub staying_tlb: u64,
    /// How long the host waits for its own memory, where the platform describes it.
    pub staying_own: u64,
    /// The part of `staying` that would vanish if marked data were in the host's own memory; and
    /// the accesses to marked data.
    pub spare: i64,
    /// Accesses to marked data.
    pub marked: u64,
    /// Of the two above, the parts of data that NxP code has allocated: where the platform describes
    /// the host's own memory, they are of all NxP-local data.
    pub heap_spare: i64,
    /// The accesses to that.
    pub heap_marked: u64,
}

impl Spent {
    /// Time on the NxP.
    pub fn migrating(&self) -> u64 {
        self.compute + self.memory + self.fetch + self.tlb
    }

    /// Time of the same instructions and accesses on the host.
    pub fn staying(&self) -> u64 {
        self.staying_compute + self.staying_memory + self.staying_tlb + self.staying_own
    }
}

/// The addresses of NxP-local memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// The first address of the region.
    pub base: u64,
    /// Bytes of heap, from `base` on.
    pub heap: u64,
    /// Bytes of the region, whose end has the stacks.
    pub size: u64,
    /// The image whose code runs, and its size. Its tables of addresses are fetched as its
    /// instructions are.
    pub image: u64,
    /// Bytes of the image.
    pub image_size: u64,
    /// Whether an address outside is NxP-local nevertheless (`FLICK_NXP_DATA`).
    pub is_data: Option<fn(u64) -> bool>,
    /// On a card with several kinds of NxP: the number of the tile that has NxP-local memory of this address.
    pub tile_of: Option<fn(u64) -> u16>,
    /// Marks of the heap that NxP code has allocated.
    pub marks: Option<Marks>,
}

impl Layout {
    /// Places beyond all offsets in the region: numbered pages.
    const NUMBERED: u64 = 1 << 44;

    /// The place of an address in the host's own memory, as [`Self::locate`] has it.
    #[inline]
    pub fn own_place(address: u64, pages: &mut Pages) -> u64 {
        Self::NUMBERED + pages.place(address)
    }

    /// The tile that has NxP-local memory, where there are several kinds of NxP.
    #[inline]
    pub fn tile(&self, region: Region, address: u64) -> Option<u16> {
        let tile_of = self.tile_of.filter(|_| region == Region::Nxp)?;
        Some(tile_of(address))
    }

    /// The region of an address, and its place there. The place does not depend on the address of
    /// the region.
    #[inline]
    pub fn locate(&self, address: u64, pages: &mut Pages) -> (Region, u64) {
        /// Beyond those, stacks, which count from the end.
        const STACKS: u64 = 1 << 45;
        let offset = address.wrapping_sub(self.base);
        if offset < self.heap {
            (Region::Nxp, offset)
        } else if offset < self.size {
            (Region::Stack, STACKS - (self.size - offset))
        } else if self.is_data.is_some_and(|is_data| is_data(address)) {
            (Region::Nxp, Self::NUMBERED + pages.place(address))
        } else {
            (Region::Host, Self::own_place(address, pages))
        }
    }
}

/// Prices of accesses to a region whose accesses always cost the same: `[load, store]`, each of the
/// access and of a byte.
type Flat = [(u64, u64); 2];

/// Observes a residency on the NxP. The sums are in [`Timed::spent`] at the end.
pub struct Timed<'a, S: Sampler = NoSampler> {
    sampler: S,
    costs: &'a Costs,
    worlds: *mut Worlds,
    tile: u16,
    layout: Layout,
    /// The line of the last access, if another access to it costs nothing; all ones if there is no
    /// such line.
    last_line: u64,
    fetch_shift: u32,
    fetch_line: u64,
    /// By region: whether accesses always cost the same, on the NxP and staying.
    flat: [bool; 3],
    /// Whether the platform describes the host's own memory.
    own: bool,
    /// Then: the accesses of the instruction that is being executed, for the host.
    due: [Due; MOST_DUE],
    due_count: usize,
    nxp: [Flat; 3],
    staying: Flat,
    /// What has been spent so far.
    pub spent: Spent,
}

/// An access, as the host would make it.
#[derive(Clone, Copy, Debug, Default)]
struct Due {
    place: u64,
    bytes: u64,
    write: bool,
    /// Of data in NxP-local memory: what it costs the host there.
    cost: Option<u64>,
    /// Of data that NxP code has allocated.
    heap: bool,
}

/// The most accesses of an instruction whose addresses' sources are looked at: vectors have more.
const MOST_DUE: usize = 2;

/// log2 of the bytes of `last_line`. No cache has shorter lines (`platform::core_model`).
const LINE: u32 = 4;

impl<'a, S: Sampler> Timed<'a, S> {
    /// # Safety
    /// `worlds` is the calling thread's, and lives as long as the observer.
    pub unsafe fn new(
        (tile, costs): (u16, &'a Costs),
        worlds: *mut Worlds,
        layout: Layout,
        sampler: S,
    ) -> Self {
        // SAFETY: by contract.
        let worlds_now = unsafe { &mut *worlds };
        worlds_now.part();
        let nxp = &*worlds_now.of_tile(tile);
        const ALL: [Region; 3] = [Region::Host, Region::Nxp, Region::Stack];
        let prices = |view: &View, region| [view.flat(region, false), view.flat(region, true)];
        let fetch_shift = nxp.fetch_shift();
        let mut flat = ALL.map(|region| nxp.is_flat(region));
        let nxp = ALL.map(|region| prices(nxp, region));
        let staying = &worlds_now.staying;
        flat[Region::Nxp as usize] &= staying.is_flat(Region::Nxp)
            && layout.is_data.is_none()
            && layout.tile_of.is_none()
            && layout.marks.is_none();
        flat[Region::Host as usize] &= layout.is_data.is_none();
        let own = worlds_now.has_own();
        if own {
            flat = [false; 3];
        }
        Self {
            sampler,
            costs,
            worlds,
            tile,
            layout,
            last_line: u64::MAX,
            // With this shift every fetch is of the same line, because fetches are free.
            fetch_shift: fetch_shift.unwrap_or(63),
            fetch_line: if fetch_shift.is_some() { u64::MAX } else { 0 },
            flat,
            own,
            due: [Due::default(); MOST_DUE],
            due_count: 0,
            nxp,
            staying: prices(staying, Region::Nxp),
            spent: Spent::default(),
        }
    }

    /// The sampler, with what it has gathered.
    pub fn sampler(&mut self) -> &mut S {
        &mut self.sampler
    }

    #[inline(always)]
    fn data(&mut self, address: u64, bytes: u64, write: bool) {
        let offset = address.wrapping_sub(self.layout.base);
        let region = if offset < self.layout.heap {
            Region::Nxp
        } else if offset < self.layout.size {
            Region::Stack
        } else {
            Region::Host
        };
        if region == Region::Host
            && address.wrapping_sub(self.layout.image) < self.layout.image_size
        {
            self.fetch_table(address);
            return;
        }
        self.spent.accesses += u64::from(region == Region::Nxp);
        if self.flat[region as usize] {
            let (time, byte) = self.nxp[region as usize][usize::from(write)];
            self.spent.memory += time + bytes * byte;
            if region == Region::Nxp {
                let (time, byte) = self.staying[usize::from(write)];
                self.spent.staying_memory += time + bytes * byte;
            }
        } else if address >> LINE != self.last_line
            || address.wrapping_add(bytes - 1) >> LINE != self.last_line
        {
            self.model(address, bytes, write);
        }
    }

    #[cold]
    #[inline(never)]
    fn model(&mut self, address: u64, bytes: u64, write: bool) {
        // SAFETY: `worlds` is this thread's. A handler that interrupts this function sees `busy`,
        // and leaves the worlds alone.
        let worlds = unsafe {
            if (*self.worlds).busy {
                return;
            }
            (*self.worlds).busy = true;
            &mut *self.worlds
        };
        let (region, place) = self.layout.locate(address, &mut worlds.pages);
        let access = Access {
            region,
            tile: self.layout.tile(region, address),
            place,
            bytes,
            write,
        };
        let cost = worlds.of_tile(self.tile).access(Access {
            tile: access.tile.filter(|&tile| tile != self.tile),
            ..access
        });
        self.spent.memory += cost.memory;
        self.spent.tlb += cost.tlb;
        let mut stay = Stay::default();
        if region == Region::Nxp {
            // Data of modules is outside of the region, where `data` does not look.
            self.spent.accesses +=
                u64::from(address.wrapping_sub(self.layout.base) >= self.layout.size);
            // Where the platform describes the host's memory, all of this is the host's with nothing placed.
            let marks = self.layout.marks.filter(|_| !self.own);
            stay = worlds.stay(access, address, marks);
            self.spent.staying_memory += stay.cost.memory;
            self.spent.staying_tlb += stay.cost.tlb;
            self.spent.spare += stay.spare;
            self.spent.marked += u64::from(stay.marked);
            self.spent.heap_spare += stay.spare;
            self.spent.heap_marked += u64::from(stay.marked);
        }
        if self.own {
            if self.due_count == MOST_DUE {
                self.make_due(worlds, Chain::default());
            }
            self.due[self.due_count] = Due {
                place,
                bytes,
                write,
                cost: (region == Region::Nxp).then_some(stay.cost.memory + stay.cost.tlb),
                heap: region == Region::Nxp && self.layout.marks.is_some_and(|m| m.has(address)),
            };
            self.due_count += 1;
            worlds.busy = false;
            return;
        }
        // If a hit of this line costs nothing, another access to it also changes nothing.
        self.last_line =
            if cost == Cost::default() && stay.cost == Cost::default() && stay.spare == 0 {
                address >> LINE
            } else {
                u64::MAX
            };
        worlds.busy = false;
    }

    /// The host makes the accesses that are due, whose addresses come from there.
    fn make_due(&mut self, worlds: &mut Worlds, chain: Chain) {
        let progress = worlds.base.staying + self.spent.staying_compute;
        for due in &self.due[..std::mem::take(&mut self.due_count)] {
            let access = (due.place, due.bytes, due.write);
            let staying = match due.cost {
                Some(cost) => cost,
                None => {
                    let wait = worlds.own_staying(access, chain, progress);
                    self.spent.staying_own += wait;
                    wait
                }
            };
            let progress = worlds.base.before + self.spent.staying_compute;
            let before = worlds.own_before(access, chain, progress);
            let spare = staying as i64 - before as i64;
            self.spent.spare += spare;
            self.spent.marked += u64::from(due.cost.is_some());
            if due.heap {
                self.spent.heap_spare += spare;
                self.spent.heap_marked += 1;
            }
        }
    }

    /// The host would have executed this instruction.
    #[inline(never)]
    fn host_executes(&mut self, insn: Insn) {
        // SAFETY: as in `model`.
        let worlds = unsafe {
            if (*self.worlds).busy {
                return;
            }
            (*self.worlds).busy = true;
            &mut *self.worlds
        };
        let (to, a, b) = (insn.rd() as u8, insn.rs1() as u8, insn.rs2() as u8);
        match insn.op().class() {
            class if self.due_count > 0 => {
                // Floating-point registers have the places behind the others. Of vectors nothing is known.
                let own = match insn.op() {
                    _ if class == Class::Store || class == Class::Vector => 0,
                    Op::Flw | Op::Fld => 32 + to,
                    _ => to,
                };
                let chain = Chain {
                    own,
                    from: [a, 0],
                    either: false,
                };
                self.make_due(worlds, chain);
            }
            Class::Int | Class::Address | Class::Bit | Class::Mul | Class::Div if to != 0 => {
                worlds.computes(Chain {
                    own: to,
                    from: [a, b],
                    either: false,
                });
            }
            _ => {}
        }
        worlds.busy = false;
    }

    /// Charges the load of a host function's address from the image's own tables. If the dynamic
    /// loader did not have to write this address, the linker would have put it into the
    /// instructions (paper, section IV.C).
    #[inline(never)]
    fn fetch_table(&mut self, address: u64) {
        // The next instruction is fetched again, which is a hit if its line was in the cache.
        if self.fetch_shift != 63 {
            self.fetch(address);
        }
    }

    #[cold]
    #[inline(never)]
    fn fetch(&mut self, pc: u64) {
        self.fetch_line = pc >> self.fetch_shift;
        // SAFETY: as in `model`.
        let worlds = unsafe {
            if (*self.worlds).busy {
                return;
            }
            (*self.worlds).busy = true;
            &mut *self.worlds
        };
        let place = worlds.pages.place(pc);
        let cost = worlds.of_tile(self.tile).fetch(place);
        self.spent.fetch += cost.memory;
        self.spent.tlb += cost.tlb;
        worlds.busy = false;
    }
}

impl<S: Sampler> Observer for Timed<'_, S> {
    #[inline(always)]
    fn at(&mut self, pc: u64) {
        if pc >> self.fetch_shift != self.fetch_line {
            self.fetch(pc);
        }
    }

    #[inline(always)]
    fn retired(&mut self, _pc: u64, insn: Insn) {
        let both = self.costs.by_op[insn.op() as usize];
        self.spent.compute += both.nxp;
        self.spent.staying_compute += both.host;
        self.spent.instructions += 1;
        if self.own {
            self.host_executes(insn);
        }
    }

    fn vector(&mut self, insn: Insn, bits: u64) {
        let (times, host_times) = vector_classes::times(insn, bits);
        let class = vector_classes::class(insn);
        self.spent.compute += times * self.costs.by_class[class as usize];
        self.spent.staying_compute += host_times * self.costs.vector;
    }

    #[inline(always)]
    fn load(&mut self, address: u64, bytes: u64) {
        self.data(address, bytes, false);
    }

    #[inline(always)]
    fn store(&mut self, address: u64, bytes: u64) {
        self.data(address, bytes, true);
    }

    #[inline(always)]
    fn branch(&mut self, _pc: u64, _target: u64, taken: bool) {
        if taken {
            self.spent.compute += self.costs.taken.nxp;
            self.spent.staying_compute += self.costs.taken.host;
        }
    }

    #[inline(always)]
    fn jump(&mut self, pc: u64, target: u64) {
        if S::ON {
            self.sampler.jump(pc, target, &self.spent);
        }
    }
}
