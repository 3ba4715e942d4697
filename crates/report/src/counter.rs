//! Instructions that a program and its children execute on the host, from the processor's own
//! counter (perf_event_open(2)).
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;

use flick_events::HostInstructions;

/// `struct perf_event_attr` in its first published size (linux/perf_event.h, PERF_ATTR_SIZE_VER0).
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
}
const _: () = assert!(size_of::<Attributes>() == 64);

const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;

/// `read_format`: how long the counter wanted to count, and how long it had a register.
const TIMES: u64 = 3;

const HARDWARE: u32 = 0;
const INSTRUCTIONS: u64 = 1;

/// Counts what processes that this one starts from now on do after their `exec`.
pub struct Counter(File);

impl Counter {
    /// Of instructions in user mode. The error is for people.
    pub fn instructions() -> Result<Self, String> {
        Self::open(HARDWARE, INSTRUCTIONS).map_err(|error| match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => {
                "this user may not use the processor's counters (sysctl \
                 kernel.perf_event_paranoid=2 or less allows it)"
                    .into()
            }
            Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => {
                "no counter of instructions on this machine (a virtual machine may have none)"
                    .into()
            }
            Some(libc::ENOSYS) => "this kernel has no perf_event_open".into(),
            _ => format!("perf_event_open: {error}"),
        })
    }

    fn open(kind: u32, config: u64) -> io::Result<Self> {
        let attributes = Attributes {
            kind,
            size: size_of::<Attributes>() as u32,
            config,
            sample_period: 0,
            sample_type: 0,
            read_format: TIMES,
            flags: DISABLED | INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | ENABLE_ON_EXEC,
            wakeup_events: 0,
            breakpoint_type: 0,
            breakpoint_address: 0,
        };
        let (this_process, any_cpu, no_group) = (0, -1, -1);
        const CLOSE_ON_EXEC: libc::c_ulong = 8;
        // SAFETY: the record is valid for its size; the result is a new descriptor or -1.
        unsafe {
            let fd = libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                this_process,
                any_cpu,
                no_group,
                CLOSE_ON_EXEC,
            );
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(File::from_raw_fd(fd as i32)))
        }
    }

    /// The sum over the processes that have ended.
    pub fn read(&mut self) -> HostInstructions {
        let mut bytes = [0; 24];
        match self.0.read(&mut bytes) {
            Ok(24) => {}
            Ok(_) => return Err("the counter was not read".into()),
            Err(error) => return Err(format!("the counter was not read: {error}")),
        }
        let word = |i: usize| u64::from_ne_bytes(std::array::from_fn(|b| bytes[8 * i + b]));
        let (value, wanted, counted) = (word(0), word(1), word(2));
        match counted {
            0 => Err("the counter never ran".into()),
            // Others use the processor's counters too: as perf does, what was seen is scaled.
            _ if counted < wanted => {
                Ok((value as f64 * (wanted as f64 / counted as f64)).round() as u64)
            }
            _ => Ok(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// With a counter of the kernel's, which every machine has: the child's use, and not ours.
    #[test]
    fn counts_children_only() {
        const SOFTWARE: u32 = 1;
        const TASK_CLOCK: u64 = 1;
        let mut counter = match Counter::open(SOFTWARE, TASK_CLOCK) {
            Ok(counter) => counter,
            Err(error) => {
                eprintln!("skipped: perf_event_open: {error}");
                return;
            }
        };
        let begin = std::time::Instant::now();
        while begin.elapsed().as_millis() < 20 {}
        assert!(counter.read().is_err(), "nothing has run yet");
        let loops = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        assert!(
            Command::new("sh")
                .args(["-c", loops])
                .status()
                .unwrap()
                .success()
        );
        let nanoseconds = counter.read().unwrap();
        assert!(nanoseconds > 1_000_000, "{nanoseconds}");
    }
}
