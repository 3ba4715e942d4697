//! What calls of the C library take, which timed runs charge by rules: `[host.library]`.
use std::ffi::{c_char, c_int, c_void};
use std::hint::black_box;

use crate::measuring::{Effort, repeated};
use crate::statistics::Spread;

/// Bytes of a short and a long block, both in the nearest cache.
const SHORT: usize = 16;
const LONG: usize = 8192;
/// Bytes of a small allocation.
const SMALL: usize = 48;

/// A function of the C library as it was measured.
#[derive(Clone, Copy, Debug)]
pub struct LibraryCall {
    /// Its name.
    pub name: &'static str,
    /// What was measured.
    pub of: &'static str,
    /// Nanoseconds of a call.
    pub call: Spread,
    /// Nanoseconds of each further byte; 0 for functions without a length.
    pub each: f64,
}

/// Blocks for the functions that work on them.
struct Blocks {
    to: Vec<u8>,
    from: Vec<u8>,
}

/// A function of blocks: it is called with so many bytes.
type OfBlocks = fn(&mut Blocks, usize);

fn pointers(blocks: &mut Blocks) -> (*mut c_void, *const c_void) {
    (
        black_box(blocks.to.as_mut_ptr()).cast(),
        black_box(blocks.from.as_ptr()).cast(),
    )
}

/// The functions of blocks, each called through a pointer, so that the compiler knows no length.
const OF_BLOCKS: [(&str, OfBlocks); 6] = [
    ("memcpy", |blocks, n| {
        let memcpy: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void =
            libc::memcpy;
        let (to, from) = pointers(blocks);
        // SAFETY: both blocks have that many bytes, and are two.
        unsafe { black_box(memcpy)(to, from, n) };
    }),
    ("memmove", |blocks, n| {
        let memmove: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void =
            libc::memmove;
        let (to, from) = pointers(blocks);
        // SAFETY: both blocks have that many bytes.
        unsafe { black_box(memmove)(to, from, n) };
    }),
    ("memset", |blocks, n| {
        let memset: unsafe extern "C" fn(*mut c_void, c_int, usize) -> *mut c_void = libc::memset;
        // SAFETY: the block has that many bytes.
        unsafe { black_box(memset)(pointers(blocks).0, 1, n) };
    }),
    ("memcmp", |blocks, n| {
        let memcmp: unsafe extern "C" fn(*const c_void, *const c_void, usize) -> c_int =
            libc::memcmp;
        let (to, from) = pointers(blocks);
        // SAFETY: both blocks have that many bytes.
        black_box(unsafe { black_box(memcmp)(to, from, n) });
    }),
    ("memchr", |blocks, n| {
        let memchr: unsafe extern "C" fn(*const c_void, c_int, usize) -> *mut c_void = libc::memchr;
        // SAFETY: the block has that many bytes.
        black_box(unsafe { black_box(memchr)(pointers(blocks).1, 7, n) });
    }),
    ("strlen", |blocks, n| {
        let strlen: unsafe extern "C" fn(*const c_char) -> usize = libc::strlen;
        // SAFETY: the block ends with a zero, and so do its last bytes.
        black_box(unsafe { black_box(strlen)(blocks.from.as_ptr().add(LONG - n).cast()) });
    }),
];

fn of_blocks(effort: &Effort) -> Vec<LibraryCall> {
    let mut blocks = Blocks {
        to: vec![1; LONG + 1],
        from: vec![1; LONG + 1],
    };
    blocks.from[LONG] = 0;
    let one = |(name, call): (&'static str, OfBlocks)| {
        let [short, long] = [SHORT, LONG].map(|bytes| {
            Spread::of(&repeated(effort, |rounds| {
                for _ in 0..rounds {
                    call(&mut blocks, bytes);
                }
            }))
        });
        LibraryCall {
            name,
            of: "16 bytes, and each further one up to 8 KiB, in the nearest cache",
            each: (long.median - short.median).max(0.0) / (LONG - SHORT) as f64,
            call: short,
        }
    };
    OF_BLOCKS.map(one).into()
}

/// A loop of calls, less what `others` of the loop take.
fn calls(
    effort: &Effort,
    (name, of): (&'static str, &'static str),
    others: f64,
    mut call: impl FnMut(),
) -> LibraryCall {
    let times = repeated(effort, |rounds| (0..rounds).for_each(|_| call()));
    let own: Vec<f64> = times.iter().map(|time| (time - others).max(0.0)).collect();
    LibraryCall {
        name,
        of,
        call: Spread::of(&own),
        each: 0.0,
    }
}

fn of_the_heap(effort: &Effort) -> Vec<LibraryCall> {
    let malloc: unsafe extern "C" fn(usize) -> *mut c_void = libc::malloc;
    let calloc: unsafe extern "C" fn(usize, usize) -> *mut c_void = libc::calloc;
    let realloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void = libc::realloc;
    let free: unsafe extern "C" fn(*mut c_void) = libc::free;
    let pair = calls(effort, ("malloc", "half of a pair with free"), 0.0, || {
        // SAFETY: what was allocated is given back, and null may be.
        unsafe { black_box(free)(black_box(black_box(malloc)(SMALL))) }
    });
    let malloc = LibraryCall {
        call: pair.call.times(0.5),
        ..pair
    };
    let free = LibraryCall {
        name: "free",
        of: "half of a pair with malloc",
        ..malloc
    };
    let half = free.call.median;
    let cleared = calls(effort, ("calloc", "48 bytes"), half, || {
        // SAFETY: as above.
        unsafe { libc::free(black_box(black_box(calloc)(1, SMALL))) }
    });
    let grown = calls(
        effort,
        ("realloc", "from 48 to 96 bytes"),
        2.0 * half,
        || {
            // SAFETY: as above.
            unsafe {
                libc::free(black_box(black_box(realloc)(
                    libc::malloc(SMALL),
                    2 * SMALL,
                )))
            }
        },
    );
    vec![malloc, free, cleared, grown]
}

fn of_the_kernel(effort: &Effort) -> Vec<LibraryCall> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    vec![
        calls(effort, ("getppid", "a system call"), 0.0, || {
            // SAFETY: it has no arguments.
            black_box(unsafe { libc::getppid() });
        }),
        calls(effort, ("clock_gettime", "of CLOCK_MONOTONIC"), 0.0, || {
            // SAFETY: it writes to the value alone.
            unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        }),
    ]
}

/// Measures the functions.
pub fn measure(effort: &Effort) -> Vec<LibraryCall> {
    let mut all = of_the_heap(effort);
    all.extend(of_blocks(effort));
    all.extend(of_the_kernel(effort));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_takes_some_time() {
        let all = measure(&Effort::quick());
        assert!(all.len() >= 12);
        for LibraryCall {
            name, call, each, ..
        } in all
        {
            println!("{name} {:.2} ns, {each:.4} ns a byte", call.median);
            assert!((0.1..1e6).contains(&call.median), "{name} {call:?}");
            assert!((0.0..100.0).contains(&each), "{name} {each}");
        }
    }
}
