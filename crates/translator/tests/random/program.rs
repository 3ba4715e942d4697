//! A whole program: functions, jump tables, function pointers, data, and the calls made of it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use flick_translator::Summary;

use crate::code::{Code, Layout, ROOM, Regs, Target};
use crate::driver;
use crate::function;
use flick_riscv_testing::values::{self, Rng};

/// What qemu's program begins with; engines run only what follows.
pub const DRIVER: u64 = 0x1000_0000;
pub const CODE: u64 = DRIVER + 0x1000;

pub const DATA: u64 = 0x3000_0000;
/// The driver's variables, see there.
pub const STATE: u64 = DATA;
/// Activations left to functions that call.
pub const FUEL: u64 = DATA + 0x1000;
pub const DATA_AREA: Range<u64> = DATA + 0x2000..DATA + 0x5000;
pub const DATA_MIDDLE: u64 = DATA + 0x3000;
/// Function pointers, a table for each class.
pub const POINTERS: u64 = DATA + 0x5000;
pub const RECORDS: u64 = DATA + 0x6000;
pub const SIGNAL_STACK: u64 = DATA + 0xa000;
pub const SIGNAL_STACK_SIZE: u64 = 0x10000;
/// Number of faults, and from `ENTRIES` on an entry for each.
pub const LOG: u64 = DATA + 0x1a000;
pub const ENTRIES: u64 = LOG + 64;
pub const MOST_FAULTS: u64 = 400;
const DATA_END: u64 = ENTRIES + MOST_FAULTS * ENTRY_SIZE;

/// pc and x1 to x31, f0 to f31, fcsr, address.
pub const ENTRY_SIZE: u64 = 528;
pub const ENTRY_F: u64 = 256;
pub const ENTRY_FCSR: u64 = 512;
pub const ENTRY_ADDRESS: u64 = 520;

/// Not accessible when a call begins: a few pages of data, then the stack.
pub const PROTECTED: u64 = 0x4000_0000;
pub const PROTECTED_PAGES: u64 = 16;
pub const PROTECTED_DATA: Range<u64> = PROTECTED..PROTECTED + PROTECTED_PAGES * 4096;
/// Of these, the pages that can be read.
pub const READABLE: Range<u64> = PROTECTED + 10 * 4096..PROTECTED_DATA.end;
pub const STACK_TOP: u64 = PROTECTED + 0x80000;
pub const PROTECTED_SIZE: u64 = STACK_TOP - PROTECTED;

/// A call: registers and fcsr at its beginning, what is called, how many activations, at which
/// fault it is left by a jump (0: none); and the same registers after it, and whether it was left.
pub const RECORD: u64 = 2048;
pub const F: u64 = 256;
pub const FCSR: u64 = 512;
pub const ENTRY: u64 = 520;
pub const FUEL_GIVEN: u64 = 528;
pub const LEAVE: u64 = 536;
pub const OUT_X: u64 = 544;
pub const OUT_F: u64 = 800;
pub const OUT_FCSR: u64 = 1056;
pub const LEFT: u64 = 1064;

/// How many arguments and results, integer and floating-point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    pub x: u32,
    pub f: u32,
    pub result_x: u32,
    pub result_f: u32,
}

#[derive(Clone, Copy, Debug)]
pub enum Role {
    Leaf,
    Calls,
    /// Keeps registers for a prologue that calls it by t0; the other half.
    Save(usize),
    Restore(usize),
}

pub struct Spec {
    pub class: usize,
    pub role: Role,
    /// Class of the second entry.
    pub middle: Option<usize>,
}

/// What functions know of one another.
pub struct Plan {
    pub classes: Vec<Class>,
    pub functions: Vec<Spec>,
    pub beyond_qemu: bool,
    /// What the pointers of each class lead to.
    pointers: Vec<Vec<Target>>,
}

/// Rooms for code made at run time.
pub const ROOMS: u64 = 4;
/// Pointers of a class.
const COUNT: usize = 8;

impl Plan {
    fn new(rng: &mut Rng, beyond_qemu: bool) -> Self {
        let mut classes: Vec<Class> = (0..2 + rng.below(3))
            .map(|_| Class {
                x: rng.below(9) as u32,
                f: rng.below(5) as u32 * rng.below(2) as u32 * 2,
                result_x: rng.below(3) as u32,
                result_f: rng.below(2) as u32 * rng.below(3) as u32,
            })
            .collect();
        // One that differs from the first in its arguments alone.
        classes.push(Class {
            x: rng.below(5) as u32,
            ..classes[0]
        });
        let mut functions = Vec::new();
        for n in [1, 2, 4] {
            for role in [Role::Save(n), Role::Restore(n)] {
                functions.push(Spec {
                    class: usize::MAX,
                    role,
                    middle: None,
                });
            }
        }
        for class in 0..classes.len() {
            for k in 0..2 + rng.below(3) {
                let leaf = k == 0 || rng.chance(30);
                let results = |c: &Class| (c.result_x, c.result_f);
                let alike: Vec<usize> = (0..classes.len())
                    .filter(|&other| results(&classes[other]) == results(&classes[class]))
                    .collect();
                functions.push(Spec {
                    class,
                    role: if leaf { Role::Leaf } else { Role::Calls },
                    middle: (leaf && rng.chance(50)).then(|| rng.pick(&alike)),
                });
            }
        }
        let mut plan = Self {
            classes,
            functions,
            beyond_qemu,
            pointers: Vec::new(),
        };
        plan.pointers = (0..plan.classes.len())
            .map(|class| (0..COUNT).map(|_| plan.entry_of(rng, class)).collect())
            .collect();
        plan
    }

    /// The argument registers of a class.
    pub fn arguments(&self, class: usize) -> Regs {
        let class = &self.classes[class];
        let mask = |count: u32| ((1 << count) - 1) << 10;
        mask(class.x) | mask(class.f) << 32
    }

    fn position(&self, wanted: impl Fn(&Role) -> bool) -> usize {
        match self.functions.iter().position(|f| wanted(&f.role)) {
            Some(at) => at,
            None => unreachable!("every plan has them"),
        }
    }

    pub fn save(&self, n: usize) -> usize {
        self.position(|role| matches!(role, Role::Save(k) if *k == n))
    }

    pub fn restore(&self, n: usize) -> usize {
        self.position(|role| matches!(role, Role::Restore(k) if *k == n))
    }

    pub fn function_of(&self, rng: &mut Rng, class: usize) -> usize {
        loop {
            let n = rng.below(self.functions.len() as u64) as usize;
            if self.functions[n].class == class {
                return n;
            }
        }
    }

    /// A function of a class, or the second entry of one.
    pub fn entry_of(&self, rng: &mut Rng, class: usize) -> Target {
        loop {
            let n = rng.below(self.functions.len() as u64) as usize;
            if self.functions[n].class == class {
                return Target::Function(n);
            }
            if self.functions[n].middle == Some(class) {
                return Target::Middle(n);
            }
        }
    }

    /// Of the functions that are called as the psABI has it.
    fn summaries(&self, layout: &Layout) -> HashMap<u64, Summary> {
        let set = |x: u32, f: u32| ((1 << x) - 1) | ((1 << f) - 1) << 8;
        let all = |n: usize| {
            let spec = &self.functions[n];
            let calls = match spec.role {
                Role::Leaf => 0,
                Role::Calls => 0xffff,
                Role::Save(_) | Role::Restore(_) => return None,
            };
            let class = &self.classes[spec.class];
            // The part behind the second entry has results of its own class, which are as many.
            let sets = [
                set(class.x, class.f),
                set(class.result_x, class.result_f),
                calls,
            ];
            Some((layout.functions[n], Summary::declared(sets, [false; 2])))
        };
        (0..self.functions.len()).filter_map(all).collect()
    }

    /// Offset and number of a class's pointers.
    pub fn pointers(&self, class: usize) -> (i32, usize) {
        ((class * COUNT * 8) as i32, COUNT)
    }
}

pub struct Program {
    /// Driver, functions and jump tables.
    pub code: Vec<u8>,
    pub data: Vec<u8>,
    pub protected: Vec<u8>,
    pub functions: Vec<Range<u64>>,
    /// Tables of which is known that they never change.
    pub constants: Vec<Range<u64>>,
    /// Where jumps through registers lead in their function.
    pub jumps: HashMap<u64, Vec<u64>>,
    /// What functions read and hand back, by where they start.
    pub summaries: HashMap<u64, Summary>,
    pub instructions: u64,
    /// Registers that are live before each instruction for certain, and that may be.
    pub live: HashMap<u64, (Regs, Regs)>,
    /// The class of what each record calls.
    pub calls: Vec<Class>,
    /// Parts that can be left out, by their seeds.
    pub seeds: Vec<u64>,
    /// Debian's qemu-riscv64 has all of its instructions.
    pub qemu: bool,
}

/// The program of a seed, without the parts in `skip`.
pub fn build(seed: u64, skip: &HashSet<u64>) -> Program {
    let mut rng = Rng(seed);
    let qemu = !seed.is_multiple_of(4);
    let plan = Plan::new(&mut rng, !qemu);
    let mut seeds = Vec::new();
    let codes: Vec<Code> = (0..plan.functions.len())
        .map(|n| {
            let (code, mut its) = function::make(&plan, n, Rng(rng.next()), skip);
            seeds.append(&mut its);
            code
        })
        .collect();
    let (layout, functions, end) = lay_out(&codes, &mut rng);

    let mut code = driver::code();
    code.resize((CODE - DRIVER) as usize, 0);
    let mut live = HashMap::new();
    for (n, part) in codes.iter().enumerate() {
        code.resize((layout.functions[n] - DRIVER) as usize, 0);
        code.extend(part.encode(n, &layout).iter().flat_map(|h| h.to_le_bytes()));
        for (offset, regs) in part.offsets().iter().zip(part.live()) {
            // What is called by t0 does not know its callers' registers.
            let known = matches!(plan.functions[n].role, Role::Leaf | Role::Calls);
            let maybe = if known { regs } else { !0 };
            live.insert(layout.functions[n] + offset, (regs, maybe));
        }
    }
    code.resize((end - DRIVER) as usize, 0);
    let instructions = live.len() as u64;
    // What is made at run time is known to its maker only.
    live.extend((layout.rooms..end).step_by(2).map(|pc| (pc, (0, !0))));
    let (mut constants, mut jumps) = (Vec::new(), HashMap::new());
    for (n, part) in codes.iter().enumerate() {
        let start = layout.functions[n];
        for (table, &at) in part.tables.iter().zip(&layout.tables[n]) {
            let bytes = part.encode_table(table, start, at);
            let to = (at - DRIVER) as usize;
            code[to..to + bytes.len()].copy_from_slice(&bytes);
            if !table.hidden {
                constants.push(at..at + bytes.len() as u64);
            }
        }
        for (at, mut targets) in part.jumps() {
            targets.iter_mut().for_each(|target| *target += start);
            jumps.insert(start + at, targets);
        }
    }
    let summaries = plan.summaries(&layout);

    let (data, calls) = data(&mut rng, &plan, &layout);
    let protected = (0..PROTECTED_PAGES * 512)
        .flat_map(|_| mixture(&mut rng).to_le_bytes())
        .collect();
    Program {
        code,
        data,
        protected,
        functions,
        constants,
        jumps,
        summaries,
        instructions,
        live,
        calls,
        seeds,
        qemu,
    }
}

/// Places for functions and, behind them, tables and rooms; the ranges of the functions; the end.
fn lay_out(codes: &[Code], rng: &mut Rng) -> (Layout, Vec<Range<u64>>, u64) {
    let mut layout = Layout {
        functions: Vec::new(),
        middles: Vec::new(),
        tables: Vec::new(),
        rooms: 0,
    };
    let mut ranges = Vec::new();
    let mut at = CODE;
    for code in codes {
        let offsets = code.offsets();
        let size = offsets[code.lines.len()];
        layout.functions.push(at);
        let middle = code
            .middle
            .map_or(0, |label| code.offset_of(label, &offsets));
        layout.middles.push(at + middle);
        ranges.push(at..at + size);
        at += size;
        if rng.chance(30) {
            at = at.next_multiple_of(rng.pick(&[4, 16]));
        }
    }
    at = at.next_multiple_of(8);
    for code in codes {
        let tables = code.tables.iter().map(|table| {
            let here = at;
            let size = table.entries.len() as u64 * table.form.size();
            at = (at + size).next_multiple_of(8);
            here
        });
        let tables = tables.collect();
        layout.tables.push(tables);
    }
    layout.rooms = at.next_multiple_of(ROOM);
    let end = layout.rooms + ROOMS * ROOM;
    (layout, ranges, end)
}

pub fn put(bytes: &mut [u8], at: u64, value: u64) {
    bytes[at as usize..at as usize + 8].copy_from_slice(&value.to_le_bytes());
}

pub fn get(bytes: &[u8], at: u64) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at as usize..at as usize + 8]);
    u64::from_le_bytes(value)
}

/// Integers, doubles and boxed singles.
fn mixture(rng: &mut Rng) -> u64 {
    let boxed = 0xffff_ffff_0000_0000;
    match rng.below(8) {
        0..3 => values::integer(rng),
        3 => values::double(rng),
        4 => values::boxed(rng),
        5 => values::tying_double(rng),
        6 => u64::from(values::tying_single(rng)) | boxed,
        _ => match rng.below(4) {
            0 => values::special_double(rng),
            1 => u64::from(values::special_single(rng)) | boxed,
            // Ordinary numbers.
            2 => ((rng.below(2000) as f64 - 1000.0) / 8.0).to_bits(),
            _ => u64::from(((rng.below(2000) as f32 - 1000.0) / 8.0).to_bits()) | boxed,
        },
    }
}

fn data(rng: &mut Rng, plan: &Plan, layout: &Layout) -> (Vec<u8>, Vec<Class>) {
    let mut data = vec![0; (DATA_END - DATA) as usize];
    for at in (DATA_AREA.start..DATA_AREA.end).step_by(8) {
        put(&mut data, at - DATA, mixture(rng));
    }
    for (class, pointers) in plan.pointers.iter().enumerate() {
        for (k, pointer) in pointers.iter().enumerate() {
            let target = match *pointer {
                Target::Function(n) => layout.functions[n],
                Target::Middle(n) => layout.middles[n],
                Target::Table(_) | Target::Label(_) | Target::Room(_) | Target::Data(_) => {
                    unreachable!("entries are of functions")
                }
            };
            let at = POINTERS + plan.pointers(class).0 as u64 + 8 * k as u64;
            // jalr clears bit 0.
            put(&mut data, at - DATA, target | u64::from(rng.chance(10)));
        }
    }
    let mut calls = Vec::new();
    for n in 0..2 + rng.below(2) {
        let record = RECORDS + n * RECORD;
        let called = loop {
            let k = rng.below(plan.functions.len() as u64) as usize;
            let role = plan.functions[k].role;
            if matches!(role, Role::Calls) || matches!(role, Role::Leaf) && rng.chance(10) {
                break k;
            }
        };
        calls.push(plan.classes[plan.functions[called].class]);
        let bytes = &mut data[(record - DATA) as usize..][..RECORD as usize];
        for k in 1..32 {
            put(bytes, 8 * k, values::integer(rng));
            put(bytes, F + 8 * k, mixture(rng));
        }
        put(bytes, F, mixture(rng));
        put(bytes, 8, driver::RETURN);
        put(bytes, 16, STACK_TOP - 16 * rng.below(64));
        let flags = if rng.chance(50) { 0 } else { rng.below(32) };
        put(bytes, FCSR, rng.pick(&[0, 0, 0, 1, 2, 3, 4]) << 5 | flags);
        put(bytes, ENTRY, layout.functions[called]);
        put(bytes, FUEL_GIVEN, 5 + rng.below(40));
        let leave = if rng.chance(30) { 1 + rng.below(12) } else { 0 };
        put(bytes, LEAVE, leave);
    }
    put(&mut data, STATE - DATA, RECORDS);
    put(
        &mut data,
        STATE - DATA + 8,
        RECORDS + calls.len() as u64 * RECORD,
    );
    (data, calls)
}
