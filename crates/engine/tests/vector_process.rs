//! Vectors of a hart whose memory is the process's: states that are made when they are needed, faults
//! that are signals, loads that end in front of what cannot be loaded.

use std::cell::Cell;
use std::ptr::{NonNull, null_mut};
use std::sync::Once;

use flick_engine::vector::{VectorState, execute_alone, set_process_states};
use flick_engine::{CodeRegion, Exit, Hart, Identity, NoObserver, ProcessCore, Unlimited, run};
use flick_riscv::decode;

thread_local! {
    /// The state of this thread's harts, once one has needed it.
    static STATE: Cell<*mut VectorState> = const { Cell::new(null_mut()) };
    static PAGE: Cell<*mut u8> = const { Cell::new(null_mut()) };
    static VSTART: Cell<u64> = const { Cell::new(u64::MAX) };
}

fn state_of(_: &Hart) -> Option<NonNull<VectorState>> {
    STATE.with(|state| {
        if state.get().is_null() {
            state.set(Box::into_raw(
                VectorState::new(256).expect("a VLEN that there is"),
            ));
        }
        NonNull::new(state.get())
    })
}

const MEMORY: Identity = {
    // SAFETY: the programs here access the memory of this file.
    unsafe { Identity::new() }
};

fn execute(hart: &mut Hart, words: &[u32]) -> Exit {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_process_states(state_of));
    let mut code = words.to_vec();
    code.push(0x8067);
    // SAFETY: the code outlives the region and does not change.
    let region = unsafe { CodeRegion::new(code.as_ptr() as u64, 4 * code.len() as u64) };
    hart.pc = region.base();
    let mut core = ProcessCore::new(&MEMORY, &region);
    run(hart, &mut core, &mut NoObserver, &mut Unlimited)
}

const PAGE_SIZE: usize = 4096;

/// Two pages, of which the second one is closed.
fn pages() -> *mut u8 {
    // SAFETY: new memory.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let all = libc::PROT_READ | libc::PROT_WRITE;
        let pages = libc::mmap(null_mut(), 2 * PAGE_SIZE, all, flags, -1, 0).cast::<u8>();
        for at in 0..2 * PAGE_SIZE {
            pages.add(at).write(at as u8);
        }
        let closed = pages.add(PAGE_SIZE).cast();
        assert_eq!(libc::mprotect(closed, PAGE_SIZE, libc::PROT_NONE), 0);
        pages
    }
}

const VLEFF: u32 = 0x0305_0407; // vle8ff.v v8, (a0)
const VLE8: u32 = 0x0205_0407; // vle8.v v8, (a0)
const VL: u32 = 0xc200_25f3; // csrr a1, vl
/// vsetvli a1, a1, e8, m1, ta, ma
const CONFIGURE: u32 = 0x0c05_f5d7;

#[test]
fn a_load_ends_in_front_of_a_page_that_is_closed() {
    let pages = pages();
    let mut hart = Hart::ZERO;
    for before in [1, 5, 31] {
        hart.x[10] = pages as u64 + PAGE_SIZE as u64 - before;
        hart.x[11] = 32;
        assert_eq!(execute(&mut hart, &[CONFIGURE, VLEFF, VL]), Exit::Leave);
        assert_eq!(hart.x[11], before);
        // SAFETY: this thread's, which executes nothing now.
        let loaded: Vec<u8> = unsafe { (*STATE.get()).register(8).collect() };
        let wanted = (0..before).map(|at| (PAGE_SIZE as u64 - before + at) as u8);
        assert!(loaded.into_iter().take(before as usize).eq(wanted));
    }
    // All elements can be loaded.
    hart.x[10] = pages as u64 + PAGE_SIZE as u64 - 32;
    hart.x[11] = 32;
    assert_eq!(execute(&mut hart, &[CONFIGURE, VLEFF, VL]), Exit::Leave);
    assert_eq!(hart.x[11], 32);
}

#[test]
fn other_elements_are_loaded_without_a_question() {
    // Elements of 8 bytes, one of which is in two pages.
    let pages = pages();
    // SAFETY: our page.
    assert_eq!(
        // SAFETY: as above.
        unsafe { libc::mprotect(pages.add(PAGE_SIZE).cast(), PAGE_SIZE, libc::PROT_READ) },
        0
    );
    let mut hart = Hart::ZERO;
    hart.x[10] = pages as u64 + PAGE_SIZE as u64 - 12;
    hart.x[11] = 4;
    // vsetvli a1, a1, e64, m1; vle64ff.v v8, (a0)
    assert_eq!(
        execute(&mut hart, &[0x0d85_f5d7, 0x0305_7407, VL]),
        Exit::Leave
    );
    assert_eq!(hart.x[11], 4);
}

/// Opens the page in which the access was, and notes `vstart`.
extern "C" fn open(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: a fault has an address; the state is this thread's, in memory at each access.
    unsafe {
        let page = (*info).si_addr() as usize & !(PAGE_SIZE - 1);
        PAGE.set(page as *mut u8);
        VSTART.set((*STATE.get()).vstart());
        libc::mprotect(
            page as *mut _,
            PAGE_SIZE,
            libc::PROT_READ | libc::PROT_WRITE,
        );
    }
}

#[test]
fn a_handler_sees_the_element_and_lets_it_be_loaded() {
    // SAFETY: a plain system call with a complete record.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = open as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGSEGV, &action, null_mut()), 0);
    }
    let mut hart = Hart::ZERO;
    for before in [0, 1, 17, 31] {
        let pages = pages();
        hart.x[10] = pages as u64 + PAGE_SIZE as u64 - before;
        hart.x[11] = 32;
        assert_eq!(execute(&mut hart, &[CONFIGURE, VLE8]), Exit::Leave);
        assert_eq!(PAGE.get(), pages.wrapping_add(PAGE_SIZE));
        assert_eq!(VSTART.get(), before);
        // SAFETY: this thread's, which executes nothing now.
        let state = unsafe { &*STATE.get() };
        let wanted = (0..32).map(|at| (PAGE_SIZE as u64 - before + at) as u8);
        assert!(state.register(8).eq(wanted));
        assert_eq!(state.vstart(), 0);
    }
}

#[test]
fn an_instruction_alone_has_its_operands_and_its_result() {
    let mut state = VectorState::new(128).expect("a VLEN that there is");
    let mut alone = |bits, operands| {
        // SAFETY: a unique reference; no memory is accessed.
        unsafe { execute_alone(&raw mut *state, &MEMORY, decode(bits), operands, 1) }
    };
    assert_eq!(
        alone(0x0285_0457, [0; 2]),
        None,
        "vtype is illegal at first"
    );
    // vsetvl a0, a1, a2
    assert_eq!(alone(0x80c5_f557, [3, 0x18]), Some(2), "e64, m1");
    assert_eq!(alone(0xc220_2573, [0; 2]), Some(16), "csrr a0, vlenb");
    assert!(alone(0x5e05_4457, [7, 9]).is_some(), "vmv.v.x v8, a0");
    assert_eq!(alone(0x4280_2557, [0; 2]), Some(7), "vmv.x.s a0, v8");
    let half = 0.5_f64.to_bits();
    assert!(alone(0x5e05_5457, [half, 0]).is_some(), "vfmv.v.f v8, fa0");
    assert_eq!(alone(0x4280_1557, [0; 2]), Some(half), "vfmv.f.s fa0, v8");
    assert_eq!(alone(0x0ee8_0557, [0; 2]), None, "reserved");
    assert_eq!(state.caller(), 0);
}
