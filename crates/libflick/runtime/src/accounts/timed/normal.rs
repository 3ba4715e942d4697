//! What leaks into a prediction from outside and can be kept out:
//!
//! - the C library's tunables for `malloc`, which move the program's objects, and with them the lines and pages
//!   that NxP code uses;
//! - random addresses: which of two objects lies above the other changes from run to run, and programs compare
//!   such addresses.
use std::ffi::{CStr, CString, OsStr, OsString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use crate::accounts::symbols;
use crate::os::system_call::system_call;

/// The C library reads them before anybody can change them.
const TUNABLES: &str = "GLIBC_TUNABLES";

/// `text` without the entries that are `malloc`'s; `None` if it has none of them.
fn without_malloc(text: &OsStr) -> Option<OsString> {
    let entries = text.as_bytes().split(|byte| *byte == b':');
    let kept: Vec<&[u8]> = entries
        .clone()
        .filter(|entry| !entry.starts_with(b"glibc.malloc."))
        .collect();
    let changed = kept.len() != entries.count();
    changed.then(|| OsStr::from_bytes(&kept.join(&b':')).to_owned())
}

unsafe extern "C" {
    /// The C library's own name of `environ`, which a program may define.
    static mut __environ: *const *const c_char;
}

/// The entries of the environment.
///
/// # Safety
/// Nobody changes it meanwhile.
unsafe fn environment() -> Vec<Vec<u8>> {
    let mut entries = Vec::new();
    // SAFETY: null, or C strings in an array that ends in null.
    unsafe {
        let mut next = __environ;
        while !next.is_null() && !(*next).is_null() {
            entries.push(CStr::from_ptr(*next).to_bytes().to_vec());
            next = next.add(1);
        }
    }
    entries
}

/// Fixed addresses, in personality(2).
const FIXED: usize = libc::ADDR_NO_RANDOMIZE as usize;

/// personality(2), without the C library's function, whose name may be the program's own.
fn personality(wanted: usize) -> Option<usize> {
    // SAFETY: it concerns programs that are started from now on.
    let before = unsafe { system_call(libc::SYS_personality, [wanted]) };
    usize::try_from(before).ok()
}

/// Where addresses are random: what this process is for the kernel. A program with more rights than its caller
/// would get random addresses again.
fn random_addresses() -> Option<usize> {
    const ASK: usize = 0xffff_ffff;
    // SAFETY: it reads what the kernel has given the process.
    let is_secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    personality(ASK).filter(|now| now & FIXED == 0 && !is_secure)
}

/// Starts the program anew without such tunables and with fixed addresses, where it has them otherwise. Before
/// `main`.
pub fn start_again() {
    let text = std::env::var_os(TUNABLES);
    let tunables = text.and_then(|text| without_malloc(&text));
    let random = random_addresses();
    if tunables.is_none() && random.is_none() {
        return;
    }
    let (Ok(line), Ok(program)) = (
        std::fs::read("/proc/self/cmdline"),
        std::fs::read_link("/proc/self/exe"),
    ) else {
        return;
    };
    let word = |word: &[u8]| CString::new(word).ok();
    let words: Vec<CString> = line
        .strip_suffix(b"\0")
        .unwrap_or(&line)
        .split(|byte| *byte == 0)
        .filter_map(word)
        .collect();
    // SAFETY: before `main` nobody changes the environment.
    let environment: Vec<CString> = unsafe { environment() }
        .into_iter()
        .map(|entry| {
            let is_it = entry
                .strip_prefix(TUNABLES.as_bytes())
                .is_some_and(|rest| rest.starts_with(b"="));
            match &tunables {
                Some(kept) if is_it => [TUNABLES.as_bytes(), b"=", kept.as_bytes()].concat(),
                _ => entry,
            }
        })
        .filter_map(|entry| CString::new(entry).ok())
        .collect();
    let pointers = |strings: &[CString]| {
        let all = strings.iter().map(|string| string.as_ptr());
        all.chain([ptr::null()]).collect::<Vec<_>>()
    };
    let Some(program) = word(program.as_os_str().as_bytes()) else {
        return;
    };
    // A sandbox may forbid it.
    let is_fixed = random.and_then(|now| personality(now | FIXED)).is_some();
    if !is_fixed && tunables.is_none() {
        return;
    }
    // SAFETY: C strings in arrays that end in null. Where it fails the program goes on as it is.
    unsafe {
        libc::execve(
            program.as_ptr(),
            pointers(&words).as_ptr(),
            pointers(&environment).as_ptr(),
        );
    };
    if let Some(now) = random {
        personality(now);
    }
}

/// How long threads of LLVM's OpenMP library spin before they sleep: a setting of its own.
const SPIN: &[u8] = b"KMP_BLOCKTIME=";

/// Has OpenMP's threads sleep at once where they wait: their spinning takes the machine's time, and
/// no virtual time. Before `main`, and before that library reads its settings.
pub fn make_openmp_sleep() {
    let is_openmp = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or_default();
        ["libomp.so", "libomp5.so", "libiomp5.so"]
            .iter()
            .any(|known| name.starts_with(known))
    };
    if !symbols::paths().iter().any(is_openmp) {
        return;
    }
    // SAFETY: before `main` nobody changes the environment.
    let entries = unsafe { environment() };
    if entries.iter().any(|entry| entry.starts_with(SPIN)) {
        return;
    }
    let new = CString::new([SPIN, b"0"].concat()).unwrap_or_default();
    // SAFETY: as above; the array and the new entry live as long as the process.
    unsafe {
        let mut all: Vec<*const c_char> = (0..entries.len())
            .map(|entry| __environ.add(entry).read())
            .collect();
        all.extend([new.into_raw().cast_const(), ptr::null()]);
        __environ = Vec::leak(all).as_ptr();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mallocs_tunables_go() {
        let without = |text: &str| without_malloc(OsStr::new(text));
        assert_eq!(without("glibc.cpu.hwcaps=-AVX2"), None);
        assert_eq!(without(""), None);
        assert_eq!(
            without("glibc.malloc.tcache_count=0:glibc.cpu.hwcaps=-AVX2:glibc.malloc.check=3"),
            Some("glibc.cpu.hwcaps=-AVX2".into())
        );
        assert_eq!(without("glibc.malloc.check=3"), Some("".into()));
    }
}
