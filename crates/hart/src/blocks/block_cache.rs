//! All blocks of a machine, by physical page. Blocks of a page lead to each other directly, and go
//! together when an instruction of them is overwritten. When the memory for code is full, all go.
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use flick_riscv::Insn;
use flick_translator::CodePages;

use super::block_stubs::{self, Stubs};
use super::emitter::{Emitter, Entries};
use super::hart_frame::Frame;
use super::region::{HalfWords, Region, SLOTS};
use super::x86_code::X86Code;
use crate::bus::PAGE;
use crate::decoded_pages::{Class, PageHasher};

/// Bytes of code.
pub const ROOM: usize = 64 << 20;
/// As many bytes are free when a region is translated.
const MARGIN: usize = 128 << 10;
/// Pages with blocks: each takes 16 KiB.
const MOST_PAGES: usize = 4096;

/// The blocks of a page at one virtual address, for one class of harts.
pub struct Page {
    virtual_page: u64,
    class: Class,
    /// Addresses of blocks by half-word, or that of [`Stubs::unknown`]. Blocks of the page read them.
    entries: Box<[Cell<u64>; SLOTS]>,
    unknown: u64,
}

impl Page {
    /// The block at an address in the page.
    #[inline]
    pub fn block_at(&self, pc: u64) -> Option<u64> {
        self.block((pc % PAGE / 2) as usize)
    }
}

impl Entries for Page {
    #[inline]
    fn block(&self, at: usize) -> Option<u64> {
        Some(self.entries[at].get()).filter(|&entry| entry != self.unknown)
    }

    fn cell(&self, at: usize) -> u64 {
        (&raw const self.entries[at]).expose_provenance() as u64
    }
}

/// What a physical page has.
#[derive(Default)]
struct Physical {
    #[expect(clippy::vec_box, reason = "harts have the addresses of pages")]
    pages: Vec<Box<Page>>,
    /// Half-words of which there are blocks.
    covered: HalfWords,
}

/// The blocks.
pub struct BlockCache {
    frame: Frame,
    stubs: Stubs,
    memory: CodePages,
    /// Bytes of code that the stubs have, and that are used.
    first: usize,
    used: usize,
    physical: HashMap<u64, Physical, BuildHasherDefault<PageHasher>>,
    pages: usize,
}

impl BlockCache {
    /// An empty one; `None`: the host has no such processor, or no memory.
    pub fn new(frame: Frame, room: usize) -> Option<Self> {
        flick_translator::features::check().ok()?;
        let mut memory = CodePages::new(room).ok()?;
        let mut code = X86Code::new(memory.address());
        let stubs = block_stubs::emit(&mut code, &frame);
        let bytes = code.finish();
        let first = bytes.len().next_multiple_of(64);
        memory.write(0, &bytes).then_some(Self {
            frame,
            stubs,
            memory,
            first,
            used: first,
            physical: HashMap::default(),
            pages: 0,
        })
    }

    /// Are blocks made for harts of this kind?
    pub fn is_for(&self, kind: &str) -> bool {
        self.frame.kind == kind
    }

    /// See [`Stubs::enter`].
    pub fn enter(&self) -> u64 {
        self.stubs.enter
    }

    /// The address of code at distance 0.
    pub fn base(&self) -> u64 {
        self.memory.address()
    }

    /// The blocks of a physical page, at a virtual one.
    pub fn page(&self, physical: u64, virtual_page: u64, class: Class) -> Option<&Page> {
        let pages = &self.physical.get(&physical)?.pages;
        let page = pages
            .iter()
            .find(|page| page.virtual_page == virtual_page && page.class == class);
        page.map(|page| &**page)
    }

    /// Translates the region at `pc`, which is in the page at a physical address. `None`: there is no
    /// instruction. The second answer: all other blocks have gone.
    pub fn translate(
        &mut self,
        physical: u64,
        pc: u64,
        class: Class,
        decode: impl FnMut(u64) -> Option<Insn>,
    ) -> (Option<&Page>, bool) {
        let virtual_page = pc / PAGE * PAGE;
        let mut is_emptied = false;
        if self.pages >= MOST_PAGES || self.used + MARGIN > self.memory.size() {
            self.clear();
            is_emptied = true;
        }
        let unknown = self.stubs.unknown;
        let of_page = self.physical.entry(physical).or_default();
        let known = of_page
            .pages
            .iter()
            .position(|page| page.virtual_page == virtual_page && page.class == class);
        let known = known.unwrap_or_else(|| {
            self.pages += 1;
            of_page.pages.push(Box::new(Page {
                virtual_page,
                class,
                entries: Box::new([const { Cell::new(0) }; SLOTS]),
                unknown,
            }));
            let entries = &of_page.pages[of_page.pages.len() - 1].entries;
            entries.iter().for_each(|entry| entry.set(unknown));
            of_page.pages.len() - 1
        });
        let page = &*of_page.pages[known];
        let mut region = Region::find(pc, |at| page.block(at).is_some(), decode);
        region.is_compressed = class.isa.has(flick_riscv::Extension::C);
        if region.insn(pc).is_none() {
            return (None, is_emptied);
        }
        let address = self.memory.address() + self.used as u64;
        let emitted = Emitter::emit(address, &self.frame, &self.stubs, &region, page);
        if !self.memory.write(self.used, &emitted.bytes) {
            return (None, is_emptied);
        }
        self.used = (self.used + emitted.bytes.len()).next_multiple_of(64);
        for (at, block) in emitted.entries {
            page.entries[at].set(block);
        }
        for at in region.half_words() {
            of_page.covered.insert(at);
        }
        (Some(page), is_emptied)
    }

    /// Has a physical page blocks of these half-words?
    pub fn covers(&self, physical: u64, mut half_words: std::ops::Range<usize>) -> bool {
        let page = self.physical.get(&physical);
        page.is_some_and(|page| half_words.any(|at| page.covered.has(at)))
    }

    /// Forgets the blocks of a physical page.
    pub fn remove(&mut self, physical: u64) {
        if let Some(page) = self.physical.remove(&physical) {
            self.pages -= page.pages.len();
        }
    }

    /// Forgets all blocks.
    pub fn clear(&mut self) {
        self.physical.clear();
        self.pages = 0;
        self.used = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoded_pages::Floats;

    const FRAME: Frame = Frame {
        kind: "",
        left: 0,
        tlb: 0,
        generation: 0,
        table: 0,
        code_generation: 0,
        code_base: 0,
        view: 0,
        processor: 0,
        load: 0,
        store: 0,
        step: 0,
    };
    /// `addi a0, a0, 1`.
    const ADD: u32 = 0x0015_0513;

    #[test]
    fn blocks_go_when_they_are_overwritten_or_too_many() {
        let class = Class {
            isa: "rv64i".parse().unwrap(),
            floats: Floats::Off,
        };
        let decode = |_| Some(flick_riscv::decode(ADD));
        let mut cache = BlockCache::new(FRAME, 256 << 10).unwrap();
        let (page, is_emptied) = cache.translate(0x1000, 0x5100, class, decode);
        assert!(!is_emptied);
        let block = page.unwrap().block_at(0x5100).unwrap();
        assert_eq!(page.unwrap().block_at(0x50fc), None);
        assert!(cache.page(0x1000, 0x5000, class).is_some());
        assert!(cache.page(0x1000, 0x6000, class).is_none());
        assert!(cache.covers(0x1000, 0x80..0x81) && !cache.covers(0x1000, 0..0x80));
        // What is known already is not translated again.
        let page = cache.translate(0x1000, 0x50fc, class, decode).0.unwrap();
        assert_eq!(page.block_at(0x5100), Some(block));
        cache.remove(0x1000);
        assert!(cache.page(0x1000, 0x5000, class).is_none());
        assert!(!cache.covers(0x1000, 0x80..0x81));

        let all = (2..1000).find(|n| cache.translate(n << 12, n << 12, class, decode).1);
        let last = all.expect("the memory for code is bounded");
        assert!(cache.page(0x2000, 0x2000, class).is_none());
        assert!(cache.page(last << 12, last << 12, class).is_some());
    }
}
