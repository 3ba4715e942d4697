//! The encoder runs where a program must not notice: in its `malloc`, in its signal handlers.
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use flick_events::trace::{Encoder, How, MIN_BUFFER, Scope, Side};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise; the block is the system's.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn the_encoder_allocates_nothing() {
    let mut buffer = vec![0; MIN_BUFFER];
    let stack: Vec<u32> = (0..100).collect();
    let before = ALLOCATIONS.get();
    let mut written = 0;
    let mut encoder = Encoder::new(&mut buffer, 1, 1);
    for time in 0..10_000 {
        let parts = [(1, time), (2, 7)];
        for kind in 0..7 {
            let write = |block: &[u8]| written += black_box(block).len();
            let put = encoder.with(write, |e| match kind {
                0 => e.thread_start(time, b"main"),
                1 => e.name(1, b"a function", b"a file", 3),
                2 => e.enter(time, Side::Nxp, (1, 2), 0, &parts),
                3 => e.wait(time, 3, 0),
                4 => e.counter(time, Scope::Process, 1, time),
                5 => e.sample(time, Side::Nxp, time, time, &stack),
                _ => e.leave(time, How::Return, 0, &parts),
            });
            assert!(put);
        }
    }
    encoder.flush(|block| written += block.len());
    assert_eq!(ALLOCATIONS.get(), before);
    assert!(written > 100 * MIN_BUFFER / 10);
    // The counter counts.
    drop(black_box(vec![0_u8; 9]));
    assert!(ALLOCATIONS.get() > before);
}
