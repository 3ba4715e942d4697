//! System calls. Unlike the C library's, they are no cancellation points of a thread.
use core::arch::asm;
use core::ffi::{c_int, c_long};

unsafe extern "C" {
    pub fn getpid() -> libc::pid_t;
}

/// Makes a system call; errors are negative numbers. It does not change `errno`, and is
/// async-signal-safe.
///
/// # Safety
/// The arguments must be valid for this system call.
pub unsafe fn system_call(number: c_long, arguments: [usize; 4]) -> isize {
    let result;
    // SAFETY: the caller vouches for the arguments. The kernel changes rcx and r11 (x86-64 ABI,
    // A.2.1).
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Sets `errno`, and returns the value by which functions of the C library report an error.
pub fn error(number: c_int) -> isize {
    // SAFETY: the address is that of the calling thread's own `errno`.
    unsafe { *libc::__errno_location() = number };
    -1
}

// The end of every wrapper: an error's number goes to errno.
function!("__flick_call_failed", align 4, [
    "push rax",
    ".cfi_def_cfa_offset 16",
    "call __errno_location@PLT",
    "pop rcx",
    ".cfi_def_cfa_offset 8",
    "neg ecx",
    "mov [rax], ecx",
    "mov rax, -1",
    "ret",
]);

/// Defines functions that are system calls. The given instructions move the arguments from the
/// registers of a function call to those of a system call.
macro_rules! calls {
    ($($name:literal = $number:expr $(, $before:literal)*;)*) => { $(
        function!($name, align 4, [
            $($before,)*
            "mov eax, {number}",
            "mov r10, rcx",
            "syscall",
            "cmp rax, -4095",
            "jae __flick_call_failed",
            "ret",
        ] number = const $number);
    )* };
}

calls! {
    "close" = libc::SYS_close;
    "execve" = libc::SYS_execve;
    "fstat64" = libc::SYS_fstat;
    "ftruncate" = libc::SYS_ftruncate;
    "ftruncate64" = libc::SYS_ftruncate;
    "getpid" = libc::SYS_getpid;
    "getrandom" = libc::SYS_getrandom;
    "getrusage" = libc::SYS_getrusage;
    "gettid" = libc::SYS_gettid;
    "lseek64" = libc::SYS_lseek;
    "madvise" = libc::SYS_madvise;
    "memfd_create" = libc::SYS_memfd_create;
    "mmap" = libc::SYS_mmap;
    "mmap64" = libc::SYS_mmap;
    "mprotect" = libc::SYS_mprotect;
    "mremap" = libc::SYS_mremap;
    "munmap" = libc::SYS_munmap;
    "poll" = libc::SYS_poll;
    "prctl" = libc::SYS_prctl;
    "read" = libc::SYS_read;
    "readlink" = libc::SYS_readlink;
    "sched_yield" = libc::SYS_sched_yield;
    "sigaltstack" = libc::SYS_sigaltstack;
    "stat64" = libc::SYS_stat;
    "statx" = libc::SYS_statx;
    "sysinfo" = libc::SYS_sysinfo;
    "unlink" = libc::SYS_unlink;
    "write" = libc::SYS_write;
    "writev" = libc::SYS_writev;
    "_exit" = libc::SYS_exit_group;
    // These are the calls that the C library makes, because a program's filter may allow no others.
    "open" = libc::SYS_openat, "mov ecx, edx", "mov rdx, rsi", "mov rsi, rdi", "mov edi, -100";
    "open64" = libc::SYS_openat, "mov ecx, edx", "mov rdx, rsi", "mov rsi, rdi", "mov edi, -100";
    "getrlimit" = libc::SYS_prlimit64, "mov rcx, rsi", "mov esi, edi", "xor edi, edi", "xor edx, edx";
}

const _: () = assert!(libc::AT_FDCWD == -100);

function!("syscall", align 4, [
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "mov r10, r8",
    "mov r8, r9",
    "mov r9, [rsp + 8]",
    "syscall",
    "cmp rax, -4095",
    "jae __flick_call_failed",
    "ret",
]);

// The first word of a thread's block is its own address, which is the thread's `pthread_t`.
function!("pthread_self", align 4, [
    "mov rax, qword ptr fs:[0]",
    "ret",
]);

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read, Seek, SeekFrom, Write};

    /// Rust's library works with this crate's definitions in these tests.
    #[test]
    fn files() {
        let path = std::env::temp_dir().join(format!("flick-own-{}", std::process::id()));
        let mut file = fs::File::options()
            .create_new(true)
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        file.write_all(b"some text").unwrap();
        file.set_len(4).unwrap();
        file.seek(SeekFrom::Start(1)).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), file.metadata().unwrap().len()), ("ome", 4));
        fs::remove_file(&path).unwrap();
        let error = fs::File::open(&path).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
        assert!(fs::read_link("/proc/self/exe").unwrap().is_absolute());
        assert_eq!(
            std::env::current_dir().unwrap(),
            fs::read_link("/proc/self/cwd").unwrap()
        );
    }

    #[test]
    fn calls_with_all_arguments() {
        let size = 8192;
        // SAFETY: the mapping is new, and only this test moves and unmaps it.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let place = libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            );
            assert_ne!(place, libc::MAP_FAILED);
            place.cast::<u8>().write(5);
            let other = libc::syscall(
                libc::SYS_mmap,
                0_usize,
                size,
                libc::PROT_NONE,
                flags,
                -1,
                0_usize,
            ) as *mut _;
            let moved = libc::mremap(
                place,
                size,
                size,
                libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
                other,
            );
            assert_eq!(moved, other);
            assert_eq!(moved.cast::<u8>().read(), 5);
            assert_eq!(libc::munmap(moved, size), 0);
            let mut limit: libc::rlimit = std::mem::zeroed();
            assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit), 0);
            assert!(limit.rlim_cur > 2);
            assert_eq!(libc::close(-1), -1);
            assert_eq!(*libc::__errno_location(), libc::EBADF);
        }
    }
}
