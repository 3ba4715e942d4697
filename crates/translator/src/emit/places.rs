//! The places of guest registers at an instruction.
use super::*;
use regalloc2::{ProgPoint, VReg};

use crate::code::{Finish, Node, Place, Recipe, as_pinned};
use crate::lower::slot;
use crate::registers::{home, is_float, members};

/// A guest register and what it is made of.
pub type At = Place<Allocation>;

/// Where values are, as the allocator tells.
pub struct Locations<'a> {
    all: &'a [(u32, ProgPoint, ProgPoint, Allocation)],
    /// Where those of each value begin.
    starts: Vec<u32>,
}

impl<'a> Locations<'a> {
    /// Of `count` values.
    pub fn new(all: &'a [(u32, ProgPoint, ProgPoint, Allocation)], count: usize) -> Self {
        let mut starts = vec![0; count + 1];
        for &(value, ..) in all {
            starts[value as usize + 1] += 1;
        }
        for n in 0..count {
            starts[n + 1] += starts[n];
        }
        Self { all, starts }
    }

    pub fn of(&self, value: VReg, at: ProgPoint) -> Option<Allocation> {
        if let Some(register) = as_pinned(value) {
            return Some(Allocation::reg(register));
        }
        let value = value.vreg();
        let known = &self.all[self.starts[value] as usize..self.starts[value + 1] as usize];
        let after = known.partition_point(|&(_, from, ..)| from <= at);
        let holds = |&&(_, _, to, _): &&(u32, ProgPoint, ProgPoint, Allocation)| at < to;
        known[..after].iter().rev().find(holds).map(|found| found.3)
    }
}

impl Emitter<'_> {
    /// Where guest registers are before the instruction.
    pub fn places(&mut self, node: &Node) -> Vec<At> {
        let at = ProgPoint::before(self.inst);
        let mut all = Vec::with_capacity(node.state.len());
        for reg in members(self.code.pinned) {
            let place = home(reg).map_or(Allocation::none(), Allocation::reg);
            all.push(At {
                reg,
                recipe: Recipe::Value(place),
                finish: Finish::default(),
            });
        }
        for place in &node.state {
            let known = |value| self.locations.of(value, at).unwrap_or(Allocation::none());
            let recipe = place.recipe.map(known);
            let lost = recipe.values().any(Allocation::is_none);
            debug_assert!(!lost, "{:?}", place);
            self.lost |= lost;
            all.push(At {
                reg: place.reg,
                recipe,
                finish: place.finish,
            });
        }
        all
    }

    /// Notes where guest registers are if the next instruction faults.
    pub fn record(&mut self, node: &Node) {
        let next = self.a.instructions().len();
        let places = self.places(node);
        self.recorder.record(next, node.pc, places);
    }

    /// Stores guest registers in the hart. Changes no register but those of values that are to be
    /// finished.
    pub fn store_places(&mut self, places: &[At]) -> Emitted {
        for place in places {
            let at = slot(place.reg) - HART_BIAS;
            if is_float(place.reg) {
                self.float_to_hart(place, at)?;
            } else {
                self.int_to_hart(place, at)?;
            }
        }
        Ok(())
    }

    fn float_to_hart(&mut self, place: &At, at: i32) -> Emitted {
        let operand = match place.recipe {
            Recipe::Value(operand) => operand,
            Recipe::Const(bits) => {
                let constant = self.constant(bits as u64);
                self.a.movsd_2(xmm15, constant)?;
                return self.a.movsd_2(qword_ptr(rbp + at), xmm15);
            }
            _ => return self.a.ud2(),
        };
        let register = match operand.as_reg() {
            Some(register) => register.hw_enc(),
            None => {
                let slot = self.slot_of(operand);
                self.a.movsd_2(xmm15, slot)?;
                15
            }
        };
        if place.finish.canonical {
            let single = place.finish.single;
            if single {
                self.a.ucomiss(XMM[register], XMM[register])?;
            } else {
                self.a.ucomisd(XMM[register], XMM[register])?;
            }
            let mut number = self.a.create_label();
            self.a.jnp(number)?;
            self.load_canonical(register, single)?;
            bind(&mut self.a, &mut number)?;
        }
        if place.finish.single {
            self.a.movss(dword_ptr(rbp + at), XMM[register])?;
            return self.a.mov(dword_ptr(rbp + at + 4), -1);
        }
        self.a.movsd_2(qword_ptr(rbp + at), XMM[register])
    }

    fn slot_of(&self, operand: Allocation) -> AsmMemoryOperand {
        operand
            .as_stack()
            .map_or(qword_ptr(rsp), |slot| self.spilled(slot))
    }

    fn int_to_hart(&mut self, place: &At, at: i32) -> Emitted {
        let to = qword_ptr(rbp + at);
        if let Recipe::Value(value) = place.recipe
            && let (Some(register), false) = (value.as_reg(), place.finish.sext32)
        {
            return self.a.mov(to, R64[register.hw_enc()]);
        }
        // A register for computing that no operand is in; its value waits in xmm15.
        let used = |n: usize| {
            let is = |o: Allocation| o.as_reg().is_some_and(|r| r.hw_enc() == n);
            place.recipe.values().any(is)
        };
        let scratch = [0, 1, 2].into_iter().find(|&n| !used(n)).unwrap_or(0);
        let d = R64[scratch];
        self.a.movq(xmm15, d)?;
        match place.recipe {
            Recipe::Const(k) => self.a.mov(d, k)?,
            Recipe::Address(at) => self.load_guest_address(scratch, at, false)?,
            Recipe::Value(value) => {
                self.load(scratch, value)?;
                if place.finish.sext32 {
                    self.a.movsxd(d, R32[scratch])?;
                }
            }
            Recipe::Offset(base, offset) => {
                self.load(scratch, base)?;
                self.a.add(d, offset)?;
            }
            Recipe::Sum(base, index, k, offset) => {
                self.load(scratch, index)?;
                self.a.shl(d, u32::from(k))?;
                match base.as_reg() {
                    Some(register) => self.a.add(d, R64[register.hw_enc()])?,
                    None => {
                        let slot = self.slot_of(base);
                        self.a.add(d, slot)?;
                    }
                }
                self.a.add(d, offset)?;
            }
        }
        self.a.mov(to, d)?;
        self.a.movq(d, xmm15)
    }

    fn load(&mut self, register: usize, from: Allocation) -> Emitted {
        match from.as_reg() {
            Some(from) => self.a.mov(R64[register], R64[from.hw_enc()]),
            None => {
                let slot = self.slot_of(from);
                self.a.mov(R64[register], slot)
            }
        }
    }
}
