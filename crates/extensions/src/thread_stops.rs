//! Calls of `ptrace`, and what a stop of a thread means.
use std::io;

use libc::{c_int, c_long, c_void, pid_t};

/// What has become of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It has ended.
    Gone,
    /// It waits for [`resume`].
    Stopped(Stop),
}

/// Why a thread has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has made this thread or process.
    Created(pid_t),
    /// It executes another program. It had this number before.
    Executed(pid_t),
    /// It makes a call that the filter names.
    Call,
    /// A call that [`resume_to_end_of_call`] let go on has ended.
    CallEnded,
    /// Job control has stopped it.
    Group,
    /// It is new, or goes on after job control.
    Begins,
    /// A signal is about to be delivered.
    Signal(c_int),
}

/// A call of the kernel, with what Linux calls its number and arguments.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Its number.
    pub number: u64,
    /// Its arguments.
    pub arguments: [u64; 6],
}

const OPTIONS: c_int = libc::PTRACE_O_EXITKILL
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_TRACESYSGOOD;
/// `PTRACE_EVENT_STOP` of Linux's `ptrace.h`.
const EVENT_STOP: c_int = 128;

/// A request with numbers as arguments.
fn request(what: c_long, thread: pid_t, address: u64, data: u64) -> io::Result<()> {
    // SAFETY: no request that is made by this function has memory of ours as an argument.
    match unsafe { libc::syscall(libc::SYS_ptrace, what, thread, address, data) } {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A request that writes a `T`, of which all bytes are values.
///
/// # Safety
/// The kernel writes to the `T` for this request, and to no more.
unsafe fn answer<T>(what: c_long, thread: pid_t, address: u64, mut into: T) -> io::Result<T> {
    // SAFETY: as the caller says; the value lives across the call.
    match unsafe { libc::syscall(libc::SYS_ptrace, what, thread, address, &raw mut into) } {
        0.. => Ok(into),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Begins to watch a process, which goes on meanwhile.
pub fn seize(process: pid_t) -> io::Result<()> {
    request(libc::PTRACE_SEIZE as c_long, process, 0, OPTIONS as u64)
}

/// Lets a thread go on, with a signal that it gets; 0 is none. A thread that was killed meanwhile is
/// reported later.
pub fn resume(thread: pid_t, signal: c_int) {
    let _ = request(libc::PTRACE_CONT as c_long, thread, 0, signal as u64);
}

/// The same, up to the end of the call that it makes.
pub fn resume_to_end_of_call(thread: pid_t) {
    let _ = request(libc::PTRACE_SYSCALL as c_long, thread, 0, 0);
}

/// Leaves a thread stopped by job control, and reports when it goes on.
pub fn leave_stopped(thread: pid_t) {
    let _ = request(libc::PTRACE_LISTEN as c_long, thread, 0, 0);
}

/// The next change of a thread, which stays one that can be waited for: [`take`] ends that.
pub fn peek() -> io::Result<Option<(pid_t, bool)>> {
    // SAFETY: a `siginfo_t` is plain data, and zeros are one without a process.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: the structure lives across the call.
    if unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `waitid` fills the part of the union for children.
    let thread = unsafe { info.si_pid() };
    let is_end = [libc::CLD_EXITED, libc::CLD_KILLED, libc::CLD_DUMPED].contains(&info.si_code);
    Ok((thread != 0).then_some((thread, is_end)))
}

/// Takes the change that [`peek`] has found. `None`: it is over, since the thread was killed.
pub fn take(thread: pid_t) -> Option<Change> {
    let mut status = 0;
    // SAFETY: the status lives across the call.
    let taken = unsafe { libc::waitpid(thread, &raw mut status, libc::__WALL | libc::WNOHANG) };
    if taken != thread {
        return None;
    }
    if !libc::WIFSTOPPED(status) {
        return Some(Change::Gone);
    }
    let signal = libc::WSTOPSIG(status);
    let stop = match status >> 16 {
        libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => {
            Stop::Created(message(thread)?)
        }
        libc::PTRACE_EVENT_EXEC => Stop::Executed(message(thread)?),
        libc::PTRACE_EVENT_SECCOMP => Stop::Call,
        EVENT_STOP if signal == libc::SIGTRAP => Stop::Begins,
        EVENT_STOP => Stop::Group,
        _ if signal == libc::SIGTRAP | 0x80 => Stop::CallEnded,
        _ => Stop::Signal(signal),
    };
    Some(Change::Stopped(stop))
}

/// The number that comes with an event.
fn message(thread: pid_t) -> Option<pid_t> {
    // SAFETY: the kernel writes a word.
    let number = unsafe { answer(libc::PTRACE_GETEVENTMSG as c_long, thread, 0, 0_u64) };
    number.ok()?.try_into().ok()
}

/// The address of the instruction that a signal is for, if the CPU has raised it.
pub fn faulting_address(thread: pid_t) -> Option<u64> {
    // SAFETY: a `siginfo_t` is plain data; the kernel writes one.
    let info = unsafe {
        let none: libc::siginfo_t = std::mem::zeroed();
        answer(libc::PTRACE_GETSIGINFO as c_long, thread, 0, none).ok()?
    };
    // Codes of `kill` and its kin are not above 0, and SI_KERNEL has no address.
    let is_fault = info.si_code > 0 && info.si_code != libc::SI_KERNEL;
    // SAFETY: faults have an address in the union.
    is_fault.then(|| unsafe { info.si_addr() } as u64)
}

/// The instruction at an address: 32 bits, or 16 with zeros above.
pub fn instruction(thread: pid_t, address: u64) -> Option<u32> {
    let half = |address: u64| {
        let aligned = address & !7;
        // SAFETY: the kernel writes a word. An aligned one is in one page.
        let word =
            unsafe { answer(libc::PTRACE_PEEKTEXT as c_long, thread, aligned, 0_u64) }.ok()?;
        Some((word >> (address % 8 * 8)) as u16)
    };
    let low = half(address & !1)?;
    if low & 3 != 3 {
        return Some(low.into());
    }
    Some(u32::from(half((address & !1) + 2)?) << 16 | u32::from(low))
}

/// Writes words to the memory of a thread.
pub fn write(thread: pid_t, address: u64, words: &[u64]) -> io::Result<()> {
    for (at, &word) in (0..).zip(words) {
        let address = address.wrapping_add(at * 8);
        request(libc::PTRACE_POKEDATA as c_long, thread, address, word)?;
    }
    Ok(())
}

/// The call that a thread has stopped at.
pub fn call(thread: pid_t) -> Option<Call> {
    let info = call_information(thread)?;
    if info.op != libc::PTRACE_SYSCALL_INFO_SECCOMP {
        return None;
    }
    // SAFETY: `op` says which part of the union there is.
    let call = unsafe { info.u.seccomp };
    Some(Call {
        number: call.nr,
        arguments: call.args,
    })
}

/// Has the call that has ended succeeded?
pub fn call_succeeded(thread: pid_t) -> bool {
    call_information(thread).is_some_and(|info| {
        // SAFETY: `op` says which part of the union there is.
        info.op == libc::PTRACE_SYSCALL_INFO_EXIT && unsafe { info.u.exit.is_error } == 0
    })
}

fn call_information(thread: pid_t) -> Option<libc::ptrace_syscall_info> {
    let size = size_of::<libc::ptrace_syscall_info>() as u64;
    // SAFETY: the structure is plain data. The kernel writes `size` bytes to it at most.
    unsafe {
        let none: libc::ptrace_syscall_info = std::mem::zeroed();
        answer(libc::PTRACE_GET_SYSCALL_INFO as c_long, thread, size, none).ok()
    }
}

/// Where the number and the result of a call are in the general registers, as words.
#[cfg(target_arch = "riscv64")]
const CALL_NUMBER_AND_RESULT: [usize; 2] = [17, 10];
#[cfg(target_arch = "x86_64")]
const CALL_NUMBER_AND_RESULT: [usize; 2] = [15, 10];

/// The call that a thread has stopped at is not made. This is its result instead.
pub fn replace_call(thread: pid_t, result: i64) -> io::Result<()> {
    let mut registers = [0_u64; 64];
    let size = transfer(libc::PTRACE_GETREGSET as c_long, thread, &mut registers)?;
    let [number_at, result_at] = CALL_NUMBER_AND_RESULT;
    registers[number_at] = u64::MAX;
    registers[result_at] = result as u64;
    transfer(
        libc::PTRACE_SETREGSET as c_long,
        thread,
        &mut registers[..size / 8],
    )?;
    Ok(())
}

/// Reads or writes the general registers. Returns their size in bytes.
fn transfer(what: c_long, thread: pid_t, registers: &mut [u64]) -> io::Result<usize> {
    const PRSTATUS: u64 = 1;
    let mut vector = libc::iovec {
        iov_base: registers.as_mut_ptr().cast::<c_void>(),
        iov_len: size_of_val(registers),
    };
    // SAFETY: the vector names the registers' memory, which lives across the call.
    match unsafe { libc::syscall(libc::SYS_ptrace, what, thread, PRSTATUS, &raw mut vector) } {
        0 => Ok(vector.iov_len),
        _ => Err(io::Error::last_os_error()),
    }
}
