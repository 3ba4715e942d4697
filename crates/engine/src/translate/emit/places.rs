//! Where guest registers are at an instruction.
use super::*;
use crate::translate::code::{Finish, Node, Recipe};
use crate::translate::lower::slot;
use crate::translate::registers::{Reg, is_float};

/// A guest register and what it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    pub reg: Reg,
    pub recipe: Recipe,
    pub finish: Finish,
    pub operands: Vec<Allocation>,
}

pub fn of(node: &Node, operands: &[Allocation]) -> Vec<At> {
    let mut at = node.own().len();
    node.state
        .iter()
        .map(|place| {
            let count = place.recipe.operands();
            at += count;
            At {
                reg: place.reg,
                recipe: place.recipe,
                finish: place.finish,
                operands: operands[at - count..at].to_vec(),
            }
        })
        .collect()
}

impl Emitter<'_> {
    /// Notes where guest registers are if the next instruction faults.
    pub fn record(&mut self, node: &Node, operands: &[Allocation]) {
        let next = self.a.instructions().len();
        self.recorder.record(next, node.pc, &of(node, operands));
    }

    /// Stores guest registers in the hart. Changes no register but those of values that are to be finished.
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
        let Some(&operand) = place.operands.first() else {
            return self.a.ud2();
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
        self.a.movsd_2(qword_ptr(rbp + at), XMM[register])
    }

    fn slot_of(&self, operand: Allocation) -> AsmMemoryOperand {
        operand
            .as_stack()
            .map_or(qword_ptr(rsp), |slot| self.spilled(slot))
    }

    fn int_to_hart(&mut self, place: &At, at: i32) -> Emitted {
        let to = qword_ptr(rbp + at);
        let plain = place.recipe == Recipe::Value && !place.finish.sext32;
        if let (true, Some(register)) = (plain, place.operands.first().and_then(|o| o.as_reg())) {
            return self.a.mov(to, R64[register.hw_enc()]);
        }
        // A register for computing that no operand is in; its value waits in xmm15.
        let used = |n: usize| {
            let is = |o: &Allocation| o.as_reg().is_some_and(|r| r.hw_enc() == n);
            place.operands.iter().any(is)
        };
        let scratch = [0, 1, 2].into_iter().find(|&n| !used(n)).unwrap_or(0);
        let d = R64[scratch];
        self.a.movq(xmm15, d)?;
        match place.recipe {
            Recipe::Const(k) => self.a.mov(d, k)?,
            Recipe::Value => {
                self.load(scratch, place.operands[0])?;
                if place.finish.sext32 {
                    self.a.movsxd(d, R32[scratch])?;
                }
            }
            Recipe::Offset(offset) => {
                self.load(scratch, place.operands[0])?;
                self.a.add(d, offset)?;
            }
            Recipe::Sum(k, offset) => {
                self.load(scratch, place.operands[1])?;
                self.a.shl(d, u32::from(k))?;
                match place.operands[0].as_reg() {
                    Some(register) => self.a.add(d, R64[register.hw_enc()])?,
                    None => {
                        let slot = self.slot_of(place.operands[0]);
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
