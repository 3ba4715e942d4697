//! The engine's observer of a timed run. It charges each instruction and access of NxP code to both
//! worlds.
use flick_abi::timed::HostClass;
use flick_engine::Observer;
use flick_riscv::{Class, Insn, Op};

use crate::allocation_marks::Marks;
use crate::call_stack::{NoSampler, Sampler};
use crate::model::{Access, Cost, Pages, View};
use crate::platform::{Core, NXP_CLASSES, NxpClass, Platform, Region};
use crate::vector_classes;

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
    /// The part of `staying` that would vanish if marked data were in the host's own memory; and
    /// the accesses to marked data.
    pub spare: i64,
    /// Accesses to marked data.
    pub marked: u64,
}

/// The models of one thread, in both worlds.
pub struct Worlds {
    /// The NxP's memories, migrating.
    nxp: View,
    /// The same of tiles of a card with several kinds of NxP, by number; empty: there is one kind.
    tiles: Box<[View]>,
    /// The host's memories, migrating: accesses of host code only.
    pub host: View,
    /// The host's memories, staying: accesses of all code.
    pub staying: View,
    /// The same as `staying`, without accesses to marked data. It is copied from `staying` at the
    /// first access with marks.
    before: View,
    has_before: bool,
    /// The numbers of pages, which stand for addresses.
    pub pages: Pages,
    /// Set while a model is in use. A signal handler that finds it set leaves the models alone.
    pub busy: bool,
}

impl Spent {
    /// Time on the NxP.
    pub fn migrating(&self) -> u64 {
        self.compute + self.memory + self.fetch + self.tlb
    }

    /// Time of the same instructions and accesses on the host.
    pub fn staying(&self) -> u64 {
        self.staying_compute + self.staying_memory + self.staying_tlb
    }
}

impl Worlds {
    /// Models in which nothing is cached.
    pub fn new(platform: &Platform) -> Self {
        Self {
            nxp: View::new(&platform.nxp),
            tiles: Box::default(),
            host: View::new(&platform.host),
            staying: View::new(&platform.host),
            before: View::new(&platform.host),
            has_before: false,
            pages: Pages::default(),
            busy: false,
        }
    }

    /// How many tiles have cores of their own.
    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// From now on the tiles of a card have cores of their own: names and cores, by number.
    pub fn learn_tiles(&mut self, host: &Core, tiles: &[(&str, &Core)]) {
        let names: Vec<&str> = tiles.iter().map(|&(name, _)| name).collect();
        for view in [&mut self.host, &mut self.staying, &mut self.before] {
            view.see_tiles(host, &names, Region::Nxp);
        }
        let view = |&(_, core): &(&str, &Core)| {
            let mut view = View::new(core);
            // The way to another tile is as far as that to the host.
            view.see_tiles(core, &names, Region::Host);
            view
        };
        self.tiles = tiles.iter().map(view).collect();
    }

    /// The memories of a tile's cores; without tiles, those of the one NxP.
    fn of_tile(&mut self, tile: u16) -> &mut View {
        let tile = self.tiles.get_mut(usize::from(tile));
        tile.unwrap_or(&mut self.nxp)
    }

    /// Makes an access to NxP-local memory in the world `staying`. Returns its cost, and how much
    /// less it costs in `before`.
    #[inline]
    pub fn stay(&mut self, access: Access, address: u64, marks: Option<Marks>) -> Stay {
        let Some(marks) = marks else {
            let cost = self.staying.access(access);
            return Stay {
                cost,
                ..Stay::default()
            };
        };
        if !self.has_before {
            self.has_before = true;
            self.before.copy(&self.staying);
        }
        let cost = self.staying.access(access);
        let marked = marks.has(address);
        let before = match marked {
            true => Cost::default(),
            false => self.before.access(access),
        };
        Stay {
            cost,
            spare: (cost.memory + cost.tlb) as i64 - (before.memory + before.tlb) as i64,
            marked,
        }
    }
}

/// The cost of an access where all code stays on the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stay {
    pub cost: Cost,
    /// The part of the cost that would vanish if marked data were in the host's own memory.
    pub spare: i64,
    pub marked: bool,
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
        /// Places beyond all offsets in the region: numbered pages, and stacks, which count from
        /// the end.
        const NUMBERED: u64 = 1 << 44;
        const STACKS: u64 = 1 << 45;
        let offset = address.wrapping_sub(self.base);
        if offset < self.heap {
            (Region::Nxp, offset)
        } else if offset < self.size {
            (Region::Stack, STACKS - (self.size - offset))
        } else if self.is_data.is_some_and(|is_data| is_data(address)) {
            (Region::Nxp, NUMBERED + pages.place(address))
        } else {
            (Region::Host, NUMBERED + pages.place(address))
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
    nxp: [Flat; 3],
    staying: Flat,
    /// What has been spent so far.
    pub spent: Spent,
}

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
            stay = worlds.stay(access, address, self.layout.marks);
            self.spent.staying_memory += stay.cost.memory;
            self.spent.staying_tlb += stay.cost.tlb;
            self.spent.spare += stay.spare;
            self.spent.marked += u64::from(stay.marked);
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU8;

    use super::*;
    use crate::platform::{Cache, Memory};

    #[test]
    fn accounts_part_when_something_is_marked() {
        let platform = Platform::load("flick-isca20").unwrap();
        let mut worlds = Worlds::new(&platform);
        let bits = [AtomicU8::new(0b10)];
        let at = |place| Access {
            region: Region::Nxp,
            tile: None,
            place,
            bytes: 8,
            write: false,
        };
        // SAFETY: `bits` has a bit for each 16 of 128 bytes.
        let marks = Some(unsafe { Marks::new(bits.as_ptr(), 0, 128) });
        let cost = |stay: Stay| (stay.cost.memory + stay.cost.tlb) as i64;
        let before = worlds.stay(at(0), 0, None);
        assert!(cost(before) > 0 && before.spare == 0 && !before.marked);
        // The whole cost of a marked access is spare, and nothing of another access.
        let marked = worlds.stay(at(16), 16, marks);
        assert!(marked.marked && marked.spare == cost(marked) && marked.spare > 0);
        let other = worlds.stay(at(32), 32, marks);
        assert!(!other.marked && other.spare == 0 && cost(other) > 0);
    }

    /// A tile's caches hold the memory of others where they hold the host's. It is as far as the file says.
    #[test]
    fn tiles_have_models_of_their_own() {
        let mut platform = Platform::load("flick-isca20").unwrap();
        let mut near = platform.nxp.clone();
        near.tlb = None;
        let cache = |region: Region| {
            let mut holds = [false; 3];
            holds[region as usize] = true;
            Cache {
                size: 1024,
                line: 64,
                ways: 1,
                hit: 1,
                holds,
            }
        };
        near.caches = vec![cache(Region::Host)];
        near.memory[Region::Nxp as usize].byte = 0.0;
        near.memory[Region::Host as usize].byte = 0.0;
        let own = near.memory[Region::Nxp as usize].load;
        let host = near.memory[Region::Host as usize].load;
        let far = Memory {
            load: 7_000_000,
            ..Memory::default()
        };
        near.tiles = vec![("a".to_owned(), far)];
        platform.host.tiles = vec![("b".to_owned(), far)];
        let mut worlds = Worlds::new(&platform);
        let tiles = [
            ("a", &platform.nxp.clone()),
            ("b", &near),
            ("c", &near.clone()),
        ];
        worlds.learn_tiles(&platform.host, &tiles);
        assert_eq!(worlds.tiles(), 3);
        let load = |tile, place| Access {
            region: Region::Nxp,
            tile,
            place,
            bytes: 8,
            write: false,
        };
        let mut of_b = |tile, place| worlds.of_tile(1).access(load(tile, place)).memory;
        // Its own, which nothing holds; that of the first tile; and of one of which the file says nothing.
        assert_eq!([of_b(None, 0), of_b(None, 0)], [own, own]);
        assert_eq!([of_b(Some(0), 64), of_b(Some(0), 72)], [7_000_000, 1]);
        assert_eq!([of_b(Some(2), 128), of_b(Some(2), 128)], [host, 1]);
        // Another tile has caches of its own.
        assert_eq!(
            worlds.of_tile(2).access(load(Some(0), 64)).memory,
            7_000_000
        );
        let nxp = platform.host.memory[Region::Nxp as usize];
        let word = 8 * nxp.byte.round() as u64;
        assert_eq!(worlds.host.access(load(Some(0), 0)).memory, nxp.load + word);
        assert_eq!(worlds.host.access(load(Some(1), 0)).memory, 7_000_000);
    }
}
