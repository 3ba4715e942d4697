//! Waits for a child, no longer than a time limit, and returns its status and processor time. The
//! processor time of all children is known without a limit.
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// How the child ended, and its processor time. `None`: its time was over, and its process group
/// has been killed.
pub fn wait(child: Child, limit: Duration) -> io::Result<(Option<ExitStatus>, Duration)> {
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let in_time = ends_within(pid, limit)?;
    if !in_time {
        // SAFETY: killpg only takes numbers; the group is the child's own, not yet reaped.
        unsafe { libc::killpg(pid, libc::SIGKILL) };
    }
    let mut status = 0;
    // SAFETY: all zeros are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to values that outlive the call. Nothing else has waited for
        // `child`.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } == pid {
            break;
        }
        interrupted()?;
    }
    let cpu = time(usage.ru_utime) + time(usage.ru_stime);
    Ok((in_time.then(|| ExitStatus::from_raw(status)), cpu))
}

/// Processor time of the children that this process has waited for, and of those that they have
/// waited for: in user code, and in the kernel (getrusage(2), `RUSAGE_CHILDREN`).
pub fn processor_time() -> (Duration, Duration) {
    // SAFETY: all zeros are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a value that outlives the call, which fills it.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    (time(usage.ru_utime), time(usage.ru_stime))
}

fn ends_within(pid: libc::pid_t, limit: Duration) -> io::Result<bool> {
    // SAFETY: the call takes numbers and gives a descriptor or -1.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = i32::try_from(fd).map_err(io::Error::other)?;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and no other object owns it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let end = Instant::now() + limit;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        // It is rounded up, so that a rest below a millisecond does not become a busy loop.
        let left = i32::try_from(left.as_millis() + 1).unwrap_or(i32::MAX);
        let mut poll = libc::pollfd {
            fd: fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: `poll` is one valid pollfd that outlives the call.
        match unsafe { libc::poll(&raw mut poll, 1, left) } {
            -1 => interrupted()?,
            0 if Instant::now() >= end => return Ok(false),
            0 => {}
            _ => return Ok(true),
        }
    }
}

/// Fails with the last error, unless that is an interruption.
fn interrupted() -> io::Result<()> {
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::Interrupted => Ok(()),
        _ => Err(error),
    }
}

fn time(value: libc::timeval) -> Duration {
    let seconds = u64::try_from(value.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(value.tv_usec).unwrap_or(0))
}
