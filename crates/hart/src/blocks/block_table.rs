//! A hart's blocks, by virtual address. What an address means depends on privilege, address space and
//! the state of floating point: each such regime has a generation, which the entries have.
use std::cell::Cell;

use super::block_cache::Page;
use super::hart_frame::{KNOWN, Known};
use crate::bus::PAGE;
use crate::decoded_pages::Class;
use crate::privileged_registers::Privilege;

/// Regimes whose entries are kept.
const REGIMES: usize = 16;
const PAGES: usize = 256;
/// Counts of executions, by a hash of the address.
const COUNTS: usize = 1 << 14;

/// What instructions an address leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CodeRegime {
    pub privilege: Privilege,
    /// 0 where addresses are physical.
    pub satp: u64,
    pub class: Class,
}

/// What a hart knows of blocks.
pub struct BlockTable {
    /// Read by blocks.
    pub known: Box<[Cell<Known>; KNOWN]>,
    /// The generation of the current regime.
    pub generation: Cell<u32>,
    /// The address of the first block.
    pub code_base: Cell<u64>,
    /// Executions by the interpreter until code is translated.
    pub hot: u8,
    last_generation: u32,
    regime: CodeRegime,
    regimes: [Option<(CodeRegime, u32)>; REGIMES],
    next_regime: usize,
    pages: Box<[(u64, u32, *const Page); PAGES]>,
    counts: Box<[u8; COUNTS]>,
    /// The pages that entries are of, by bits of a hash; and the first and the last address of larger ones.
    mapped: [u64; MAPPED / 64],
    large: (u64, u64),
    /// [`super::BlockCache`]'s, when the pages were found.
    epoch: u64,
}

/// Bits of the set of pages.
const MAPPED: usize = 2048;
const NO_ADDRESSES: (u64, u64) = (u64::MAX, 0);

/// The word and the bit of the page of an address in the set of pages.
fn mapped_bit(address: u64) -> (usize, u64) {
    let page = address / PAGE;
    let hash = (page ^ (page >> 11) ^ (page >> 22)) as usize % MAPPED;
    (hash / 64, 1 << (hash % 64))
}

const NO_BLOCK: Known = Known {
    pc: 1,
    generation: 0,
    code: 0,
};

impl BlockTable {
    pub fn new(regime: CodeRegime) -> Self {
        let mut table = Self {
            known: Box::new([const { Cell::new(NO_BLOCK) }; KNOWN]),
            generation: Cell::new(0),
            code_base: Cell::new(0),
            hot: 0,
            last_generation: 0,
            regime,
            regimes: [None; REGIMES],
            next_regime: 0,
            pages: Box::new([(1, 0, std::ptr::null()); PAGES]),
            counts: Box::new([0; COUNTS]),
            mapped: [0; MAPPED / 64],
            large: NO_ADDRESSES,
            epoch: 0,
        };
        table.forget();
        table
    }

    /// The hart executes in this regime from now on.
    #[inline]
    pub fn select(&mut self, regime: CodeRegime) {
        if regime != self.regime {
            self.regime = regime;
            self.find_regime();
        }
    }

    fn find_regime(&mut self) {
        let mut known = self.regimes.iter().flatten();
        let known = known.find(|(regime, _)| *regime == self.regime).copied();
        let generation = known.map_or_else(|| self.add_regime(), |(_, generation)| generation);
        self.generation.set(generation);
    }

    fn add_regime(&mut self) -> u32 {
        if self.last_generation == u32::MAX {
            // Generations come again.
            self.known.iter().for_each(|known| known.set(NO_BLOCK));
            self.pages.fill((1, 0, std::ptr::null()));
            self.regimes = [None; REGIMES];
            self.last_generation = 0;
        }
        self.last_generation += 1;
        self.regimes[self.next_regime] = Some((self.regime, self.last_generation));
        self.next_regime = (self.next_regime + 1) % REGIMES;
        self.last_generation
    }

    /// Addresses may lead elsewhere, or blocks are gone.
    pub fn forget(&mut self) {
        self.mapped = [0; MAPPED / 64];
        self.large = NO_ADDRESSES;
        self.regimes = [None; REGIMES];
        self.find_regime();
    }

    /// What follows depends on the entry of a page table that maps `address` with so many bits.
    pub fn depend_on(&mut self, address: u64, bits: u32) {
        match bits {
            // No table.
            64.. => {}
            13.. => {
                let (first, last) = self.large;
                let below = (1 << bits) - 1;
                self.large = (first.min(address & !below), last.max(address | below));
            }
            _ => {
                let (word, bit) = mapped_bit(address);
                self.mapped[word] |= bit;
            }
        }
    }

    /// An entry of a page table that maps `address` may be another one.
    pub fn forget_page(&mut self, address: u64) {
        let (word, bit) = mapped_bit(address);
        let (first, last) = self.large;
        if self.mapped[word] & bit != 0 || (first..=last).contains(&address) {
            self.forget();
        }
    }

    /// Blocks of the cache are gone if it has another epoch now.
    #[inline]
    pub fn follow(&mut self, epoch: u64) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.forget();
        }
    }

    fn entry(&self, pc: u64) -> &Cell<Known> {
        &self.known[(pc / 2) as usize % KNOWN]
    }

    /// The block at `pc`, if it was entered from here before.
    #[inline]
    pub fn block(&self, pc: u64) -> Option<u64> {
        let known = self.entry(pc).get();
        let is_it = known.pc == pc && known.generation == self.generation.get();
        is_it.then(|| self.code_base.get() + u64::from(known.code))
    }

    pub fn add_block(&self, pc: u64, block: u64) {
        let generation = self.generation.get();
        let code = (block - self.code_base.get()) as u32;
        self.entry(pc).set(Known {
            pc,
            generation,
            code,
        });
    }

    /// The blocks of the page of `pc`, null if it has none; `None`: it is not known.
    pub fn page(&self, pc: u64) -> Option<*const Page> {
        let (page, generation, blocks) = self.pages[(pc / PAGE) as usize % PAGES];
        let is_it = page == pc / PAGE * PAGE && generation == self.generation.get();
        is_it.then_some(blocks)
    }

    pub fn add_page(&mut self, pc: u64, page: *const Page) {
        let generation = self.generation.get();
        self.pages[(pc / PAGE) as usize % PAGES] = (pc / PAGE * PAGE, generation, page);
    }

    /// Counts an execution. Is it one too many for the interpreter?
    pub fn is_hot(&mut self, pc: u64) -> bool {
        let count = &mut self.counts[((pc / 2) ^ (pc >> 15)) as usize % COUNTS];
        *count = count.saturating_add(1);
        let is_hot = *count >= self.hot;
        if is_hot {
            *count = 0;
        }
        is_hot
    }
}
