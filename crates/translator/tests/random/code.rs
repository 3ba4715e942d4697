//! The code of one function as lines with labels: what each line reads and writes and where it
//! leads, so that the generator knows which registers are live at each of them.

use flick_riscv_testing::asm;

/// Bits 1 to 31: x1 to x31. Bits 32 to 63: f0 to f31.
pub type Regs = u64;

pub fn x(n: u32) -> Regs {
    if n == 0 { 0 } else { 1 << n }
}

pub fn f(n: u32) -> Regs {
    1 << (32 + n)
}

/// Bytes of a room for code made at run time.
pub const ROOM: u64 = 64;

pub const RA: u32 = 1;
pub const SP: u32 = 2;
/// sp, gp, tp: live everywhere.
pub const ALWAYS: Regs = 0b11100;
/// s0 to s11.
pub const SAVED_X: Regs = 0x0ffc_0300;
/// What the psABI has a function leave as it was: the above and fs0 to fs11.
pub const SAVED: Regs = ALWAYS | SAVED_X | SAVED_X << 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(pub usize);

/// What an address is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Function(usize),
    /// The second entry of a function.
    Middle(usize),
    /// A jump table of the same function.
    Table(usize),
    /// In the same function.
    Label(Label),
    /// Room for code made at run time.
    Room(u64),
    /// Data.
    Data(u64),
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An instruction of 16 or 32 bits.
    Bits(u32),
    Branch {
        base: u32,
        rs1: u32,
        rs2: u32,
        to: Label,
    },
    Jump(Label),
    /// `jal`, or `auipc` and `jalr` by way of a register.
    Call {
        rd: u32,
        to: Target,
        far: Option<u32>,
    },
    /// `auipc` and `addi`.
    Address {
        rd: u32,
        to: Target,
    },
}

#[derive(Clone, Debug)]
pub enum Flow {
    Next,
    Branch(Label),
    Jump(Label),
    Table(Vec<Label>),
    /// Out of the function.
    Exit,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub kind: Kind,
    pub reads: Regs,
    pub writes: Regs,
    pub flow: Flow,
    /// May be two bytes long if the target is near.
    short: bool,
}

/// Where the program's parts are.
pub struct Layout {
    pub functions: Vec<u64>,
    pub middles: Vec<u64>,
    /// Of each function.
    pub tables: Vec<Vec<u64>>,
    /// The first room.
    pub rooms: u64,
}

/// What a table's entries are.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// 64-bit addresses.
    Address,
    /// So many bytes: distances from a label, or from the table.
    Distance(u64, Option<Label>),
}

impl Form {
    pub fn size(self) -> u64 {
        match self {
            Form::Address => 8,
            Form::Distance(size, _) => size,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Table {
    /// `None`: nothing that is ever taken.
    pub entries: Vec<Option<Label>>,
    pub has_holes: bool,
    pub form: Form,
    /// Engines are not told that it never changes.
    pub hidden: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Code {
    pub lines: Vec<Line>,
    /// Line of each label.
    labels: Vec<usize>,
    pub tables: Vec<Table>,
    pub middle: Option<Label>,
}

/// The immediates of `auipc`, in place, and of what follows it.
fn parts(distance: i64) -> (u32, i32) {
    let high = (distance + 0x800) as u32 & !0xfff;
    (high, (distance as i32).wrapping_sub(high as i32))
}

impl Code {
    pub fn line(&mut self, kind: Kind, reads: Regs, writes: Regs, flow: Flow) {
        self.lines.push(Line {
            kind,
            reads,
            writes,
            flow,
            short: true,
        });
    }

    /// An instruction that goes on to the next.
    pub fn insn(&mut self, bits: u32, reads: Regs, writes: Regs) {
        self.line(Kind::Bits(bits), reads, writes, Flow::Next);
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    pub fn place(&mut self, label: Label) {
        assert_eq!(self.labels[label.0], usize::MAX, "a label has one place");
        self.labels[label.0] = self.lines.len();
    }

    /// A label at this place.
    pub fn here(&mut self) -> Label {
        let label = self.label();
        self.place(label);
        label
    }

    pub fn branch(&mut self, base: u32, rs1: u32, rs2: u32, to: Label) {
        let kind = Kind::Branch { base, rs1, rs2, to };
        self.line(kind, x(rs1) | x(rs2), 0, Flow::Branch(to));
    }

    pub fn jump(&mut self, to: Label) {
        self.line(Kind::Jump(to), 0, 0, Flow::Jump(to));
    }

    /// A constant of 32 bits, sign-extended.
    pub fn constant(&mut self, rd: u32, value: i32) {
        if (-2048..2048).contains(&value) {
            self.insn(asm::addi(rd, 0, value), 0, x(rd));
        } else {
            let [high, low] = asm::li(rd, value as u32 as u64);
            self.insn(high, 0, x(rd));
            self.insn(low, x(rd), x(rd));
        }
    }

    /// A multiple of 4 KiB, by `lui` or as a distance from pc.
    pub fn page(&mut self, rd: u32, address: u64) {
        if self.lines.len().is_multiple_of(2) {
            let to = Target::Data(address);
            self.line(Kind::Address { rd, to }, 0, x(rd), Flow::Next);
        } else {
            self.insn(0x37 | rd << 7 | address as u32, 0, x(rd));
        }
    }

    fn size(line: &Line) -> u64 {
        match line.kind {
            Kind::Bits(bits) if bits & 3 != 3 => 2,
            Kind::Branch { .. } | Kind::Jump(_) if line.short => 2,
            Kind::Call { far: Some(_), .. } | Kind::Address { .. } => 8,
            _ => 4,
        }
    }

    /// Offsets of the lines, and of the end.
    pub fn offsets(&self) -> Vec<u64> {
        let mut at = 0;
        let mut offsets = Vec::with_capacity(self.lines.len() + 1);
        for line in &self.lines {
            offsets.push(at);
            at += Self::size(line);
        }
        offsets.push(at);
        offsets
    }

    /// Decides which branches and jumps are short; `long` says which are not in any case.
    pub fn shorten(&mut self, mut long: impl FnMut() -> bool) {
        for line in &mut self.lines {
            line.short = false;
        }
        let offsets = self.offsets();
        for i in 0..self.lines.len() {
            // Lines only get shorter, so distances do not grow.
            let distance = |to: Label| offsets[self.labels[to.0]].abs_diff(offsets[i]);
            let short = match self.lines[i].kind {
                Kind::Branch { base, rs1, rs2, to } => {
                    matches!(base, 0x63 | 0x1063)
                        && (8..16).contains(&rs1)
                        && rs2 == 0
                        && distance(to) < 250
                }
                Kind::Jump(to) => distance(to) < 2040,
                _ => false,
            };
            self.lines[i].short = short && !long();
        }
    }

    pub fn offset_of(&self, label: Label, offsets: &[u64]) -> u64 {
        offsets[self.labels[label.0]]
    }

    /// The bytes at the place that the layout gives function `number`.
    pub fn encode(&self, number: usize, layout: &Layout) -> Vec<u16> {
        let offsets = self.offsets();
        let start = layout.functions[number];
        let mut out = asm::Code::default();
        for (line, &offset) in self.lines.iter().zip(&offsets) {
            let at = start + offset;
            let near = |to: Label| self.offset_of(to, &offsets) as i64 - offset as i64;
            let away = |to: Target| {
                let target = match to {
                    Target::Function(n) => layout.functions[n],
                    Target::Middle(n) => layout.middles[n],
                    Target::Table(n) => layout.tables[number][n],
                    Target::Label(label) => start + self.offset_of(label, &offsets),
                    Target::Room(n) => layout.rooms + n * ROOM,
                    Target::Data(at) => at,
                };
                target.wrapping_sub(at) as i64
            };
            match line.kind {
                Kind::Bits(bits) => out.insn(bits),
                Kind::Branch { base, rs1, rs2, to } => {
                    let distance = near(to) as i32;
                    assert!(distance.abs() < 4096, "a function is too long");
                    if line.short {
                        let base = if base == 0x63 { 0xc001 } else { 0xe001 };
                        out.half(asm::c_branch(base, rs1 - 8, distance));
                    } else {
                        out.word(asm::branch(base, rs1, rs2, distance));
                    }
                }
                Kind::Jump(to) if line.short => out.half(asm::c_j(near(to) as i32)),
                Kind::Jump(to) => out.word(asm::jal(0, near(to) as i32)),
                Kind::Call { rd, to, far: None } => out.word(asm::jal(rd, away(to) as i32)),
                Kind::Call {
                    rd,
                    to,
                    far: Some(by),
                } => {
                    let (high, low) = parts(away(to));
                    out.word(0x17 | by << 7 | high);
                    out.word(asm::i(0x67, rd, by, low));
                }
                Kind::Address { rd, to } => {
                    let (high, low) = parts(away(to));
                    out.word(0x17 | rd << 7 | high);
                    out.word(asm::addi(rd, rd, low));
                }
            }
            assert_eq!(out.len() as u64 + start, at + Self::size(line));
        }
        out.0
    }

    /// Where the jumps through registers lead, by their offsets: to these; nowhere in the function.
    pub fn jumps(&self) -> Vec<(u64, Vec<u64>)> {
        let offsets = self.offsets();
        let through_register = |bits| {
            let insn = flick_riscv::decode(bits);
            insn.op() == flick_riscv::Op::Jalr && insn.rd() == 0
        };
        let mut all = Vec::new();
        for (line, &at) in self.lines.iter().zip(&offsets) {
            match (&line.kind, &line.flow) {
                (_, Flow::Table(to)) => {
                    let targets = to.iter().map(|&label| self.offset_of(label, &offsets));
                    all.push((at, targets.collect()));
                }
                (&Kind::Bits(bits), Flow::Exit) if through_register(bits) => all.push((at, vec![])),
                _ => {}
            }
        }
        all
    }

    /// The bytes of a table, which is at `at`.
    pub fn encode_table(&self, table: &Table, start: u64, at: u64) -> Vec<u8> {
        let offsets = self.offsets();
        let address = |label: Label| start + self.offset_of(label, &offsets);
        let size = table.form.size() as usize;
        let mut bytes = Vec::new();
        for entry in &table.entries {
            let value = match (entry, table.form) {
                (None, _) => 0,
                (&Some(label), Form::Address) => address(label),
                (&Some(label), Form::Distance(_, from)) => {
                    address(label).wrapping_sub(from.map_or(at, address))
                }
            };
            let unused = 64 - 8 * size as u32;
            let seen = (value << unused) as i64 >> unused;
            assert_eq!(seen as u64, value, "a distance is too long");
            bytes.extend(&value.to_le_bytes()[..size]);
        }
        bytes
    }

    /// Registers that are live before each line.
    pub fn live(&self) -> Vec<Regs> {
        let mut live = vec![0; self.lines.len() + 1];
        loop {
            let mut changed = false;
            for (i, line) in self.lines.iter().enumerate().rev() {
                let at = |label: &Label| live[self.labels[label.0]];
                let after = match &line.flow {
                    Flow::Next => live[i + 1],
                    Flow::Branch(to) => live[i + 1] | at(to),
                    Flow::Jump(to) => at(to),
                    Flow::Table(to) => to.iter().fold(0, |regs, to| regs | at(to)),
                    Flow::Exit => 0,
                };
                let before = after & !line.writes | line.reads;
                changed |= before != live[i];
                live[i] = before;
            }
            if !changed {
                live.pop();
                return live;
            }
        }
    }
}
