//! Stubs by which a module calls what is outside of it.
//!
//! Each callee has a stub, a cell and a binder. The stub jumps to where its cell says. At first that
//! is its binder, by which the engine finds out what to call, and fills the cell. So a call has no
//! check, and a debugger finds a function's name where the call leads.
use crate::emit::Outside;

/// Bytes from a stub to the next, and from a binder to the next.
pub const STUB_SIZE: usize = 16;
/// `int3`, behind each.
const PADDING: u8 = 0xcc;

/// What a displacement leads to.
pub enum To {
    /// The word of the guest's module.
    Slot(u64),
    /// The cell with this number.
    Cell(u32),
    /// The engine's function for calls.
    Call,
}

/// The stubs of `outside`, and behind them the binders; and the ends of displacements in them.
pub fn code(outside: &[Outside]) -> (Vec<u8>, Vec<(usize, To)>) {
    let (mut code, mut ends) = (vec![], vec![]);
    let mut put = |bytes: &[u8], to| {
        code.extend_from_slice(bytes);
        ends.push((code.len(), to));
        // The second instruction ends a stub and a binder.
        if bytes[0] == 0xff {
            code.resize(code.len().next_multiple_of(STUB_SIZE), PADDING);
        }
    };
    for (n, callee) in outside.iter().enumerate() {
        // mov rax, [rip + slot]; jmp [rip + cell]. What calls functions of the host looks for the
        // target in rax.
        put(&[0x48, 0x8b, 0x05, 0, 0, 0, 0], To::Slot(callee.slot));
        put(&[0xff, 0x25, 0, 0, 0, 0], To::Cell(n as u32));
    }
    for n in 0..outside.len() as u32 {
        // lea r10, [rip + cell]; jmp [rip + word]
        put(&[0x4c, 0x8d, 0x15, 0, 0, 0, 0], To::Cell(n));
        put(&[0xff, 0x25, 0, 0, 0, 0], To::Call);
    }
    (code, ends)
}
