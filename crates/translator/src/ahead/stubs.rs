//! Stubs by which a module calls what is outside of it.
//!
//! Each callee has a stub, a cell and a binder. The stub jumps to where its cell says. At first that
//! is its binder, by which the engine finds out what to call, and fills the cell. So a call has no
//! check, and a debugger finds a function's name where the call leads.
use super::{Ahead, Place};
use crate::emit::{Outside, Word};

/// Bytes from a stub to the next, and from a binder to the next.
pub const STUB_SIZE: usize = 16;

impl Ahead {
    /// Where the stub with this number is, from the start of the code.
    pub fn stub(&self, number: usize) -> usize {
        self.first_stub + STUB_SIZE * number
    }

    /// Its binder, whose address the cell with this number has at first.
    pub fn binder(&self, number: usize) -> usize {
        self.stub(self.outside.len() + number)
    }

    /// Adds the stubs of `outside`.
    pub(super) fn add_stubs(&mut self, outside: Vec<Outside>) {
        self.first_stub = self.align();
        self.outside = outside;
        for n in 0..self.outside.len() {
            self.align();
            // mov rax, [rip + slot]; jmp [rip + cell]. What calls functions of the host looks for
            // the target in rax.
            self.code.extend([0x48, 0x8b, 0x05, 0, 0, 0, 0]);
            self.place_at_end(Place::Guest(self.outside[n].slot));
            self.code.extend([0xff, 0x25, 0, 0, 0, 0]);
            self.place_at_end(Place::Cell(n as u32));
        }
        for n in 0..self.outside.len() {
            self.align();
            // lea r10, [rip + cell]; jmp [rip + word]
            self.code.extend([0x4c, 0x8d, 0x15, 0, 0, 0, 0]);
            self.place_at_end(Place::Cell(n as u32));
            self.code.extend([0xff, 0x25, 0, 0, 0, 0]);
            self.place_at_end(Place::Engine(Word::Call));
        }
    }
}
