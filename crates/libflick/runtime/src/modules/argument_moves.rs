//! The moves of arguments by which the fast path of calls with a signature
//! ([`crate::crossing::signature_path`]) goes from one calling convention to the other, made once
//! for a signature.
//!
//! Registers that agree are not moved. [`crate::crossing::marshal`] does the same for the slow path,
//! argument by argument, and for the signatures that have no moves here: those with vectors of 16
//! bytes, arguments behind dots, or alignments above 16.
mod draft;

use flick_abi::signature::{Class, Item};

pub use draft::{Draft, Move, Moves, use_code};
use draft::{FLOATS, HOST_INTS, MOST_MOVES, MOST_ROOM, NXP_INTS, Place, WORD, in_hart, number};

/// Bytes of a crossing's frame, and the offset in it of where a result is that is in memory; of
/// `thread::activation`, which is above this module (`crossing/signature_path.rs` compares).
pub const FRAME: usize = 912;
pub const RESULT: usize = 824;

/// Whether a result is elsewhere on the other side, where the fast path leaves it.
fn result_is_moved(ret: &[Option<Class>; 2]) -> bool {
    matches!(ret[0], Some(Class::Vector { size: 16 }))
}

/// The next places on the host's side.
struct Host {
    ints: usize,
    floats: usize,
    bytes: usize,
}

impl Host {
    const START: Self = Self {
        ints: 0,
        floats: 0,
        bytes: 0,
    };

    /// Offset among the arguments on the stack.
    fn memory(&mut self, size: usize, align: usize) -> usize {
        let start = self.bytes.next_multiple_of(align.max(WORD));
        self.bytes = start + size.next_multiple_of(WORD);
        start
    }

    /// A register, or an offset on the stack.
    fn int(&mut self) -> Result<usize, usize> {
        if self.ints == HOST_INTS {
            return Err(self.memory(WORD, WORD));
        }
        self.ints += 1;
        Ok(self.ints - 1)
    }

    fn int128(&mut self) -> [Result<usize, usize>; 2] {
        if self.ints + 2 > HOST_INTS {
            self.ints = HOST_INTS;
            let at = self.memory(2 * WORD, 2 * WORD);
            return [Err(at), Err(at + WORD)];
        }
        [self.int(), self.int()]
    }

    /// The same for a vector register.
    fn float(&mut self, is_vector: bool) -> Result<usize, usize> {
        if self.floats == FLOATS {
            let size = if is_vector { 2 * WORD } else { WORD };
            return Err(self.memory(size, size));
        }
        self.floats += 1;
        Ok(self.floats - 1)
    }
}

/// What goes to an integer register, if it is not there.
#[derive(Clone, Copy)]
enum Source {
    Word(Place),
    /// The address of an object on the host's stack.
    Address(i32),
}

/// Words that go to memory, in ascending order. They go before registers change.
struct Words {
    all: [(Place, Place); MOST_MOVES],
    count: usize,
}

impl Words {
    const fn new() -> Self {
        Self {
            all: [(Place::Stack(0), Place::Stack(0)); MOST_MOVES],
            count: 0,
        }
    }

    fn push(&mut self, from: Place, to: Place) -> Option<()> {
        *self.all.get_mut(self.count)? = (from, to);
        self.count += 1;
        Some(())
    }
}

/// Where arguments of one signature go.
struct Arguments {
    draft: Draft,
    words: Words,
    registers: [Option<Source>; HOST_INTS],
}

impl Arguments {
    const fn new() -> Self {
        Self {
            draft: Draft::new(),
            words: Words::new(),
            registers: [None; HOST_INTS],
        }
    }

    fn word(&mut self, from: Place, to: Place) -> Option<()> {
        match to {
            Place::Register(register) => {
                self.registers[register] = Some(Source::Word(from));
                Some(())
            }
            _ => self.words.push(from, to),
        }
    }

    fn address(&mut self, stack: i32, to: Place) -> Option<()> {
        match to {
            Place::Register(register) => {
                self.registers[register] = Some(Source::Address(stack));
                Some(())
            }
            _ => self.draft.address(stack, to),
        }
    }

    /// Memory first, then registers in this order, then the call.
    fn finish(mut self, order: impl Iterator<Item = usize>, call: usize) -> Option<Draft> {
        let draft = &mut self.draft;
        draft.words(&self.words.all[..self.words.count])?;
        for register in order {
            let to = Place::Register(register);
            match self.registers[register] {
                Some(Source::Word(from)) => draft.word(from, to)?,
                Some(Source::Address(stack)) => draft.address(stack, to)?,
                None => {}
            }
        }
        draft.call(call)?;
        (draft.room <= MOST_ROOM).then_some(self.draft)
    }
}

/// Moves for calls of the NxP by the host. While they are made, the host's stack pointer is one word
/// below the activation.
pub fn to_nxp(ret: &[Option<Class>; 2], items: &[Item]) -> Option<Draft> {
    /// From there to the caller's arguments on the stack.
    const ARGUMENTS: usize = WORD + FRAME;
    if result_is_moved(ret) {
        return None;
    }
    let mut host = Host::START;
    let mut ints = 0;
    let mut next = || {
        ints += 1;
        Place::of_nxp(ints - 1)
    };
    let on_stack = |offset: usize| (ARGUMENTS + offset) as i32;
    let place = |at: Result<usize, usize>| match at {
        Ok(register) => Place::Register(register),
        Err(offset) => Place::Stack(on_stack(offset)),
    };
    let mut arguments = Arguments::new();
    for &item in items {
        let class = match item {
            Item::Arg(class) => class,
            // The function finds a `va_list`.
            Item::Variadic => return None,
            Item::End => break,
        };
        match class {
            Class::Int => arguments.word(place(host.int()), next())?,
            Class::Sret => {
                let from = place(host.int());
                let result = Place::Hart(in_hart(RESULT));
                arguments.draft.word(from, result)?;
                arguments.word(from, next())?;
            }
            Class::Int128 => {
                for half in host.int128() {
                    arguments.word(place(half), next())?;
                }
            }
            Class::Vector { size: 16 } => return None,
            Class::F32 | Class::F64 | Class::Vector { .. } => {
                match host.float(matches!(class, Class::Vector { .. })) {
                    Ok(register) if class.is_boxed() => {
                        arguments.draft.boxes |= 1 << register;
                    }
                    Ok(_) => {}
                    // In place of an integer the upper half of a `float` means nothing.
                    Err(offset) => arguments.word(place(Err(offset)), next())?,
                }
            }
            Class::ByVal { size, align } => {
                if align > 16 {
                    return None;
                }
                arguments.draft.is_aligned |= align > 8;
                let at = host.memory(size as usize, align as usize);
                arguments.address(on_stack(at), next())?;
            }
        }
    }
    let words = ints.saturating_sub(NXP_INTS);
    arguments.draft.room = (WORD * words).next_multiple_of(16);
    // No register moves down.
    arguments.finish((0..HOST_INTS).rev(), number::CALL_NXP)
}

/// Moves for calls of the host by the NxP. While they are made, the arguments on the host's stack
/// begin at its stack pointer, a multiple of 16.
pub fn to_host(ret: &[Option<Class>; 2], items: &[Item]) -> Option<Draft> {
    if result_is_moved(ret) {
        return None;
    }
    let mut host = Host::START;
    let (mut ints, mut floats) = (0, 0);
    let mut next = || {
        ints += 1;
        Place::of_nxp(ints - 1)
    };
    let place = |at: Result<usize, usize>| match at {
        Ok(register) => Place::Register(register),
        Err(offset) => Place::Stack(offset as i32),
    };
    let mut arguments = Arguments::new();
    let mut has_dots = false;
    for &item in items {
        let class = match item {
            Item::Arg(_) if has_dots => return None,
            Item::Arg(class) => class,
            Item::Variadic => {
                has_dots = true;
                continue;
            }
            Item::End => break,
        };
        match class {
            Class::Int | Class::Sret => arguments.word(next(), place(host.int()))?,
            Class::Int128 => {
                for half in host.int128() {
                    arguments.word(next(), place(half))?;
                }
            }
            Class::Vector { size: 16 } => return None,
            Class::F32 | Class::F64 | Class::Vector { .. } => {
                let to = host.float(matches!(class, Class::Vector { .. }));
                if floats < FLOATS {
                    floats += 1;
                } else {
                    arguments.word(next(), place(to))?;
                }
            }
            Class::ByVal { size, align } => {
                if align > 16 || size as usize > MOST_ROOM {
                    return None;
                }
                let (size, align) = (size as usize, align as usize);
                let at = host.memory(size, align);
                arguments.draft.object(next(), at, size)?;
            }
        }
    }
    // Behind the return address of the code that calls.
    arguments.draft.room = host.bytes.next_multiple_of(16) + WORD;
    // No register moves up.
    arguments.finish(0..HOST_INTS, number::CALL_HOST)
}

#[cfg(test)]
mod tests;
