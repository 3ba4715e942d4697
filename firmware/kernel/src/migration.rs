//! Migration between harts with unequal extensions: a thread moves to a hart that has the instruction
//! which its own hart lacks, without its knowing (`docs/migration.md`).
//!
//! The kernel does not decode extensions. A hart whose instruction is illegal has shown that harts of its
//! kind lack it; those of other kinds try it. Where the word tells which kind of extension it needs, only
//! harts that have it try.
use flick_abi::card::{Error, hint as extension};
use flick_kernel_core::lines::MOST_HARTS;
use flick_kernel_core::threads::Place;

use crate::kernel::{Answer, Caller, Kernel, value};
use crate::trace_points::point;
use crate::vector_state::is_vector;

/// The extensions that words tell.
const TOLD: [u64; 3] = [extension::VECTORS, extension::FLOATS, extension::CUSTOM];

const NAMES: [&str; TOLD.len()] = ["vectors", "floating point", "this vendor's instruction"];

/// Harts by what they have.
#[derive(Clone, Copy, Debug)]
pub struct Kinds {
    /// Harts with the same ISA as each hart, as bits.
    alike: [u64; MOST_HARTS],
    /// Harts with each of [`TOLD`].
    having: [u64; TOLD.len()],
}

impl Kinds {
    /// No hart.
    pub const fn new() -> Self {
        Self {
            alike: [0; MOST_HARTS],
            having: [0; TOLD.len()],
        }
    }

    /// Adds a hart with an ISA string; `all` has those of the harts before.
    pub fn add<'a>(&mut self, hart: usize, isa: &'a [u8], all: &mut [&'a [u8]]) {
        all[hart] = isa;
        let bit = 1 << hart;
        let alike = (0..hart).find(|&other| all[other] == isa);
        let bits = alike.map_or(0, |other| self.alike[other]) | bit;
        for other in 0..=hart {
            if bits >> other & 1 != 0 {
                self.alike[other] = bits;
            }
        }
        if let Some(other) = alike {
            let same = self.having.iter_mut();
            return same.for_each(|harts| *harts |= (*harts >> other & 1) << hart);
        }
        let has = extensions(isa);
        for (harts, told) in self.having.iter_mut().zip(TOLD) {
            *harts |= if has & told != 0 { bit } else { 0 };
        }
    }

    /// Of these harts, those that are not as the first one.
    pub fn special(&self, harts: u64) -> u64 {
        let first = harts.trailing_zeros() as usize;
        self.alike.get(first).map_or(0, |alike| harts & !alike)
    }

    /// Harts that are as this one, as bits.
    pub fn alike(&self, hart: usize) -> u64 {
        self.alike[hart]
    }

    /// What words tell of the extensions of a hart.
    pub fn told(&self, hart: u8) -> u64 {
        let all = self.having.iter().zip(TOLD);
        let has = all.filter(|(having, _)| *having >> hart & 1 != 0);
        has.fold(0, |all, (_, told)| all | told)
    }

    /// Harts with these extensions.
    fn with(&self, wanted: u64) -> u64 {
        let all = self.having.iter().zip(TOLD);
        all.fold(u64::MAX, |harts, (having, told)| {
            if wanted & told == 0 {
                harts
            } else {
                harts & having
            }
        })
    }
}

/// Extensions of an ISA string: letters of its first word, and whether it names a vendor's.
fn extensions(isa: &[u8]) -> u64 {
    let mut words = isa.split(|&byte| byte == b'_');
    let letters = words.next().unwrap_or(b"").get(4..).unwrap_or(b"");
    let of_letter = |&letter: &u8| match letter {
        b'v' => extension::VECTORS,
        b'd' | b'g' => extension::FLOATS,
        _ => 0,
    };
    let letters = letters.iter().map(of_letter).fold(0, |all, bit| all | bit);
    let is_custom = words.any(|word| word.first() == Some(&b'x'));
    letters | if is_custom { extension::CUSTOM } else { 0 }
}

/// What an instruction needs, if its word tells (unprivileged manual, "RV32/64G Instruction Set Listings").
pub fn needs(word: u64) -> u64 {
    match word & 0x7f {
        _ if is_vector(word) => extension::VECTORS,
        0x07 | 0x27 | 0x43 | 0x47 | 0x4b | 0x4f | 0x53 => extension::FLOATS,
        0x0b | 0x2b | 0x5b | 0x7b => extension::CUSTOM,
        // Compressed loads and stores of floating point.
        code if code & 3 != 3 && word >> 13 & 3 == 1 && code & 1 == 0 => extension::FLOATS,
        _ => 0,
    }
}

impl Kernel {
    /// The caller's hart lacks an instruction: the thread shall run where it is, perhaps. False: no hart
    /// that it may run on has it.
    pub fn moves_for(&mut self, caller: Caller, pc: u64, word: u64) -> bool {
        if self.dispatch.threads.special == 0 {
            return false;
        }
        let alike = self.map.kinds.alike[usize::from(caller.hart)];
        let wanted = self.map.kinds.with(needs(word)) & self.dispatch.harts();
        let allowed = self.allowed(caller.thread);
        let [stuck_at, tried] = &mut self.context(caller.thread).exception;
        // A hart of this kind has it illegal again: the thread has gone on from it in between.
        if *stuck_at != pc || *tried & alike != 0 {
            (*stuck_at, *tried) = (pc, 0);
        }
        *tried |= alike;
        let harts = allowed & wanted & !*tried;
        if harts == 0 {
            self.runs_anywhere(caller.thread);
            return false;
        }
        point!("move", pc, word);
        self.narrow(caller.thread, harts);
        true
    }

    /// The harts that the process of a thread lets it run on.
    pub fn allowed(&self, place: Place) -> u64 {
        self.lines[usize::from(place)].harts()
    }

    /// The thread runs on these harts alone for now.
    fn narrow(&mut self, place: Place, harts: u64) {
        let thread = &mut self.dispatch.threads[place];
        (thread.harts, thread.is_away) = (harts, true);
    }

    /// Says why an illegal instruction was none that another hart has.
    pub fn explain_illegal(&mut self, word: u64) {
        let needed = TOLD.iter().position(|&told| needs(word) == told);
        let name = needed.map_or("this instruction", |told| NAMES[told]);
        if self.dispatch.threads.special != 0 {
            crate::report!(
                self.console,
                "kernel:   no hart that it may run on has {name}\n"
            );
        }
    }

    /// A thread that leaves its hart for others, or waits, needs no extension until it traps again.
    pub fn runs_anywhere(&mut self, place: Place) {
        if self.dispatch.threads[place].is_away {
            let harts = self.allowed(place);
            let thread = &mut self.dispatch.threads[place];
            (thread.harts, thread.is_away) = (harts, false);
            #[cfg(feature = "host")]
            if let Some(hint) = self.hint_of(place) {
                let _: Result<(), Error> = self.hint(place, hint);
            }
        }
    }

    /// The thread runs on harts with what a hint says.
    fn hint(&mut self, place: Place, what: u64) -> Result<(), Error> {
        let wanted = match what {
            extension::GENERAL => !self.dispatch.threads.special,
            _ if what & !(extension::VECTORS | extension::FLOATS | extension::CUSTOM) != 0 => {
                return Err(Error::Invalid);
            }
            _ => self.map.kinds.with(what),
        };
        let allowed = self.allowed(place);
        match allowed & wanted & self.dispatch.harts() {
            0 => Err(Error::NotFound),
            harts => {
                self.narrow(place, harts);
                Ok(())
            }
        }
    }

    /// The thread of an owner has given a hint. That which holds from now on, until the next one.
    #[cfg(feature = "host")]
    pub fn hint_holds(&mut self, place: Place, what: u64) -> u64 {
        match self.hint(place, what) {
            Ok(()) => what,
            Err(_) => extension::GENERAL,
        }
    }
}

/// `hint`: what the caller executes next.
#[inline(never)]
pub fn hint(kernel: &mut Kernel, caller: Caller, what: u64) -> Answer {
    kernel.hint(caller.thread, what)?;
    value(0)
}
