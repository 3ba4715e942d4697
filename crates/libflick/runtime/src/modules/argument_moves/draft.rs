//! Moves of one signature, as they are made: the places of arguments, and what moves between them.
use core::mem::offset_of;
use std::sync::atomic::{AtomicPtr, Ordering};

use flick_engine::Hart;
use flick_riscv::register::A6;
use flick_translator::{Context, HART_BIAS};

pub use number::{FLOATS, MOST_WORDS, REGISTERS, SMALL_OBJECT};

/// One move: code of the fast path, and its operands.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Move {
    pub code: usize,
    from: i32,
    to: i32,
}

impl Move {
    pub const FROM: usize = offset_of!(Self, from);
    pub const TO: usize = offset_of!(Self, to);
}

/// A direction's moves; the last of them makes the call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Moves {
    /// Null: the slow path makes such calls.
    pub first: *const Move,
    /// Bytes that the arguments take on the stack of the callee's side.
    pub room: u64,
    /// Objects on the host's stack are aligned to 16 if its pointer is.
    pub is_aligned: bool,
}

impl Moves {
    pub const NONE: Self = Self {
        first: std::ptr::null(),
        room: 0,
        is_aligned: false,
    };
}

const POINTER: usize = REGISTERS - 1;
pub const HOST_INTS: usize = 6;
pub const NXP_INTS: usize = 8;
/// Bytes of a stack that the fast path takes for arguments at most.
pub const MOST_ROOM: usize = 1 << 10;
pub const MOST_MOVES: usize = 64;
pub const WORD: usize = 8;

/// Numbers of moves, in the order of the fast path's table of them.
pub mod number {
    pub const FLOATS: usize = 8;
    /// Words that one move takes at most, and those of a struct.
    pub const MOST_WORDS: usize = 10;
    pub const SMALL_OBJECT: usize = 4;
    /// Kinds of memory: the host's stack, the hart, the NxP's stack.
    pub const MEMORIES: usize = 3;
    /// The registers that moves name: the host's integer arguments in order, and one in which the
    /// address of a struct is.
    pub const REGISTERS: usize = 7;

    pub const CALL_NXP: usize = 0;
    /// Words from memory to memory.
    pub const STACK_TO_HART: usize = 1;
    pub const STACK_TO_NXP: usize = 2;
    pub const HART_TO_STACK: usize = 3;
    pub const NXP_TO_STACK: usize = 4;
    /// The address of an object on the host's stack.
    pub const ADDRESS_TO_HART: usize = 5;
    pub const ADDRESS_TO_NXP: usize = 6;
    /// Of a large struct, whose address is in the pointer register, to the host's stack.
    pub const WORDS: usize = 7;
    pub const BYTES: usize = 8;
    /// The registers in which structs are copied have their old values again.
    pub const RESTORE: usize = 9;
    pub const BOX: usize = 10;
    /// The NxP's integer arguments from the seventh on: 2, 3, ... words.
    pub const TO_NXP: usize = BOX + FLOATS;
    pub const TO_HOST: usize = TO_NXP + MOST_WORDS - 1;
    /// Structs of 1, 2, ... words by the register with their address.
    pub const OBJECT: usize = TO_HOST + MOST_WORDS - 1;
    pub const REGISTER: usize = OBJECT + SMALL_OBJECT * REGISTERS;
    pub const LOAD: usize = REGISTER + REGISTERS * REGISTERS;
    pub const STORE: usize = LOAD + MEMORIES * REGISTERS;
    pub const ADDRESS: usize = STORE + MEMORIES * REGISTERS;
    /// The same with the call: boxes of the first registers, by their bits, from 1 on.
    pub const BOXES_CALL: usize = ADDRESS + REGISTERS;
    pub const TO_NXP_CALL: usize = BOXES_CALL + (1 << BOXES) - 1;
    pub const ADDRESS_CALL: usize = TO_NXP_CALL + MOST_WORDS - 1;
    pub const TO_HOST_CALL: usize = ADDRESS_CALL + REGISTERS - 1;
    pub const OBJECT_CALL: usize = TO_HOST_CALL + MOST_WORDS - 1;
    pub const CALL_HOST: usize = OBJECT_CALL + SMALL_OBJECT * (REGISTERS - 1);
    pub const COUNT: usize = CALL_HOST + 1;

    /// Boxes that one move makes at most.
    pub const BOXES: usize = 4;

    /// The move that makes this one and the call.
    pub fn with_call(number: usize) -> Option<usize> {
        match number {
            TO_NXP..TO_HOST => Some(number - TO_NXP + TO_NXP_CALL),
            TO_HOST..OBJECT => Some(number - TO_HOST + TO_HOST_CALL),
            OBJECT..REGISTER => {
                let by_pointer = SMALL_OBJECT * (REGISTERS - 1);
                (number - OBJECT < by_pointer).then(|| number - OBJECT + OBJECT_CALL)
            }
            ADDRESS..BOXES_CALL => {
                let register = number - ADDRESS;
                (register < REGISTERS - 1).then(|| register + ADDRESS_CALL)
            }
            _ => None,
        }
    }
}

unsafe extern "C" {
    /// libflick's code by [`number`], from here on.
    pub static __flick_moves: [i32; number::COUNT];
}

/// Such a table: that of the copy of the code which moves lead to.
static MOVES: AtomicPtr<i32> = AtomicPtr::new(&raw const __flick_moves as *mut i32);

/// From now on, signatures get moves of this code. Those of before keep theirs: moves of both copies
/// may follow each other.
///
/// # Safety
/// `table` has the distances of all moves from it, and never changes.
pub unsafe fn use_code(table: *const i32) {
    MOVES.store(table.cast_mut(), Ordering::Relaxed);
}

/// The code of a move.
pub fn code_of(number: usize) -> usize {
    assert!(number < number::COUNT);
    let table = MOVES.load(Ordering::Relaxed).cast_const();
    // SAFETY: a table that has this number and never changes.
    let distance = unsafe { table.add(number).read() };
    table as usize + distance as usize
}

/// Where an argument is, or goes. Memory counts from the register that the fast path has for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Register(usize),
    Stack(i32),
    Hart(i32),
    Nxp(i32),
}

impl Place {
    /// Number among the kinds of memory, and offset; `None`: a register.
    fn memory(self) -> Option<(usize, i32)> {
        match self {
            Self::Register(_) => None,
            Self::Stack(at) => Some((0, at)),
            Self::Hart(at) => Some((1, at)),
            Self::Nxp(at) => Some((2, at)),
        }
    }

    /// The NxP's `n`th integer argument.
    pub fn of_nxp(n: usize) -> Self {
        match n {
            0..HOST_INTS => Self::Register(n),
            HOST_INTS..NXP_INTS => Self::Hart(in_hart(x(A6 + n - HOST_INTS))),
            _ => Self::Nxp((WORD * (n - NXP_INTS)) as i32),
        }
    }
}

/// Offset of a register in an activation, which begins with its context.
const fn x(number: usize) -> usize {
    offset_of!(Context, hart) + offset_of!(Hart, x) + 8 * number
}

/// As moves have it, from the start of an activation.
pub fn in_hart(offset: usize) -> i32 {
    offset as i32 - HART_BIAS
}

/// Moves in the order in which they are made, with the stack that they need.
pub struct Draft {
    moves: [Move; MOST_MOVES],
    count: usize,
    /// The number of the last move.
    last: usize,
    /// Registers with a `float` that is to be boxed, by their bits.
    pub boxes: usize,
    pub room: usize,
    pub is_aligned: bool,
}

impl Draft {
    pub const fn new() -> Self {
        const UNUSED: Move = Move {
            code: 0,
            from: 0,
            to: 0,
        };
        Self {
            moves: [UNUSED; MOST_MOVES],
            count: 0,
            last: number::CALL_HOST,
            boxes: 0,
            room: 0,
            is_aligned: false,
        }
    }

    /// The moves in memory that `kept` provides.
    pub fn keep(self, kept: impl FnOnce(usize, &[Move]) -> &'static [Move]) -> Moves {
        Moves {
            first: kept(self.count, &self.moves).as_ptr(),
            room: self.room as u64,
            is_aligned: self.is_aligned,
        }
    }

    pub fn push(&mut self, number: usize, from: i32, to: i32) -> Option<()> {
        self.last = number;
        let code = code_of(number);
        *self.moves.get_mut(self.count)? = Move { code, from, to };
        self.count += 1;
        Some(())
    }

    /// The boxes and the call. A jump through a register costs more than a move, so the last move
    /// makes the call if there is such a move.
    pub fn call(&mut self, call: usize) -> Option<()> {
        const FIRST: usize = (1 << number::BOXES) - 1;
        for register in number::BOXES..FLOATS {
            if self.boxes & (1 << register) != 0 {
                self.push(number::BOX + register, 0, 0)?;
            }
        }
        match (self.boxes & FIRST, number::with_call(self.last)) {
            (0, Some(last)) => {
                self.moves[self.count - 1].code = code_of(last);
                Some(())
            }
            (0, None) => self.push(call, 0, 0),
            (boxes, _) => self.push(number::BOXES_CALL + boxes - 1, 0, 0),
        }
    }

    /// A word; `None`: there is no such move, or no room for it.
    pub fn word(&mut self, from: Place, to: Place) -> Option<()> {
        use Place::{Hart, Nxp, Register, Stack};
        match (from, to) {
            _ if from == to => Some(()),
            (Register(from), Register(to)) => {
                self.push(number::REGISTER + REGISTERS * from + to, 0, 0)
            }
            (Register(register), _) => {
                let (kind, at) = to.memory()?;
                self.push(number::STORE + REGISTERS * kind + register, 0, at)
            }
            (_, Register(register)) => {
                let (kind, at) = from.memory()?;
                self.push(number::LOAD + REGISTERS * kind + register, at, 0)
            }
            (Stack(from), Hart(to)) => self.push(number::STACK_TO_HART, from, to),
            (Stack(from), Nxp(to)) => self.push(number::STACK_TO_NXP, from, to),
            (Hart(from), Stack(to)) => self.push(number::HART_TO_STACK, from, to),
            (Nxp(from), Stack(to)) => self.push(number::NXP_TO_STACK, from, to),
            _ => None,
        }
    }

    /// Words in ascending order.
    pub fn words(&mut self, mut all: &[(Place, Place)]) -> Option<()> {
        while let Some(&(from, to)) = all.first() {
            // The arguments from the seventh on, and words behind each other.
            let pair = |n: usize| {
                let (nxp, distance) = (Place::of_nxp(HOST_INTS + n), (WORD * n) as i32);
                match (from, to) {
                    (Place::Stack(at), _) => (Place::Stack(at + distance), nxp),
                    (_, Place::Stack(at)) => (nxp, Place::Stack(at + distance)),
                    _ => (nxp, nxp),
                }
            };
            let most = all.len().min(MOST_WORDS);
            let count = (0..most).take_while(|&n| all[n] == pair(n)).count();
            let taken = match (from, to) {
                (Place::Stack(from), _) if count >= 2 => {
                    self.push(number::TO_NXP + count - 2, from, 0)?;
                    count
                }
                (_, Place::Stack(to)) if count >= 2 => {
                    self.push(number::TO_HOST + count - 2, 0, to)?;
                    count
                }
                _ => {
                    self.word(from, to)?;
                    1
                }
            };
            all = &all[taken..];
        }
        Some(())
    }

    /// The address of an object on the host's stack.
    pub fn address(&mut self, stack: i32, to: Place) -> Option<()> {
        match to {
            Place::Register(register) => self.push(number::ADDRESS + register, stack, 0),
            Place::Hart(to) => self.push(number::ADDRESS_TO_HART, stack, to),
            Place::Nxp(to) => self.push(number::ADDRESS_TO_NXP, stack, to),
            Place::Stack(_) => None,
        }
    }

    /// The struct whose address is at `from`, to the host's stack.
    pub fn object(&mut self, from: Place, stack: usize, size: usize) -> Option<()> {
        let words = size / WORD * WORD;
        if size == words && (1..=SMALL_OBJECT).contains(&(words / WORD)) {
            let by = |register| number::OBJECT + SMALL_OBJECT * register + words / WORD - 1;
            if let Place::Register(register) = from {
                return self.push(by(register), 0, stack as i32);
            }
            self.word(from, Place::Register(POINTER))?;
            self.push(by(POINTER), 0, stack as i32)?;
            return self.push(number::RESTORE, 0, 0);
        }
        self.word(from, Place::Register(POINTER))?;
        if words != 0 {
            self.push(number::WORDS, stack as i32, words as i32)?;
        }
        if size != words {
            let at = (stack + words) as i32;
            self.push(number::BYTES, at, (size - words) as i32)?;
        }
        self.push(number::RESTORE, 0, 0)
    }
}
