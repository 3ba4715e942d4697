//! Cold code, which is placed after the function.
use super::convert::{Rounded, Saturate, Unsigned};
use super::*;
use crate::code::{Node, Reason};
use crate::registers::{A0, A1, FA0, FA1, R11, RAX, Regs, bit};
use flick_engine::Hart;
use std::mem::offset_of;

pub enum Cold {
    /// The canonical NaN for what is in the register.
    Canonical {
        register: usize,
        single: bool,
        back: CodeLabel,
    },
    /// The same for what is NaN of two registers.
    CanonicalPair {
        registers: (usize, usize),
        single: bool,
        back: CodeLabel,
    },
    /// A conversion to an integer that saturates.
    Saturate(Saturate),
    /// A conversion to an unsigned integer of what no signed one can do.
    Unsigned(Unsigned),
    /// A conversion from an integer that is rounded, or has no instruction.
    FromInt(Rounded),
    /// A function that has called does not come back where it was called.
    Elsewhere { results: Regs },
    /// Leads a cell to the translator until its function is translated.
    Lazy { target: u64, cell: u64 },
    /// A call through a pointer that is not among the known targets.
    Unknown { back_address: u64, back: CodeLabel },
    /// Everything to the hart, and out.
    Exit {
        reason: Reason,
        pc: u64,
        places: Vec<places::At>,
    },
    /// The same at a budget point that has counted so many instructions.
    Budget {
        counted: u32,
        pc: u64,
        places: Vec<places::At>,
    },
    /// The host's stack is used up at an entry: its frames are cut off.
    StackLimit(u64),
}

impl Emitter<'_> {
    pub fn cold_exit(&mut self, reason: Reason, node: &Node) -> CodeLabel {
        let places = self.places(node);
        self.cold(Cold::Exit {
            reason,
            pc: node.pc,
            places,
        })
    }

    pub fn emit_colds(&mut self) -> Emitted {
        // None of them makes another.
        for (n, (mut label, cold)) in std::mem::take(&mut self.colds).into_iter().enumerate() {
            if let Some(trace) = &mut self.trace {
                trace.begin_cold(self.a.instructions().len(), n);
            }
            self.homes_of_cold(n);
            bind(&mut self.a, &mut label)?;
            self.depth(match cold {
                Cold::StackLimit(_) => 0,
                _ => self.frame,
            });
            match cold {
                Cold::Canonical {
                    register,
                    single,
                    back,
                } => {
                    self.load_canonical(register, single)?;
                    self.a.jmp(back)?;
                }
                Cold::CanonicalPair {
                    registers: (first, second),
                    single,
                    back,
                } => {
                    let mut next = self.a.create_label();
                    self.test_nan(XMM[first], XMM[first], single)?;
                    self.a.jnp(next)?;
                    self.load_canonical(first, single)?;
                    bind(&mut self.a, &mut next)?;
                    self.test_nan(XMM[second], XMM[second], single)?;
                    self.a.jnp(back)?;
                    self.load_canonical(second, single)?;
                    self.a.jmp(back)?;
                }
                Cold::Saturate(of) => self.saturate(of)?,
                Cold::Unsigned(of) => self.rare_unsigned(of)?,
                Cold::FromInt(of) => self.rare_from_int(of)?,
                Cold::Elsewhere { results } => {
                    self.store_results(results)?;
                    self.engine_function(Word::Elsewhere, false)?;
                }
                Cold::Lazy { target, cell } => {
                    self.cells.push((cell, label));
                    self.a.mov(rax, target)?;
                    self.engine_function(Word::Call, false)?;
                }
                Cold::Unknown { back_address, back } => {
                    self.load_guest_address(R11, back_address, true)?;
                    self.no_cell()?;
                    self.engine_function(Word::Call, true)?;
                    self.a.jmp(back)?;
                }
                Cold::Exit { reason, pc, places } => self.exit(reason, pc, &places)?,
                Cold::Budget {
                    counted,
                    pc,
                    places,
                } => {
                    self.take_back(counted)?;
                    self.exit(Reason::Budget, pc, &places)?;
                }
                Cold::StackLimit(at) => {
                    self.load_guest_address(RAX, at, false)?;
                    self.engine_function(Word::LeaveAtCall, false)?;
                }
            }
        }
        Ok(())
    }

    pub fn load_canonical(&mut self, register: usize, single: bool) -> Emitted {
        let bits = if single {
            0xffff_ffff_7fc0_0000
        } else {
            0x7ff8_0000_0000_0000
        };
        let nan = self.constant(bits);
        self.a.movsd_2(XMM[register], nan)
    }

    fn store_results(&mut self, results: Regs) -> Emitted {
        let slot = |reg| rbp + (crate::lower::slot(reg) - HART_BIAS);
        if results & bit(A0) != 0 {
            self.a.mov(qword_ptr(slot(A0)), rax)?;
        }
        if results & bit(A1) != 0 {
            self.a.mov(qword_ptr(slot(A1)), rdx)?;
        }
        if results & bit(FA0) != 0 {
            self.a.movsd_2(qword_ptr(slot(FA0)), xmm0)?;
        }
        if results & bit(FA1) != 0 {
            self.a.movsd_2(qword_ptr(slot(FA1)), xmm1)?;
        }
        Ok(())
    }

    /// Instructions were counted, and are not executed here.
    pub fn take_back(&mut self, counted: u32) -> Emitted {
        if counted == 0 {
            return Ok(());
        }
        self.add_to_count(-(counted as i32))
    }

    /// Everything alive to the hart, and back to [`crate::run()`], to go on at `pc`.
    pub fn exit(&mut self, reason: Reason, pc: u64, places: &[places::At]) -> Emitted {
        self.store_places(places)?;
        self.load_guest_address(RAX, pc, false)?;
        self.a
            .mov(qword_ptr(rbp + Self::hart(offset_of!(Hart, pc))), rax)?;
        self.a.mov(eax, reason as u32)?;
        self.engine_function(Word::Leave, false)
    }
}
