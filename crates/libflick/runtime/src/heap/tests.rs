//! The region, heap and stacks together. A process has one region, so that tests that need another
//! one, or a limit, run in a child: this executable again, with one test and [`CHILD`] set.
use std::ffi::c_void;
use std::process::{Command, Output};
use std::sync::{Barrier, OnceLock, mpsc};
use std::{env, fs, ptr, slice, thread};

use super::*;
use crate::memory::nxp_region::{Limits, MemoryError};
use crate::memory::*;

const CHILD: &str = "FLICK_TEST_CHILD";
const MIB: usize = 1 << 20;

/// The region, with the heap opened whoever owns this test process's `free`: the tests free NxP
/// blocks through the heap itself.
fn set_up(limits: Limits) -> Result<(), MemoryError> {
    static DONE: OnceLock<Result<(), MemoryError>> = OnceLock::new();
    DONE.get_or_init(|| {
        init_with(limits)?;
        // As the process's first thread, which outlives the others, would.
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            before_threads();
            done.send(()).unwrap();
            loop {
                thread::park();
            }
        });
        is_done.recv().unwrap();
        blocks::open();
        assert!(blocks::is_open());
        Ok(())
    })
    .clone()
}

fn set_up_default() {
    set_up(Limits::DEFAULT).unwrap();
}

fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}

/// Runs test `name` alone in a process with the shell's limits of `ulimit`.
fn child(name: &str, ulimit: &str) -> Output {
    let exe = env::current_exe().unwrap();
    let script = format!("{ulimit} exec \"$0\" --exact --nocapture heap::tests::{name}");
    Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(exe)
        .env(CHILD, "1")
        .output()
        .unwrap()
}

fn assert_passed(output: &Output) {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && out.contains("1 passed"),
        "{out}\n{err}"
    );
}

/// xorshift64*: the same sequence for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % n
    }
}

fn fill(block: *mut c_void, size: usize, byte: u8) {
    // SAFETY: a live block of the tests, of at least `size` bytes.
    unsafe { ptr::write_bytes(block.cast::<u8>(), byte, size) };
}

fn bytes<'a>(block: *mut c_void, size: usize) -> &'a [u8] {
    // SAFETY: a live block of the tests, of at least `size` initialised bytes.
    unsafe { slice::from_raw_parts(block.cast(), size) }
}

fn free(block: *mut c_void) {
    assert!(blocks::owns(block));
    // SAFETY: the tests free each block once.
    unsafe { blocks::release(block) };
}

/// A block with what it was filled with.
struct Block(*mut c_void, usize, u8);
// SAFETY: blocks may be freed by any thread; that is what is tested.
unsafe impl Send for Block {}

impl Block {
    fn new(size: usize, byte: u8) -> Self {
        let block = blocks::alloc(size);
        assert!(!block.is_null() && (block as usize).is_multiple_of(16));
        // The ends are enough to see two blocks overlap.
        fill(block, size.min(64), byte);
        Block(block, size, byte)
    }

    fn check(&self) {
        assert!(bytes(self.0, self.1.min(64)).iter().all(|b| *b == self.2));
    }
}

#[test]
fn threads_free_and_resize_each_others_blocks() {
    set_up_default();
    const THREADS: usize = 6;
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| mpsc::channel()).unzip();
    thread::scope(|scope| {
        for (me, incoming) in receivers.into_iter().enumerate() {
            let senders = senders.clone();
            scope.spawn(move || {
                let mut random = Random(me as u64 + 1);
                let mut kept: Vec<Block> = Vec::new();
                for i in 0..30_000 {
                    kept.extend(incoming.try_iter().take(4));
                    // Mostly small, some of every size up to 1 MiB.
                    let magnitude = random.below(21);
                    let size = random.below(1 << magnitude) as usize;
                    match random.below(4) {
                        0 if !kept.is_empty() => {
                            let at = random.below(kept.len() as u64) as usize;
                            let block = kept.swap_remove(at);
                            block.check();
                            free(block.0);
                        }
                        1 if !kept.is_empty() => {
                            let at = random.below(kept.len() as u64) as usize;
                            let Block(old, old_size, byte) = kept.swap_remove(at);
                            // SAFETY: a live block.
                            let new = unsafe { blocks::resize(old, size.max(1)) };
                            let same = old_size.min(size.max(1)).min(64);
                            assert!(bytes(new, same).iter().all(|b| *b == byte));
                            free(new);
                        }
                        2 => {
                            let to = random.below(THREADS as u64) as usize;
                            // The receiver may have ended; the block comes back then.
                            if let Err(back) = senders[to].send(Block::new(size, i as u8)) {
                                free(back.0.0);
                            }
                        }
                        _ => kept.push(Block::new(size, i as u8)),
                    }
                    if kept.len() > 500 {
                        kept.drain(..).for_each(|block| free(block.0));
                    }
                }
                drop(senders);
                for block in kept.into_iter().chain(incoming.try_iter()) {
                    block.check();
                    free(block.0);
                }
            });
        }
        drop(senders);
    });
}

#[test]
fn blocks_are_what_malloc_promises() {
    set_up_default();
    let (a, b) = (blocks::alloc(0), blocks::alloc(0));
    assert!(!a.is_null() && !b.is_null() && a != b);
    free(a);
    free(b);
    for size in 1..300 {
        let block = blocks::alloc(size);
        assert_eq!(block as usize % 16, 0);
        // SAFETY: a live block.
        assert!(unsafe { blocks::usable_size(block) } >= size);
        assert!(is_local(block as usize) && is_local(block as usize + size - 1));
        free(block);
    }
    for shift in 0..28 {
        let align = 1 << shift;
        let blocks: Vec<_> = (0..3).map(|_| blocks::alloc_aligned(align, 100)).collect();
        for block in blocks {
            assert!(
                !block.is_null() && (block as usize).is_multiple_of(align),
                "{align}"
            );
            fill(block, 100, 7);
            // SAFETY: a live block.
            let longer = unsafe { blocks::resize(block, 10_000) };
            assert!(bytes(longer, 100).iter().all(|byte| *byte == 7));
            free(longer);
        }
    }
    for size in [isize::MAX as usize, usize::MAX, usize::MAX - 64] {
        crate::os::errno::set_errno(0);
        assert!(blocks::alloc(size).is_null() && blocks::alloc_zeroed(size).is_null());
        assert!(blocks::alloc_aligned(1 << 20, size).is_null());
        assert_eq!(crate::os::errno::last_errno(), libc::ENOMEM);
    }
}

#[test]
fn zeroed_blocks_are_zero_after_use() {
    set_up_default();
    for size in [10, 1000, 100_000, 3 * MIB, 5 * MIB + 123, 40 * MIB + 1] {
        for _ in 0..3 {
            let block = blocks::alloc_zeroed(size);
            assert!(bytes(block, size).iter().all(|byte| *byte == 0), "{size}");
            fill(block, size, 0xff);
            free(block);
        }
    }
}

#[test]
fn one_object_may_be_large() {
    set_up_default();
    let size = 12 << 30;
    let block = blocks::alloc(size);
    assert!(!block.is_null());
    for at in [0, size / 2, size - 1] {
        // SAFETY: within the live block.
        unsafe { block.cast::<u8>().add(at).write(1) };
    }
    free(block);
}

fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap()
        * crate::os::process_facts::page_size()
}

#[test]
fn ten_thousand_short_threads_leak_nothing() {
    if !is_child() {
        return assert_passed(&child("ten_thousand_short_threads_leak_nothing", ""));
    }
    set_up_default();
    let run = |count: usize| {
        for _ in 0..count {
            thread::spawn(|| {
                let stack = nxp_stack::acquire(nxp_stack::size_for(Some(8 << 20))).unwrap();
                fill((stack.hi - 32 * 1024) as *mut c_void, 32 * 1024, 1);
                let block = blocks::alloc(3000);
                fill(block, 3000, 1);
                free(block);
                nxp_stack::release(stack);
            })
            .join()
            .unwrap();
        }
    };
    run(500);
    let (before, peak) = (resident(), nxp_stack::peak());
    run(10_000);
    let grown = resident().saturating_sub(before);
    assert!(grown < 4 * MIB, "grown by {grown}");
    assert_eq!(nxp_stack::peak(), peak);
    assert_eq!(nxp_stack::acquired(), 10_500);
}

#[test]
fn stacks_have_guards_and_are_reused() {
    if !is_child() {
        return assert_passed(&child("stacks_have_guards_and_are_reused", ""));
    }
    set_up_default();
    let a = nxp_stack::acquire(100_000).unwrap();
    assert!(a.hi - a.lo >= 100_000 && a.hi.is_multiple_of(4096));
    assert!(is_local(a.lo) && is_local(a.hi - 1));
    fill(a.lo as *mut c_void, a.hi - a.lo, 1);
    assert_eq!(nxp_stack::guard_of(a.lo - 1), Some((a.lo, a.hi)));
    assert_eq!(nxp_stack::guard_of(a.lo - 4096), Some((a.lo, a.hi)));
    assert_eq!(nxp_stack::guard_of(a.lo), None);
    assert_eq!(nxp_stack::guard_of(a.hi), None);
    let b = nxp_stack::acquire(100_000).unwrap();
    assert!(b.hi <= a.lo || a.hi <= b.lo);
    let (lo, guard) = (a.lo, a.lo - 1);
    nxp_stack::release(a);
    assert_eq!(nxp_stack::guard_of(guard), None);
    let again = nxp_stack::acquire(100_000).unwrap();
    assert_eq!(again.lo, lo);
    nxp_stack::release(again);
    nxp_stack::release(b);
}

/// Threads of all sizes one after the other use what the first ones used.
#[test]
fn stacks_of_different_sizes_share_the_region() {
    if !is_child() {
        return assert_passed(&child("stacks_of_different_sizes_share_the_region", ""));
    }
    set_up(Limits {
        max: 256 * MIB,
        min: 256 * MIB,
    })
    .unwrap();
    let mut random = Random(1);
    let mut held: Vec<nxp_stack::Stack> = Vec::new();
    for i in 0..20_000 {
        if held.len() == 6 {
            nxp_stack::release(held.swap_remove(random.below(6) as usize));
        }
        let size = (64 << 10) + random.below(20 << 20) as usize;
        let stack = nxp_stack::acquire(size).unwrap_or_else(|| panic!("none of {size} at {i}"));
        assert!(stack.hi - stack.lo >= size);
        let apart =
            |other: &nxp_stack::Stack| other.hi <= stack.lo - 4096 || stack.hi <= other.lo - 4096;
        assert!(held.iter().all(apart));
        assert_eq!(
            nxp_stack::guard_of(stack.lo - 1),
            Some((stack.lo, stack.hi))
        );
        fill(stack.lo as *mut c_void, 16, 1);
        fill((stack.hi - 16) as *mut c_void, 16, 1);
        held.push(stack);
    }
    held.into_iter().for_each(nxp_stack::release);
    // Everything can become one stack again.
    assert!(nxp_stack::acquire(150 * MIB).is_some());
}

#[test]
fn exhausted_heap_says_so_once() {
    if !is_child() {
        let output = child("exhausted_heap_says_so_once", "");
        assert_passed(&output);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(err.matches("[FLK0503]").count(), 1, "{err}");
        assert!(
            err.contains("no room in 128 MiB") && err.contains("help: "),
            "{err}"
        );
        return;
    }
    set_up(Limits {
        max: 128 * MIB,
        min: 64 * MIB,
    })
    .unwrap();
    assert_eq!(nxp_region::size(), 128 * MIB);
    let mut blocks = Vec::new();
    for size in [MIB, 1000] {
        loop {
            crate::os::errno::set_errno(0);
            let block = blocks::alloc(size);
            if block.is_null() {
                break;
            }
            fill(block, size, 1);
            blocks.push(block);
        }
        assert_eq!(crate::os::errno::last_errno(), libc::ENOMEM);
    }
    // Most of the region was to be had, and a stack still is.
    assert!(blocks.len() > 80, "{}", blocks.len());
    let stack = nxp_stack::acquire(8 * MIB).unwrap();
    nxp_stack::release(stack);
    let count = blocks.len();
    blocks.into_iter().for_each(free);
    // What was freed can be had again.
    let again: Vec<_> = (0..80).map(|_| blocks::alloc(MIB)).collect();
    assert!(again.iter().all(|block| !block.is_null()), "{count}");
    again.into_iter().for_each(free);
}

#[test]
fn region_shrinks_under_an_address_space_limit() {
    if !is_child() {
        for limit in ["2000000", "600000"] {
            let name = "region_shrinks_under_an_address_space_limit";
            assert_passed(&child(name, &format!("ulimit -v {limit};")));
        }
        return;
    }
    set_up_default();
    assert!(
        nxp_region::size() >= 64 * MIB && nxp_region::size() <= 1024 * MIB,
        "{}",
        nxp_region::size()
    );
    assert!(nxp_region::size().is_power_of_two());
    let block = blocks::alloc(10 * MIB);
    fill(block, 10 * MIB, 1);
    free(block);
    let stack = nxp_stack::acquire(nxp_stack::size_for(Some(8 << 20))).unwrap();
    fill(stack.lo as *mut c_void, stack.hi - stack.lo, 1);
    nxp_stack::release(stack);
}

#[test]
fn no_room_for_a_region_is_an_error() {
    if !is_child() {
        return assert_passed(&child(
            "no_room_for_a_region_is_an_error",
            "ulimit -v 600000;",
        ));
    }
    let limits = Limits {
        max: 1 << 40,
        min: 1 << 40,
    };
    let error = set_up(limits).unwrap_err();
    assert_eq!(
        error,
        MemoryError::Reserve {
            size: 1 << 40,
            errno: libc::ENOMEM,
            limited: true
        }
    );
    assert!(
        error.to_string().contains("under the address space limit"),
        "{error}"
    );
    assert!(!is_local(0) && !is_local(&raw const error as usize));
    // The functions go on with the process's malloc.
    let block = exports::flick_alloc(1, 10);
    assert!(!block.is_null() && exports::flick_is_nxp_memory(block) == 0);
    // SAFETY: the block from above, freed once.
    unsafe { exports::flick_free(block) };
}

/// The child of a process with busy threads can use heap and stacks. `FORKS` asks for more of them.
#[test]
fn fork_among_threads() {
    if !is_child() {
        return assert_passed(&child("fork_among_threads", ""));
    }
    set_up_default();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let start = Barrier::new(4);
    thread::scope(|scope| {
        for seed in 0..3 {
            let (stop, start) = (&stop, &start);
            scope.spawn(move || {
                start.wait();
                let mut random = Random(seed + 1);
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    // Threads that come and go, with blocks that outlive them.
                    let size = random.below(1 << 16) as usize;
                    let block = thread::spawn(move || Block::new(size, 5)).join().unwrap();
                    block.check();
                    free(block.0);
                    let overaligned = blocks::alloc_aligned(1 << 17, 10);
                    free(overaligned);
                    nxp_stack::release(nxp_stack::acquire(MIB).unwrap());
                }
            });
        }
        start.wait();
        for i in 0..env::var("FORKS").map_or(300, |n| n.parse().unwrap()) {
            // SAFETY: the child only uses what is tested here, then `_exit`.
            let pid = unsafe { libc::fork() };
            if pid == 0 {
                // SAFETY: SIGALRM ends a child that hangs.
                unsafe { libc::alarm(20) };
                for size in [100, 50_000, 6 * MIB] {
                    let block = Block::new(size, i as u8);
                    block.check();
                    free(block.0);
                }
                free(blocks::alloc_aligned(1 << 17, 10));
                nxp_stack::release(nxp_stack::acquire(MIB).unwrap());
                // SAFETY: ends the child.
                unsafe { libc::_exit(0) };
            }
            let mut status = -1;
            // SAFETY: `status` is valid for writing.
            unsafe { libc::waitpid(pid, &mut status, 0) };
            if status != 0 {
                // A panic would wait for the threads, which wait for this one.
                eprintln!("child {i} ended with status {status:#x}");
                std::process::abort();
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn stack_size_follows_the_host_stack() {
    set_up_default();
    for size in [256 << 10, 3 * MIB, 64 * MIB] {
        assert_eq!(nxp_stack::size_for(Some(size)), size);
    }
    assert_eq!(nxp_stack::size_for(Some(1)), 64 << 10);
    assert_eq!(
        nxp_stack::size_for(None),
        (1 << 30).min(nxp_region::size() / 8)
    );
}
