//! What the kernel and the limits of this process allow.
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode};
use std::ptr;

use super::Finding;

const GIB: usize = 1 << 30;
/// What the runtime wants to reserve for NxP heaps and stacks, and with what it can still work
/// (`docs/decisions.md`, 14: smaller under `RLIMIT_AS`).
const WANTED: usize = 4 * GIB;
const LEAST: usize = GIB / 4;

pub fn system() -> Finding {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let here = format!(
        "{} {} {}",
        std::env::consts::OS,
        release.trim(),
        std::env::consts::ARCH
    );
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        Finding::Ok(here)
    } else {
        Finding::Missing(here, "Flick programs run on x86-64 Linux".into())
    }
}

/// Whether a jump to memory without execute permission faults, as the crossing of last resort
/// needs: a child process tries, for it should die of it.
pub fn no_execute() -> Finding {
    let status = std::env::current_exe()
        .and_then(|exe| Command::new(exe).args(["doctor", "--probe-nx"]).status());
    match status {
        Ok(status) if status.signal() == Some(libc::SIGSEGV) => {
            Finding::Ok("a jump into it faults".into())
        }
        Ok(status) => Finding::Missing(
            format!("a jump into it did not fault ({status})"),
            "enable the processor's NX bit (firmware set-up); do not boot with noexec=off".into(),
        ),
        Err(error) => Finding::Missing(format!("cannot be tried: {error}"), "see above".into()),
    }
}

/// The child of [`no_execute`].
pub fn probe_nx() -> ExitCode {
    const RET: u8 = 0xc3;
    // SAFETY: no core file for a death that is wanted; the argument is a valid rlimit.
    unsafe {
        libc::setrlimit(
            libc::RLIMIT_CORE,
            &libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            },
        )
    };
    let Some(page) = map(4096, libc::PROT_READ | libc::PROT_WRITE) else {
        return ExitCode::FAILURE;
    };
    // SAFETY: the page is ours and writable. If, against expectation, it can be executed, the one
    // instruction in it returns at once.
    unsafe {
        page.cast::<u8>().write(RET);
        let function: extern "C" fn() = std::mem::transmute(page);
        function();
    }
    ExitCode::SUCCESS
}

pub fn address_space() -> Finding {
    let mut size = WANTED;
    while size >= LEAST {
        if let Some(region) = map(size, libc::PROT_NONE) {
            // SAFETY: exactly the mapping just made; nothing points into it.
            unsafe { libc::munmap(region, size) };
            let text = format!("{} MiB can be reserved", size >> 20);
            return if size == WANTED {
                Finding::Ok(text)
            } else {
                Finding::Note(
                    text,
                    format!(
                        "NxP-local memory will be smaller than {} GiB; raise `ulimit -v`",
                        WANTED / GIB
                    ),
                )
            };
        }
        size /= 2;
    }
    Finding::Missing(
        format!("not even {} MiB can be reserved", LEAST >> 20),
        "raise `ulimit -v`, or the memory limit of the container".into(),
    )
}

pub fn address_limit() -> Finding {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is writable and of the right type.
    if unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } != 0 {
        return Finding::Note("cannot be read".into(), "nothing needs to be done".into());
    }
    if limit.rlim_cur == libc::RLIM_INFINITY {
        return Finding::Ok("unlimited".into());
    }
    let text = format!("{} MiB", limit.rlim_cur >> 20);
    if limit.rlim_cur >= 2 * WANTED as u64 {
        Finding::Ok(text)
    } else {
        Finding::Note(
            text,
            "NxP-local memory is taken out of this; `ulimit -v unlimited`".into(),
        )
    }
}

pub fn huge_pages() -> Finding {
    const SWITCH: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    let remedy = || format!("as root: echo madvise > {SWITCH} (only for speed)");
    match fs::read_to_string(SWITCH) {
        Ok(text) if text.contains("[never]") => {
            Finding::Note("transparent huge pages are off".into(), remedy())
        }
        Ok(text) => {
            let mode = text.split(['[', ']']).nth(1).unwrap_or("unknown");
            Finding::Ok(format!("transparent huge pages: {mode}"))
        }
        Err(_) => Finding::Note(
            "this kernel has no transparent huge pages".into(),
            "large NxP-local data will miss the TLB more often; nothing else".into(),
        ),
    }
}

fn map(size: usize, protection: i32) -> Option<*mut libc::c_void> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping at a place of the kernel's choice touches nothing that
    // exists.
    let memory = unsafe { libc::mmap(ptr::null_mut(), size, protection, flags, -1, 0) };
    (memory != libc::MAP_FAILED).then_some(memory)
}
