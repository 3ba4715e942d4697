//! Translation of an image at the link (`docs/translator.md`, "Ahead of time").
use std::collections::BTreeSet;
use std::ops::Range;

use flick_abi::layout::{BINDER_SIZE, ENTRY_BEHIND_CALL, TranslatedEntry, TranslatedPiece};
use flick_abi::names::TRANSLATION_WORDS;
use flick_image::linked::{self, Linked};
use flick_image::translation::{Displacement, Home, Homed, Origin, Outside, Place, Translated};
use flick_riscv::{Insn, Isa, illegal};
use flick_translator::{
    Ahead, Counting, Kept, Made, Program, STUB_SIZE, Summary, Target, UnwindRecords, Word,
    is_on_hart,
};

use crate::image_code::ImageCode;

const _: () = assert!(TRANSLATION_WORDS.len() == Word::ALL.len());
const _: () = assert!(BINDER_SIZE as usize == STUB_SIZE);

/// Translates all functions of an image that can be translated. The translation has the origins of
/// its code if the image has source lines.
pub fn translate(linked: &Linked) -> Translated {
    translate_with(linked, &Kept::default()).0
}

/// The same with translations that were `kept`, and what to keep now. The translation does not depend
/// on them.
pub fn translate_with<'a>(linked: &Linked, kept: &Kept<'a>) -> (Translated, Made<'a>) {
    let image = Image::of(linked);
    translate_as(&image, !linked.lines.rows.is_empty(), Counting::None, kept)
}

/// The same code, with its origins in any case.
pub fn translate_with_origins(linked: &Linked) -> Translated {
    translate_as(&Image::of(linked), true, Counting::None, &Kept::default()).0
}

/// Code for harts of a card that have these instructions at least ([`Isa::bits`]), with a debugger: it leaves to
/// the interpreter what they may lack ([`Counting::PastBudget`]).
pub fn translate_for_harts(linked: &Linked, isa: u64) -> Translated {
    let image = Image {
        isa: Some(Isa::from_bits(isa)),
        ..Image::of(linked)
    };
    let has_origins = !linked.lines.rows.is_empty();
    translate_as(&image, has_origins, Counting::PastBudget, &Kept::default()).0
}

fn translate_as<'a>(
    image: &Image,
    has_origins: bool,
    counting: Counting,
    kept: &Kept<'a>,
) -> (Translated, Made<'a>) {
    let functions = image.code.linked.functions.iter();
    let entries: BTreeSet<u64> = functions.map(|f| f.offset).collect();
    let (ahead, made) = Ahead::of(image, &entries, has_origins, counting, kept);
    let place = |place| match place {
        flick_translator::Place::Guest(at) => Place::Image(at),
        flick_translator::Place::Engine(word) => Place::Word(word as usize),
        flick_translator::Place::Cell(n) => Place::Cell(n),
    };
    let displacement = |fixup: &flick_translator::Displacement| Displacement {
        end: fixup.end as u64,
        place: place(fixup.place),
    };
    let piece = |piece: &flick_translator::Piece| TranslatedPiece {
        guest: piece.guest as u32,
        code: piece.code.start as u32,
        size: piece.code.len() as u32,
        states: piece.states.start as u32,
        frame: piece.frame,
    };
    let entry = |entry: &flick_translator::Entry| TranslatedEntry {
        guest: entry.guest as u32,
        code: entry.code as u32
            | if entry.is_return {
                ENTRY_BEHIND_CALL
            } else {
                0
            },
    };
    let origin = |origin: &flick_translator::Origin| Origin {
        code: origin.code,
        guest: origin.guest,
        frame: origin.frame,
        is_cold: origin.is_cold,
    };
    let homed = |homed: &flick_translator::Homed| Homed {
        code: homed.code,
        reg: homed.reg,
        home: match homed.home {
            flick_translator::Home::Nowhere => Home::Nowhere,
            flick_translator::Home::Register(n) => Home::Register(n),
            flick_translator::Home::Vector(n) => Home::Vector(n),
            flick_translator::Home::Stack(offset) => Home::Stack(offset),
            flick_translator::Home::Hart(offset) => Home::Hart(offset),
            flick_translator::Home::Const(k) => Home::Const(k),
            flick_translator::Home::Address(at) => Home::Address(at),
            flick_translator::Home::Sp(offset) => Home::Sp(offset),
        },
        size: homed.size,
        is_extended: homed.is_extended,
    };
    let has_origins = !ahead.origins.is_empty();
    let depths = ahead.pieces.iter().filter(|_| has_origins);
    let (stubs, outermost) = (ahead.stubs.clone(), [(0, 0)]);
    let pieces = ahead
        .pieces
        .iter()
        .map(|piece| (piece.code.clone(), &piece.depths[..]));
    let leaves = ahead.pieces.iter().filter(|piece| piece.is_leaf);
    let leaves = leaves.map(|piece| piece.guest as u32).collect();
    let unwind = UnwindRecords::of(pieces.chain([(stubs, &outermost[..])]));
    let outside = ahead.outside.iter().enumerate();
    let outside = outside.map(|(n, callee)| Outside {
        stub: ahead.stub(n) as u64,
        function: callee.function,
    });
    let (outside, binders) = (outside.collect(), ahead.binder(0) as u64);
    let translated = Translated {
        displacements: ahead.fixups.iter().map(displacement).collect(),
        pieces: ahead.pieces.iter().map(piece).collect(),
        entries: ahead.entries.iter().map(entry).collect(),
        leaves,
        states: ahead.states,
        outside,
        binders,
        origins: ahead.origins.iter().map(origin).collect(),
        homes: ahead.homes.iter().map(homed).collect(),
        depths: depths.map(|piece| piece.depths.clone()).collect(),
        unwind: unwind.bytes,
        unwind_fields: unwind.fields,
        code: ahead.code,
    };
    (translated, made)
}

/// The image before the loader has placed it: addresses count from its start.
#[derive(Clone, Copy)]
struct Image<'a> {
    code: ImageCode<'a>,
    /// The instructions that there are, if there are not all.
    isa: Option<Isa>,
}

impl<'a> Image<'a> {
    fn of(linked: &'a Linked) -> Self {
        let code = ImageCode { linked, base: 0 };
        Self { code, isa: None }
    }

    /// The relocation that begins at `address`.
    fn relocation(&self, address: u64) -> Option<&linked::Relocation> {
        let all = &self.code.linked.relocations;
        let at = all.binary_search_by_key(&address, |relocation| relocation.offset);
        at.ok().map(|at| &all[at])
    }

    /// Whether the loader changes one of these bytes.
    fn is_relocated(&self, address: u64, len: u64) -> bool {
        let all = &self.code.linked.relocations;
        let after = all.partition_point(|relocation| relocation.offset + 8 <= address);
        all.get(after)
            .is_some_and(|relocation| relocation.offset < address + len)
    }
}

impl Program for Image<'_> {
    fn insn(&self, pc: u64) -> Option<Insn> {
        let insn = self.code.insn(pc)?;
        match self.isa {
            Some(isa) if !is_on_hart(isa, insn) => {
                let bits = self.code.word(pc, insn.len())?;
                Some(illegal(bits as u32))
            }
            _ => Some(insn),
        }
    }

    fn function(&self, pc: u64) -> Option<Range<u64>> {
        self.code.function(pc)
    }

    fn constant(&self, address: u64, len: u64) -> Option<u64> {
        if !self.is_relocated(address, len) {
            return self.code.word(address, len);
        }
        let relocation = self.relocation(address).filter(|_| len == 8)?;
        let inside = relocation.target == linked::Target::Image;
        inside.then_some(relocation.addend as u64)
    }

    fn is_placed(&self) -> bool {
        false
    }

    fn entries(&self, range: &Range<u64>) -> Vec<u64> {
        let pads = &self.code.linked.landing_pads;
        let after = |at: u64| pads.partition_point(|&pad| pad < at);
        pads[after(range.start)..after(range.end)].to_vec()
    }

    fn is_address(&self, address: u64) -> bool {
        self.relocation(address).is_some()
    }

    fn jump(&self, pc: u64) -> Option<Vec<u64>> {
        self.code.jump(pc)
    }

    fn summary(&self, pc: u64) -> Option<Summary> {
        self.code.summary(pc)
    }

    fn resolve(&self, target: u64) -> Option<Target> {
        self.code
            .linked
            .text
            .contains(&target)
            .then_some(Target::Guest(target))
    }
}
