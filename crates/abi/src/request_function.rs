//! Functions with the mark `FLICK_ON`: a call is a request to an accelerator (`docs/host-files.md`, "Functions on
//! accelerators"). The pass makes their bodies, which call [`CALL`].

/// `int (const char *accelerator, const char *function, unsigned flags, uint64_t count, struct { void *at; uint64_t
/// size; } *arrays)`: 0, an errno, or [`BODY`].
pub const CALL: &str = "__flick_on";
/// The function's own body is to be executed: there is no such accelerator.
pub const BODY: u32 = 1 << 16;
/// A flag: the function has a body.
pub const HAS_BODY: u32 = 1;
/// A flag: the function returns 0 or an errno.
pub const RETURNS: u32 = 2;
