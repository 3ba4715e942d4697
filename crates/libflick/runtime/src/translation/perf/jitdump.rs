//! `/tmp/jit-PID.dump` (Linux, tools/perf/Documentation, jitdump-specification.txt, version 1 of
//! the file): of each translation the source lines, how to unwind it, the name and the bytes. `perf
//! inject --jit` makes an ELF file of each, which perf shows with its instructions and lines.
//!
//! perf finds the file by an executable mapping of it, which it sees come. Nothing is executed
//! there.
use std::ffi::{CStr, c_char};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use flick_translator::{Part, Span, TRACE_ROOM};

use super::file::{append, append_or_warn, put_name, remove, with_path};
use crate::modules;
use crate::os::fatal;
use crate::os::text::Text;

const BEFORE: &str = "/tmp/jit-";
const AFTER: &str = ".dump";

const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
const HEADER_SIZE: u32 = 40;
const MACHINE: u32 = 62;

const CODE_LOAD: u32 = 0;
const DEBUG_INFO: u32 = 2;
const UNWINDING_INFO: u32 = 4;

/// The process that has begun its file; 0: none has.
static OWNER: AtomicU64 = AtomicU64::new(0);
static INDEX: AtomicU64 = AtomicU64::new(0);

/// Begins the file, and says so where it cannot.
pub fn init() {
    if let Err(why) = begin() {
        fatal::warn(
            "FLK0105",
            &format!("a file cannot be written: /tmp/jit-PID.dump: {why}"),
            "check that /tmp is writable and not mounted with noexec, or use FLICK_PERF=map",
        );
    }
}

fn begin() -> Result<(), &'static str> {
    let mut header = vec![];
    for word in [MAGIC, VERSION, HEADER_SIZE, MACHINE, 0, process() as u32] {
        header.extend(word.to_le_bytes());
    }
    header.extend(now().to_le_bytes());
    // No flags: the clock is the kernel's monotonic one.
    header.extend(0u64.to_le_bytes());
    with_path(BEFORE, AFTER, |path| {
        remove(path);
        append(path, &header).map_err(|_| "it cannot be made")?;
        mark(path)
    })?;
    OWNER.store(process(), Ordering::Relaxed);
    Ok(())
}

/// Maps the file, for perf to see.
fn mark(path: &CStr) -> Result<(), &'static str> {
    // SAFETY: a C string, and a mapping at a place of the kernel's choice.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        let place = libc::mmap(
            ptr::null_mut(),
            HEADER_SIZE as usize,
            protection,
            libc::MAP_PRIVATE,
            file,
            0,
        );
        libc::close(file);
        if place == libc::MAP_FAILED {
            return Err("perf would not find it, since it cannot be mapped executable");
        }
    }
    Ok(())
}

pub fn add(host: Range<u64>, guest: u64, spans: &[Span]) {
    // A child of `fork` has a file of its own.
    if OWNER.load(Ordering::Relaxed) != process() && begin().is_err() {
        return;
    }
    let mut records = vec![];
    put_lines(&mut records, host.start, spans);
    put_unwinding(&mut records, host.end - host.start);
    put_code(&mut records, host, guest);
    with_path(BEFORE, AFTER, |path| append_or_warn(path, &records));
}

/// A record: its kind, and what follows its header.
fn put(records: &mut Vec<u8>, kind: u32, body: &[u8]) {
    const RECORD_HEADER: u32 = 16;
    records.extend(kind.to_le_bytes());
    records.extend((body.len() as u32 + RECORD_HEADER).to_le_bytes());
    records.extend(now().to_le_bytes());
    records.extend(body);
}

/// The source line of each piece of code, where it is another than before.
fn put_lines(records: &mut Vec<u8>, start: u64, spans: &[Span]) {
    let mut entries = vec![];
    let mut count = 0u64;
    let mut last = (ptr::null(), 0);
    let code = spans
        .iter()
        .filter(|span| matches!(span.part, Part::Body | Part::Cold));
    for span in code {
        let Some(place) = source_line(span.guest) else {
            continue;
        };
        if place == last {
            continue;
        }
        last = place;
        let (file, line) = place;
        entries.extend((start + span.offset as u64).to_le_bytes());
        entries.extend(line.to_le_bytes());
        // No discriminator.
        entries.extend(0u32.to_le_bytes());
        // SAFETY: a C string of the module.
        entries.extend(unsafe { CStr::from_ptr(file) }.to_bytes_with_nul());
        count += 1;
    }
    if count != 0 {
        let mut body = vec![];
        body.extend(start.to_le_bytes());
        body.extend(count.to_le_bytes());
        body.extend(entries);
        put(records, DEBUG_INFO, &body);
    }
}

/// Where the guest's instruction comes from; the innermost place, if functions were inlined.
fn source_line(guest: u64) -> Option<(*const c_char, u32)> {
    let place = modules::innermost(guest)?;
    (!place.file.is_null() && place.line != 0).then_some((place.file, place.line))
}

/// How to leave the code: one row for all of it, in a section `.eh_frame` and behind it its table
/// (`.eh_frame_hdr`; Linux Standard Base 5.0, core, "Exception Frames"). perf puts them behind the
/// code.
fn put_unwinding(records: &mut Vec<u8>, size: u64) {
    let frames = flick_translator::unwind_section_behind(size as u32);
    let length = frames.len() as i32;
    // Of the second record, behind the first one and its length.
    let second = i32::from_le_bytes(frames[..4].try_into().unwrap_or_default()) + 4;
    // Version 1; signed distances of 4 bytes from where they stand and, in the table, from its
    // start.
    let mut table = vec![1, 0x1b, 0x03, 0x3b];
    let code = size.next_multiple_of(8) as i32;
    // To the section, and how many rows there are; then the row's code and its record.
    for word in [-(length + 4), 1, -(code + length), second - length] {
        table.extend(word.to_le_bytes());
    }
    let all = frames.len() + table.len();
    debug_assert!(all + 7 <= TRACE_ROOM);
    let mut body = vec![];
    // Sizes of both, of the table, and of what has a place in the process: perf reads them there.
    for word in [all, table.len(), all] {
        body.extend((word as u64).to_le_bytes());
    }
    body.extend(frames);
    body.extend(table);
    put(records, UNWINDING_INFO, &body);
}

fn put_code(records: &mut Vec<u8>, host: Range<u64>, guest: u64) {
    let size = host.end - host.start;
    // SAFETY: a plain system call.
    let thread = unsafe { libc::gettid() };
    let mut body = vec![];
    body.extend((process() as u32).to_le_bytes());
    body.extend(thread.to_le_bytes());
    // Where it is mapped, and where it is: the same.
    for word in [
        host.start,
        host.start,
        size,
        INDEX.fetch_add(1, Ordering::Relaxed),
    ] {
        body.extend(word.to_le_bytes());
    }
    let mut name = Text::new();
    put_name(&mut name, guest);
    body.extend(name.bytes());
    body.push(0);
    // SAFETY: a translation, which is readable and stays while the translator is locked.
    body.extend(unsafe { std::slice::from_raw_parts(host.start as *const u8, size as usize) });
    put(records, CODE_LOAD, &body);
}

fn process() -> u64 {
    // SAFETY: a plain system call.
    unsafe { libc::getpid() as u64 }
}

/// Nanoseconds of the monotonic clock (`perf record -k mono`).
fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: fills in the record.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
