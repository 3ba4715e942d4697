//! Where guest registers are while translated code runs, for debug information. The emitter notes
//! it on request. The code is the same without it.
use regalloc2::{ProgPoint, RegClass};

use super::Emitter;
use crate::code::{Node, Recipe, Upper};
use crate::lower::slot;
use crate::registers::{self, HART_BIAS, Reg, S0, SP, host, is_kept, members};

/// Where a guest register is, or what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// Nobody knows.
    #[default]
    Nowhere,
    /// A register for integers, by its hardware number.
    Register(u8),
    /// The lower half of xmm0 to xmm15.
    Vector(u8),
    /// So many bytes from rsp.
    Stack(u32),
    /// So many bytes from rbp: its place in the hart.
    Hart(i32),
    /// It has this value.
    Const(i64),
    /// It is the address of this byte of the guest's module.
    Address(u64),
    /// It is r15, which is the guest's sp, plus this.
    Sp(i32),
}

/// A guest register's home from a place in the code on, up to the next of this register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Homed {
    /// From the start of the code.
    pub code: u32,
    /// x0 to x31 are 0 to 31, f0 to f31 are 32 to 63. The home of 0 is not the register's, but the
    /// canonical frame address of the guest's function. 64 to 67 are what the caller has in s0 to s3,
    /// where a frame is made later than in the guest's code.
    pub reg: u8,
    /// The home.
    pub home: Home,
    /// How many bytes of it are the register's: 8, or 4 whose upper half is not known.
    pub size: u8,
    /// The home has the lower half, and the register's upper half is its sign.
    pub is_extended: bool,
}

/// The number of the canonical frame address among the guest registers.
const CFA: Reg = 0;

/// The first number of the caller's registers ([`crate::code::Code::callers`]).
const CALLERS: Reg = 64;
/// How many numbers there are.
pub const COUNT: usize = CALLERS + 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Noted {
    home: Home,
    upper: Option<Upper>,
}

pub(super) struct Homes {
    names: [Option<(Recipe<regalloc2::VReg>, Upper)>; 64],
    /// How many names of the present block hold already.
    known: usize,
    block: usize,
    noted: [Noted; COUNT],
    /// The number of the machine instruction in the place of its offset.
    all: Vec<(usize, Reg, Noted)>,
    /// What was noted where some code was put off to the end.
    put_off: Vec<[Noted; COUNT]>,
}

impl Default for Homes {
    fn default() -> Self {
        Self {
            names: [None; 64],
            known: 0,
            block: 0,
            noted: [Noted::default(); COUNT],
            all: vec![],
            put_off: vec![],
        }
    }
}

impl Homes {
    /// Some code is put off to the end.
    pub(super) fn put_off(&mut self) {
        self.put_off.push(self.noted);
    }

    /// `offset` tells where the code of a machine instruction starts.
    pub(super) fn finish(self, offset: impl Fn(usize) -> usize) -> Vec<Homed> {
        let homed = |(instruction, reg, noted): (usize, Reg, Noted)| Homed {
            code: offset(instruction) as u32,
            reg: reg as u8,
            home: noted.home,
            size: if noted.upper == Some(Upper::Unknown) {
                4
            } else {
                8
            },
            is_extended: noted.upper == Some(Upper::Sign),
        };
        self.all.into_iter().map(homed).collect()
    }
}

impl Emitter<'_> {
    /// What follows is the code of a block.
    pub(super) fn homes_of_block(&mut self, block: usize) {
        if let Some(homes) = &mut self.homes {
            homes.names = [None; 64];
            homes.known = 0;
            homes.block = block;
        }
    }

    /// No guest register's home is known in the code that follows.
    pub(super) fn no_homes(&mut self) {
        if self.homes.is_some() {
            self.note_homes([Noted::default(); COUNT]);
        }
    }

    /// While the function that is called next runs, registers that it does not keep are no homes.
    pub(super) fn homes_in_call(&mut self) {
        let Some(homes) = &self.homes else { return };
        let mut now = homes.noted;
        for noted in &mut now {
            let is_kept = match noted.home {
                Home::Register(number) => is_kept(host(number.into())),
                // A callee saves it in the guest's frame, and has its own value there.
                Home::Vector(_) | Home::Hart(_) => false,
                _ => true,
            };
            if !is_kept {
                *noted = Noted::default();
            }
        }
        self.note_homes(now);
    }

    /// What follows was put off as the `n`th.
    pub(super) fn homes_of_cold(&mut self, n: usize) {
        if let Some(homes) = &self.homes {
            self.note_homes(homes.put_off[n]);
        }
    }

    /// Notes where guest registers are in front of the next machine instruction, which belongs to
    /// `node`.
    pub(super) fn homes(&mut self, at: ProgPoint, node: &Node) {
        let pc = node.line_pc;
        let Some(homes) = &mut self.homes else {
            return;
        };
        if let Some(names) = self.code.names.get(homes.block) {
            while let Some(name) = names.get(homes.known).filter(|name| name.pc <= pc) {
                homes.names[name.reg] = Some((name.recipe, name.upper));
                homes.known += 1;
            }
        }
        let mut now = [Noted::default(); COUNT];
        for (noted, name) in now.iter_mut().zip(&homes.names) {
            let Some((recipe, upper)) = *name else {
                continue;
            };
            noted.home = match recipe {
                Recipe::Const(k) => Home::Const(k),
                Recipe::Address(at) => Home::Address(at),
                Recipe::Value(value) => match self.locations.of(value, at) {
                    Some(place) => home(place),
                    None => Home::Nowhere,
                },
                Recipe::Sum(..) | Recipe::Offset(..) => Home::Nowhere,
            };
            if noted.home != Home::Nowhere {
                noted.upper = Some(upper);
            }
        }
        if let Some((_, frame)) = self.code.frames.range(..=node.frame_pc).next_back()
            && let Some(sp) = frame.sp
        {
            now[CFA].home = Home::Sp(sp);
            if let Some(fp) = frame.fp.and_then(|fp| sp.checked_sub(fp)) {
                now[S0].home = Home::Sp(fp);
                now[S0].upper = None;
            }
        }
        for reg in members(self.code.pinned | self.code.in_hart) {
            let home = match registers::home(reg) {
                Some(register) => Home::Register(register.hw_enc() as u8),
                None => Home::Hart(slot(reg) - HART_BIAS),
            };
            let upper = Some(Upper::Own);
            now[reg] = Noted { home, upper };
        }
        now[SP].home = Home::Sp(0);
        if node.frame_pc != node.line_pc {
            for (noted, &value) in now[CALLERS..].iter_mut().zip(&self.code.callers) {
                let place = value.and_then(|value| self.locations.of(value, at));
                noted.home = place.map_or(Home::Nowhere, home);
            }
        }
        self.note_homes(now);
    }

    fn note_homes(&mut self, now: [Noted; COUNT]) {
        let next = self.a.instructions().len();
        if let Some(homes) = &mut self.homes {
            for (reg, (now, noted)) in now.into_iter().zip(&mut homes.noted).enumerate() {
                if now != *noted {
                    *noted = now;
                    homes.all.push((next, reg, now));
                }
            }
        }
    }
}

fn home(place: regalloc2::Allocation) -> Home {
    match (place.as_reg(), place.as_stack()) {
        (Some(register), _) if register.class() == RegClass::Int => {
            Home::Register(register.hw_enc() as u8)
        }
        (Some(register), _) => Home::Vector(register.hw_enc() as u8),
        (_, Some(slot)) => Home::Stack(8 * slot.index() as u32),
        _ => Home::Nowhere,
    }
}
