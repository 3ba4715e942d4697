//! Messages of the runtime on stderr, and the end of the program where nothing else is right.

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

/// One write(2) to stderr; async-signal-safe.
pub fn write_stderr(bytes: &[u8]) {
    // SAFETY: the buffer is valid for its length; a failed or short write has no remedy.
    unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
}
