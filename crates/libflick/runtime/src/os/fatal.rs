//! Messages of the runtime on stderr, and the end of the program where nothing else is right.

use std::ffi::c_int;

use super::errno::last_errno;
use super::text::Text;

/// Exit status of a program that Flick could not start or had to stop.
pub const STATUS: i32 = 125;

/// Writes `flick: error: [code] what` and `help: remedy`, then ends the process without running its
/// exit handlers (its state can no longer be trusted, or it has not started).
pub fn exit(code: &str, what: &str, remedy: &str) -> ! {
    message("error", code, what, remedy);
    // SAFETY: ends the process.
    unsafe { libc::_exit(STATUS) }
}

/// The same, and the program ends by itself.
pub fn error(code: &str, what: &str, remedy: &str) {
    message("error", code, what, remedy);
}

/// The same as a note that lets the program go on.
pub fn warn(code: &str, what: &str, remedy: &str) {
    message("warning", code, what, remedy);
}

fn message(kind: &str, code: &str, what: &str, remedy: &str) {
    let text =
        format!("flick: {kind}: [{code}] {what}\n  help: {remedy}; see `flick explain {code}`\n");
    write_stderr(text.as_bytes());
}

/// A warning (FLK0105) that `what` cannot be written, where `errno` says why. Async-signal-safe.
pub fn cannot_write(what: &str, errno: i32, remedy: &str) {
    let mut text = Text::new();
    text.str("flick: warning: [FLK0105] ").str(what);
    text.str(" cannot be written: ");
    match errno {
        libc::ENOSPC => text.str("no space left on device"),
        libc::EDQUOT => text.str("disk quota exceeded"),
        libc::EFBIG => text.str("file too large"),
        libc::EIO => text.str("input or output error"),
        number => text.str("errno ").decimal(number.unsigned_abs()),
    };
    text.str("\n  help: ").str(remedy);
    text.str("; see `flick explain FLK0105`\n");
    write_stderr(text.bytes());
}

/// All of `bytes` to `file`; else errno. Async-signal-safe.
pub fn write_all(file: c_int, mut bytes: &[u8]) -> Result<(), c_int> {
    while !bytes.is_empty() {
        // SAFETY: the buffer is valid for its length.
        let written = unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(_) if last_errno() == libc::EINTR => {}
            Err(_) => return Err(last_errno()),
        }
    }
    Ok(())
}

/// One write(2) to stderr; async-signal-safe.
pub fn write_stderr(bytes: &[u8]) {
    // SAFETY: the buffer is valid for its length; a failed or short write has no remedy.
    unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
}
