//! The engine's observer of a timed run: charges each instruction and access of NxP code to both worlds.
use flick_abi::timed::HostClass;
use flick_engine::Observer;
use flick_riscv::{Class, Insn, Op};

use crate::calls::{NoSampler, Sampler};
use crate::marks::Marks;
use crate::model::{Access, Cost, Pages, View};
use crate::platform::{NxpClass, Platform, Region};

/// What an instruction costs in both worlds. Femtoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Both {
    nxp: u64,
    host: u64,
}

/// What costs the same wherever it is: made once, of a platform.
#[derive(Clone, Debug)]
pub struct Costs {
    by_op: [Both; Op::COUNT],
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
        Class::System => (NxpClass::System, HostClass::Int),
    }
}

impl Costs {
    pub fn new(platform: &Platform) -> Self {
        let mut by_op = [Both::default(); Op::COUNT];
        for op in Op::all() {
            let (nxp, host) = classes(op.class());
            by_op[op as usize] = Both {
                nxp: platform.nxp.costs[nxp as usize],
                host: platform.host.costs[host as usize],
            };
        }
        Self {
            by_op,
            taken: Both {
                nxp: platform.nxp.taken,
                host: platform.host.taken,
            },
        }
    }
}

/// What NxP code has spent. Femtoseconds and counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub instructions: u64,
    /// Loads and stores of NxP-local memory that is no stack.
    pub accesses: u64,
    /// On the NxP: instructions, data, its instruction cache, TLB misses.
    pub compute: u64,
    pub memory: u64,
    pub fetch: u64,
    pub tlb: u64,
    /// The same on the host.
    pub staying_compute: u64,
    pub staying_memory: u64,
    pub staying_tlb: u64,
    /// Of `staying`: what it takes more than it would if the host's memory had what is marked; and accesses to that.
    pub spare: i64,
    pub marked: u64,
}

/// The models of one thread, in both worlds.
pub struct Worlds {
    /// The NxP's memories, migrating.
    pub nxp: View,
    /// The host's, migrating: what its own code does.
    pub host: View,
    /// The host's, staying: what all code does.
    pub staying: View,
    /// The same without accesses to what is marked; as `staying` is until anything is.
    before: View,
    has_before: bool,
    pub pages: Pages,
    /// A model is at work: a signal handler that finds it so leaves the models alone.
    pub busy: bool,
}

impl Spent {
    /// Time on the NxP.
    pub fn migrating(&self) -> u64 {
        self.compute + self.memory + self.fetch + self.tlb
    }

    /// Time of the same on the host.
    pub fn staying(&self) -> u64 {
        self.staying_compute + self.staying_memory + self.staying_tlb
    }
}

impl Worlds {
    pub fn new(platform: &Platform) -> Self {
        Self {
            nxp: View::new(&platform.nxp),
            host: View::new(&platform.host),
            staying: View::new(&platform.host),
            before: View::new(&platform.host),
            has_before: false,
            pages: Pages::default(),
            busy: false,
        }
    }

    /// An access to NxP-local memory, staying: what it costs, and how much less before.
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

/// What an access costs where all code stays on the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stay {
    pub cost: Cost,
    /// Of the cost: what there is not if the host's memory has what is marked.
    pub spare: i64,
    pub marked: bool,
}

/// Where NxP-local memory is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    pub base: u64,
    /// Bytes of heap, from `base` on.
    pub heap: u64,
    /// Bytes of the region, whose end has the stacks.
    pub size: u64,
    /// The image whose code runs, and its bytes: its tables of addresses come with its instructions.
    pub image: u64,
    pub image_size: u64,
    /// Whether an address outside is NxP-local nevertheless (`FLICK_NXP_DATA`).
    pub is_data: Option<fn(u64) -> bool>,
    /// Of the heap: what NxP code has allocated.
    pub marks: Option<Marks>,
}

impl Layout {
    /// Region of an address, and its place there, which does not depend on where the region is.
    #[inline]
    pub fn locate(&self, address: u64, pages: &mut Pages) -> (Region, u64) {
        /// Beyond all offsets in the region: numbered pages, and stacks, which count from the end.
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

/// Prices of accesses to a region that cost always the same: `[load, store]`, each of the access and of a byte.
type Flat = [(u64, u64); 2];

/// Observes one stay on the NxP. What it has counted is in [`Timed::spent`] at the end.
pub struct Timed<'a, S: Sampler = NoSampler> {
    sampler: S,
    costs: &'a Costs,
    worlds: *mut Worlds,
    layout: Layout,
    /// The line that the last access used and that costs nothing again; all ones: none.
    last_line: u64,
    fetch_shift: u32,
    fetch_line: u64,
    /// By region: whether accesses cost always the same on the NxP, and staying.
    flat: [bool; 3],
    nxp: [Flat; 3],
    staying: Flat,
    pub spent: Spent,
}

/// log2 of what `last_line` stands for: no cache has shorter lines (`platform::core`).
const LINE: u32 = 4;

impl<'a, S: Sampler> Timed<'a, S> {
    /// # Safety
    /// `worlds` is the calling thread's, and lives as long as the observer.
    pub unsafe fn new(costs: &'a Costs, worlds: *mut Worlds, layout: Layout, sampler: S) -> Self {
        // SAFETY: by contract.
        let (nxp, staying) = unsafe { (&(*worlds).nxp, &(*worlds).staying) };
        const ALL: [Region; 3] = [Region::Host, Region::Nxp, Region::Stack];
        let prices = |view: &View, region| [view.flat(region, false), view.flat(region, true)];
        let fetch_shift = nxp.fetch_shift();
        let mut flat = ALL.map(|region| nxp.is_flat(region));
        flat[Region::Nxp as usize] &=
            staying.is_flat(Region::Nxp) && layout.is_data.is_none() && layout.marks.is_none();
        flat[Region::Host as usize] &= layout.is_data.is_none();
        Self {
            sampler,
            costs,
            worlds,
            layout,
            last_line: u64::MAX,
            // No fetch is ever of another line where fetches are free.
            fetch_shift: fetch_shift.unwrap_or(63),
            fetch_line: if fetch_shift.is_some() { u64::MAX } else { 0 },
            flat,
            nxp: ALL.map(|region| prices(nxp, region)),
            staying: prices(staying, Region::Nxp),
            spent: Spent::default(),
        }
    }

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
        // SAFETY: `worlds` is this thread's. A handler that interrupts this sees `busy` and leaves it alone.
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
            place,
            bytes,
            write,
        };
        let cost = worlds.nxp.access(access);
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
        // The same line again is a hit that changes nothing, if it is a hit that costs nothing.
        self.last_line =
            if cost == Cost::default() && stay.cost == Cost::default() && stay.spare == 0 {
                address >> LINE
            } else {
                u64::MAX
            };
        worlds.busy = false;
    }

    /// A load of the image's own: of where a host function is. A linker that did not have to leave that to the dynamic
    /// loader would have put it into the instructions (paper, section IV.C).
    #[inline(never)]
    fn fetch_table(&mut self, address: u64) {
        // The next instruction is fetched anew: a hit, if it was there.
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
        let cost = worlds.nxp.fetch(place);
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

    #[inline(always)]
    fn instructions(&self) -> Option<u64> {
        Some(self.spent.instructions)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU8;

    use super::*;

    #[test]
    fn accounts_part_when_something_is_marked() {
        let platform = Platform::load("flick-isca20").unwrap();
        let mut worlds = Worlds::new(&platform);
        let bits = [AtomicU8::new(0b10)];
        let at = |place| Access {
            region: Region::Nxp,
            place,
            bytes: 8,
            write: false,
        };
        // SAFETY: a bit for each 16 of 128 bytes.
        let marks = Some(unsafe { Marks::new(bits.as_ptr(), 0, 128) });
        let cost = |stay: Stay| (stay.cost.memory + stay.cost.tlb) as i64;
        let before = worlds.stay(at(0), 0, None);
        assert!(cost(before) > 0 && before.spare == 0 && !before.marked);
        // All of it, but for what is not marked.
        let marked = worlds.stay(at(16), 16, marks);
        assert!(marked.marked && marked.spare == cost(marked) && marked.spare > 0);
        let other = worlds.stay(at(32), 32, marks);
        assert!(!other.marked && other.spare == 0 && cost(other) > 0);
    }
}
