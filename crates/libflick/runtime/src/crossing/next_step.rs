//! What the crossing does next.

/// `step`'s answer to the crossing.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The NxP function has returned: rax, rdx, xmm0, xmm1 are a0, a1, fa0, fa1.
    Return = 0,
    /// Call `activation.call`, then resume. Its arguments are the NxP's registers in order.
    CallPlain = 1,
    /// The same with arguments in `int_args` and the low halves of `float_args`.
    CallHost = 2,
    /// The same, but there are arguments on the stack or whole vectors.
    CallHostInFull = 3,
    /// The NxP function has returned: xmm0 is a0 and a1.
    ReturnVector = 4,
    /// Call the translated code at `activation.call.target` with the registers of the hart.
    Translated = 5,
    /// Return to the translated code that has called and waits.
    Back = 6,
    /// Call the host above frames of translated code that waits for it (`card/shown_frames.rs`).
    CallAboveFrames = 7,
}
