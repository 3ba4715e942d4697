//! An assembler for the x86-64 instructions that blocks consist of (Intel SDM, volume 2). Blocks are
//! many and short-lived, so that it has to be quick: it appends bytes, and knows nothing of RISC-V.

/// A general register, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpr(pub u8);

pub const RAX: Gpr = Gpr(0);
pub const RCX: Gpr = Gpr(1);
pub const RDX: Gpr = Gpr(2);
pub const RBX: Gpr = Gpr(3);
pub const RSP: Gpr = Gpr(4);
pub const RBP: Gpr = Gpr(5);
pub const RSI: Gpr = Gpr(6);
pub const RDI: Gpr = Gpr(7);
pub const R8: Gpr = Gpr(8);
pub const R9: Gpr = Gpr(9);
pub const R10: Gpr = Gpr(10);
pub const R11: Gpr = Gpr(11);
pub const R12: Gpr = Gpr(12);
pub const R13: Gpr = Gpr(13);
pub const R14: Gpr = Gpr(14);
pub const R15: Gpr = Gpr(15);

/// An operand: a register, or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Reg(Gpr),
    /// At a register's value and a distance.
    At(Gpr, i32),
    /// At a base, an index times a power of two (its exponent), and a distance.
    Scaled(Gpr, Gpr, u8, i32),
}

/// Bits of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    W32,
    W64,
}
pub use Width::{W32, W64};

/// Operations with two operands, by the number that their encodings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Cmp = 7,
}

/// Shifts, by the number that their encodings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Shift {
    Rol = 0,
    Ror = 1,
    Shl = 4,
    Shr = 5,
    Sar = 7,
}

/// Conditions, by their numbers; an odd one is the opposite of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cond {
    Overflow = 0,
    Below = 2,
    AboveEqual = 3,
    Equal = 4,
    NotEqual = 5,
    Above = 7,
    Parity = 10,
    Less = 12,
    GreaterEqual = 13,
    Greater = 15,
}

/// A place in the code that is not known yet, or is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

const UNBOUND: usize = usize::MAX;

/// Code that will run at an address.
pub struct X86Code {
    bytes: Vec<u8>,
    address: u64,
    labels: Vec<usize>,
    /// Places of 32-bit displacements, and the labels to which they lead.
    fixups: Vec<(usize, Label)>,
}

impl X86Code {
    pub fn new(address: u64) -> Self {
        Self {
            bytes: Vec::with_capacity(4096),
            address,
            labels: vec![],
            fixups: vec![],
        }
    }

    /// The address of what comes next.
    pub fn here(&self) -> u64 {
        self.address + self.bytes.len() as u64
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() - 1)
    }

    pub fn bind(&mut self, label: Label) {
        self.labels[label.0] = self.bytes.len();
    }

    /// The address of a label that is bound.
    pub fn address_of(&self, label: Label) -> u64 {
        self.address + self.labels[label.0] as u64
    }

    /// The bytes, with all jumps to labels.
    pub fn finish(mut self) -> Vec<u8> {
        for (at, label) in std::mem::take(&mut self.fixups) {
            let target = self.labels[label.0];
            debug_assert_ne!(target, UNBOUND, "a label has no place");
            let distance = target as i32 - (at as i32 + 4);
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.bytes
    }

    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn word(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// `prefix` (or 0), REX, opcode, and the operands. `is_byte`: register operands of one byte, of which
    /// some need a REX.
    fn op(&mut self, prefix: u8, width: Width, opcode: &[u8], reg: u8, rm: Place, is_byte: bool) {
        if prefix != 0 {
            self.byte(prefix);
        }
        let (index, base) = match rm {
            Place::Reg(Gpr(n)) | Place::At(Gpr(n), _) => (0, n),
            Place::Scaled(Gpr(base), Gpr(index), ..) => (index, base),
        };
        let wide = u8::from(width == W64);
        let rex = 0x40 | wide << 3 | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3;
        let byte_register = |n: u8| is_byte && (4..8).contains(&n);
        let rm_is_byte = matches!(rm, Place::Reg(Gpr(n)) if byte_register(n));
        if rex != 0x40 || byte_register(reg) || rm_is_byte {
            self.byte(rex);
        }
        self.bytes.extend_from_slice(opcode);
        self.operands(reg, rm);
    }

    /// ModRM, SIB and displacement.
    fn operands(&mut self, reg: u8, rm: Place) {
        let reg = (reg & 7) << 3;
        let (base, disp) = match rm {
            Place::Reg(Gpr(n)) => return self.byte(0xc0 | reg | n & 7),
            Place::At(base, disp) | Place::Scaled(base, _, _, disp) => (base.0 & 7, disp),
        };
        // A base of 5 without a displacement means something else.
        let mode = match disp {
            0 if base != 5 => 0,
            -128..=127 => 0x40,
            _ => 0x80,
        };
        match rm {
            Place::Scaled(_, index, scale, _) => {
                debug_assert_ne!(index, RSP);
                self.byte(mode | reg | 4);
                self.byte(scale << 6 | (index.0 & 7) << 3 | base);
            }
            _ if base == 4 => {
                self.byte(mode | reg | 4);
                self.byte(0x24);
            }
            _ => self.byte(mode | reg | base),
        }
        match mode {
            0 => {}
            0x40 => self.byte(disp as u8),
            _ => self.word(disp),
        }
    }

    pub fn mov(&mut self, width: Width, to: Gpr, from: Place) {
        if from != Place::Reg(to) || width == W32 {
            self.op(0, width, &[0x8b], to.0, from, false);
        }
    }

    pub fn mov_reg(&mut self, to: Gpr, from: Gpr) {
        self.mov(W64, to, Place::Reg(from));
    }

    pub fn store(&mut self, width: Width, to: Place, from: Gpr) {
        self.op(0, width, &[0x89], from.0, to, false);
    }

    /// Stores the lowest bytes: 1, 2, 4 or 8.
    pub fn store_sized(&mut self, size: u8, to: Place, from: Gpr) {
        match size {
            1 => self.op(0, W32, &[0x88], from.0, to, true),
            2 => self.op(0x66, W32, &[0x89], from.0, to, false),
            4 => self.store(W32, to, from),
            _ => self.store(W64, to, from),
        }
    }

    /// Loads 1, 2, 4 or 8 bytes and extends them to 64 bits.
    pub fn load_extended(&mut self, size: u8, is_signed: bool, to: Gpr, from: Place) {
        match (size, is_signed) {
            (1, true) => self.op(0, W64, &[0x0f, 0xbe], to.0, from, true),
            (2, true) => self.op(0, W64, &[0x0f, 0xbf], to.0, from, false),
            (4, true) => self.op(0, W64, &[0x63], to.0, from, false),
            (1, false) => self.op(0, W32, &[0x0f, 0xb6], to.0, from, true),
            (2, false) => self.op(0, W32, &[0x0f, 0xb7], to.0, from, false),
            (4, false) => self.op(0, W32, &[0x8b], to.0, from, false),
            _ => self.op(0, W64, &[0x8b], to.0, from, false),
        }
    }

    /// Stores a sign-extended constant.
    pub fn store_constant(&mut self, width: Width, to: Place, value: i32) {
        self.op(0, width, &[0xc7], 0, to, false);
        self.word(value);
    }

    pub fn constant(&mut self, to: Gpr, value: u64) {
        if value == 0 {
            self.alu(W32, Alu::Xor, to, Place::Reg(to));
        } else if value <= u32::MAX.into() {
            if to.0 >= 8 {
                self.byte(0x41);
            }
            self.byte(0xb8 | to.0 & 7);
            self.word(value as i32);
        } else if value as i64 == i64::from(value as i32) {
            self.store_constant(W64, Place::Reg(to), value as i32);
        } else {
            self.byte(0x48 | to.0 >> 3);
            self.byte(0xb8 | to.0 & 7);
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    }

    pub fn lea(&mut self, width: Width, to: Gpr, from: Place) {
        self.op(0, width, &[0x8d], to.0, from, false);
    }

    pub fn alu(&mut self, width: Width, op: Alu, to: Gpr, from: Place) {
        self.op(0, width, &[(op as u8) << 3 | 3], to.0, from, false);
    }

    pub fn alu_constant(&mut self, width: Width, op: Alu, to: Place, value: i32) {
        if let -128..=127 = value {
            self.op(0, width, &[0x83], op as u8, to, false);
            self.byte(value as u8);
        } else {
            self.op(0, width, &[0x81], op as u8, to, false);
            self.word(value);
        }
    }

    /// Compares a word of 16 bits in memory with a small number.
    pub fn compare_short(&mut self, at: Place, value: i8) {
        self.op(0x66, W32, &[0x83], Alu::Cmp as u8, at, false);
        self.byte(value as u8);
    }

    pub fn test(&mut self, width: Width, a: Gpr, b: Gpr) {
        self.op(0, width, &[0x85], a.0, Place::Reg(b), false);
    }

    pub fn imul(&mut self, width: Width, to: Gpr, from: Place) {
        self.op(0, width, &[0x0f, 0xaf], to.0, from, false);
    }

    /// rdx:rax = rax * the operand.
    pub fn multiply(&mut self, is_signed: bool, by: Place) {
        self.op(0, W64, &[0xf7], if is_signed { 5 } else { 4 }, by, false);
    }

    /// rax, rdx = quotient and remainder of rdx:rax.
    pub fn divide(&mut self, width: Width, is_signed: bool, by: Gpr) {
        let number = if is_signed { 7 } else { 6 };
        self.op(0, width, &[0xf7], number, Place::Reg(by), false);
    }

    /// Extends rax to rdx:rax.
    pub fn sign_to_rdx(&mut self, width: Width) {
        if width == W64 {
            self.byte(0x48);
        }
        self.byte(0x99);
    }

    pub fn not(&mut self, to: Gpr) {
        self.op(0, W64, &[0xf7], 2, Place::Reg(to), false);
    }

    pub fn negate(&mut self, width: Width, to: Gpr) {
        self.op(0, width, &[0xf7], 3, Place::Reg(to), false);
    }

    pub fn shift_constant(&mut self, width: Width, op: Shift, to: Gpr, by: u8) {
        self.op(0, width, &[0xc1], op as u8, Place::Reg(to), false);
        self.byte(by);
    }

    /// Shifts by cl.
    pub fn shift_by_cl(&mut self, width: Width, op: Shift, to: Gpr) {
        self.op(0, width, &[0xd3], op as u8, Place::Reg(to), false);
    }

    /// A VEX instruction of the map `0F 38` with operands of general registers.
    fn vex(&mut self, prefix: u8, width: Width, opcode: u8, reg: Gpr, second: Gpr, rm: Place) {
        let (index, base) = match rm {
            Place::Reg(Gpr(n)) | Place::At(Gpr(n), _) => (0, n),
            Place::Scaled(Gpr(base), Gpr(index), ..) => (index, base),
        };
        let high = |n: u8| (n >> 3) ^ 1;
        self.byte(0xc4);
        self.byte(high(reg.0) << 7 | high(index) << 6 | high(base) << 5 | 2);
        let wide = u8::from(width == W64);
        self.byte(wide << 7 | (!second.0 & 15) << 3 | prefix);
        self.byte(opcode);
        self.operands(reg.0, rm);
    }

    /// `to` = `from` shifted by a register (BMI2); flags stay.
    pub fn shift_by(&mut self, width: Width, op: Shift, to: Gpr, from: Place, by: Gpr) {
        let prefix = match op {
            Shift::Shl => 1,
            Shift::Sar => 2,
            _ => 3,
        };
        self.vex(prefix, width, 0xf7, to, by, from);
    }

    /// `to` = not `not` and `and` (BMI1).
    pub fn and_not(&mut self, to: Gpr, not: Gpr, and: Place) {
        self.vex(0, W64, 0xf2, to, not, and);
    }

    /// `lzcnt`, `tzcnt`, `popcnt` by their opcodes.
    pub fn count(&mut self, width: Width, opcode: u8, to: Gpr, from: Place) {
        self.op(0xf3, width, &[0x0f, opcode], to.0, from, false);
    }

    pub fn swap_bytes(&mut self, to: Gpr) {
        self.byte(0x48 | to.0 >> 3);
        self.byte(0x0f);
        self.byte(0xc8 | to.0 & 7);
    }

    /// `bts` (5), `btr` (6), `btc` (7) of the bit that a register names.
    pub fn change_bit(&mut self, which: u8, to: Gpr, bit: Gpr) {
        let opcode = 0x83 | which << 3;
        self.op(0, W64, &[0x0f, opcode], bit.0, Place::Reg(to), false);
    }

    pub fn change_bit_constant(&mut self, which: u8, to: Gpr, bit: u8) {
        self.op(0, W64, &[0x0f, 0xba], which, Place::Reg(to), false);
        self.byte(bit);
    }

    pub fn set(&mut self, cond: Cond, to: Gpr) {
        let opcode = 0x90 | cond as u8;
        self.op(0, W32, &[0x0f, opcode], 0, Place::Reg(to), true);
    }

    pub fn cmov(&mut self, cond: Cond, to: Gpr, from: Place) {
        self.op(0, W64, &[0x0f, 0x40 | cond as u8], to.0, from, false);
    }

    pub fn jump(&mut self, to: Label) {
        self.byte(0xe9);
        self.fix(to);
    }

    pub fn jump_if(&mut self, cond: Cond, to: Label) {
        self.byte(0x0f);
        self.byte(0x80 | cond as u8);
        self.fix(to);
    }

    fn fix(&mut self, label: Label) {
        self.fixups.push((self.bytes.len(), label));
        self.word(0);
    }

    fn distance(&mut self, to: u64) {
        let distance = to.wrapping_sub(self.here() + 4) as i64;
        debug_assert_eq!(distance, i64::from(distance as i32));
        self.word(distance as i32);
    }

    /// A jump to an address in reach.
    pub fn jump_to(&mut self, to: u64) {
        self.byte(0xe9);
        self.distance(to);
    }

    pub fn jump_if_to(&mut self, cond: Cond, to: u64) {
        self.byte(0x0f);
        self.byte(0x80 | cond as u8);
        self.distance(to);
    }

    pub fn call(&mut self, to: u64) {
        self.byte(0xe8);
        self.distance(to);
    }

    pub fn jump_indirect(&mut self, to: Place) {
        self.op(0, W32, &[0xff], 4, to, false);
    }

    pub fn call_indirect(&mut self, to: Gpr) {
        self.op(0, W32, &[0xff], 2, Place::Reg(to), false);
    }

    pub fn push(&mut self, from: Gpr) {
        if from.0 >= 8 {
            self.byte(0x41);
        }
        self.byte(0x50 | from.0 & 7);
    }

    pub fn pop(&mut self, to: Gpr) {
        if to.0 >= 8 {
            self.byte(0x41);
        }
        self.byte(0x58 | to.0 & 7);
    }

    pub fn ret(&mut self) {
        self.byte(0xc3);
    }

    /// An SSE instruction `prefix 0F opcode` whose register operand, xmm or general, has a number.
    pub fn sse(&mut self, prefix: u8, width: Width, opcode: u8, reg: u8, rm: Place) {
        self.op(prefix, width, &[0x0f, opcode], reg, rm, false);
    }

    /// `vfmadd213sd xmm0, xmm1, rm` and its like (FMA3), by opcode; W64: of doubles.
    pub fn fused(&mut self, width: Width, opcode: u8, reg: u8, second: u8, rm: Place) {
        self.vex(1, width, opcode, Gpr(reg), Gpr(second), rm);
    }
}
