//! Signatures of calls across the boundary, parsed once.
//!
//! Those of gates are parsed when their module is registered, but for plain gates, whose calls need
//! none. Those of NxP code's own calls are parsed at the first call. Equal signatures share one parse, which lives as long as the process. Everything
//! here is async-signal-safe and takes no lock: a handler may make a first call, also one that has
//! interrupted an allocation of libflick. So memory comes from no heap, but from a [`Chunk`] in
//! libflick's data. A program may have forbidden itself system calls. There is one (`mmap`) when
//! that chunk is full, and one for each further chunk.
use std::alloc::{Layout, handle_alloc_error};
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use flick_abi::layout::{GATE_PLAIN, Gate};
use flick_abi::signature::{Class, Item, Signature};
use flick_sync::{Bump, spread};

use super::argument_moves::{self, Draft, Move, Moves};
use crate::memory::own_heaps;
use crate::os::fatal;

/// For `orps`, which reads 16 bytes: what a register of the NxP has besides a value (unprivileged ISA
/// manual, "NaN Boxing").
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct BoxBits {
    _bits: [u64; 2],
}

impl BoxBits {
    pub const NONE: Self = Self { _bits: [0; 2] };
    pub const FLOAT: Self = Self {
        _bits: [0xffff_ffff_0000_0000, 0],
    };
}

/// A signature, as the crossing moves arguments and results by it.
#[repr(C)]
pub struct Plan {
    /// Moves of the fast path for calls of the NxP by the host.
    pub to_nxp: Moves,
    /// The same for calls of the host by the NxP.
    pub to_host: Moves,
    /// Of results in fa0 and fa1.
    pub boxes: [BoxBits; 2],
    /// The parts of the result.
    pub ret: [Option<Class>; 2],
    /// The call hands over arguments behind dots.
    pub has_variadic_arguments: bool,
    /// The arguments, and the mark before variadic ones.
    pub items: &'static [Item],
    /// Bytes of its text, which lies behind the plan, with a NUL.
    length: usize,
    /// Another plan in the same bucket.
    next: *const Plan,
}

impl Plan {
    /// The text of the signature, a C string behind the plan. Gates lead there, so that the fast path
    /// finds the plan by it.
    fn text(&self) -> *const c_char {
        ptr::from_ref(self).wrapping_add(1).cast()
    }

    fn is_of(&self, text: &[u8]) -> bool {
        // SAFETY: plans are published with so many bytes behind them.
        let own = unsafe { std::slice::from_raw_parts(self.text().cast::<u8>(), self.length) };
        own == text
    }
}

// SAFETY: nothing in a plan changes once others can find it.
unsafe impl Sync for Plan {}

const BUCKETS: usize = 1 << 10;
/// Plans by a hash of their texts, the newest first.
static PLANS: [AtomicPtr<Plan>; BUCKETS] = [const { AtomicPtr::new(ptr::null_mut()) }; BUCKETS];

fn bucket(text: &[u8]) -> &'static AtomicPtr<Plan> {
    let hash = text.iter().fold(0_u64, |hash, &byte| {
        hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte)
    });
    &PLANS[spread(hash) % BUCKETS]
}

/// The plan of the signature at `text`; ends the program if the signature is not understood.
///
/// # Safety
/// `text` is a C string.
pub unsafe fn plan(text: *const u8) -> &'static Plan {
    // SAFETY: by contract.
    let text = unsafe { CStr::from_ptr(text.cast()) }.to_bytes();
    of(text).unwrap_or_else(|wrong| malformed(wrong))
}

/// The plan of the signature at `text`; `None`: it is not understood.
///
/// # Safety
/// `text` is a C string.
pub unsafe fn understood(text: *const c_char) -> Option<&'static Plan> {
    // SAFETY: by contract.
    of(unsafe { CStr::from_ptr(text) }.to_bytes()).ok()
}

/// Whether the NxP gets arguments of the gate's function in registers of floating point, or may get some.
pub fn has_float_arguments(gate: &Gate) -> bool {
    let text = gate.signature.load(Ordering::Relaxed);
    if text.is_null() {
        return true;
    }
    // SAFETY: the signature of a mapped module's gate is null or a C string.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    Signature::parse(text).map_or(true, |signature| signature.has_float_arguments())
}

/// Parses the signatures of `gates` that are called by them, and lets these gates lead to the plans'
/// texts. Signatures that are not understood are reported when they are called.
pub fn learn(gates: &[&Gate]) {
    for gate in gates.iter().filter(|gate| gate.flags & GATE_PLAIN == 0) {
        let text = gate.signature.load(Ordering::Relaxed);
        // SAFETY: the signature of a mapped module's gate is null or a C string.
        let plan = unsafe { text.as_ref().and_then(|text| understood(text)) };
        if let Some(plan) = plan {
            gate.signature
                .store(plan.text().cast_mut(), Ordering::Relaxed);
        }
    }
}

/// The plan of a signature; else the part of it that is not understood.
fn of(text: &[u8]) -> Result<&'static Plan, &[u8]> {
    let first = bucket(text);
    let mut known = first.load(Ordering::Acquire).cast_const();
    // SAFETY: plans live as long as the process.
    while let Some(plan) = unsafe { known.as_ref() } {
        if plan.is_of(text) {
            return Ok(plan);
        }
        known = plan.next;
    }
    parse(text).map(|plan| publish(first, plan, text))
}

#[cold]
fn parse(text: &[u8]) -> Result<Plan, &[u8]> {
    let signature = Signature::parse(text).map_err(|_| text)?;
    let mut args = signature.args();
    let mut count = 0;
    while args.next_item().map_err(|_| &b"(arguments)"[..])? != Item::End {
        count += 1;
    }
    let mut args = signature.args();
    // The same items as above.
    let items = kept(count, |_| args.next_item().unwrap_or(Item::End));
    let keep = |draft: Option<Draft>| {
        let moves = |count, moves: &[Move]| kept(count, |at| moves[at]);
        draft.map_or(Moves::NONE, |draft| draft.keep(moves))
    };
    let is_float = |class: &Class| !matches!(class, Class::Int);
    let floats = signature
        .ret
        .iter()
        .flatten()
        .filter(|class| is_float(class));
    let mut boxes = [BoxBits::NONE; 2];
    for (bits, class) in boxes.iter_mut().zip(floats) {
        if class.is_boxed() {
            *bits = BoxBits::FLOAT;
        }
    }
    Ok(Plan {
        to_nxp: keep(argument_moves::to_nxp(&signature.ret, items)),
        to_host: keep(argument_moves::to_host(&signature.ret, items)),
        boxes,
        ret: signature.ret,
        has_variadic_arguments: signature.has_variadic_arguments(),
        items,
        length: text.len(),
        next: ptr::null(),
    })
}

/// Lets others find `plan`, that of `text`. Another thread may have published an equal one meanwhile.
fn publish(first: &AtomicPtr<Plan>, plan: Plan, text: &[u8]) -> &'static Plan {
    let plan_alone = Layout::new::<Plan>();
    let layout = Layout::from_size_align(plan_alone.size() + text.len() + 1, plan_alone.align())
        .unwrap_or_else(|_| handle_alloc_error(plan_alone));
    let place = ARENA.take(layout).cast::<Plan>();
    // SAFETY: there is room for the text and a NUL behind the plan, in memory which nobody else knows.
    unsafe {
        let behind = place.add(1).cast::<u8>();
        behind.copy_from_nonoverlapping(text.as_ptr(), text.len());
        behind.add(text.len()).write(0);
    }
    let mut next = first.load(Ordering::Acquire);
    loop {
        // SAFETY: memory for a plan, which nobody else knows yet; it is never freed.
        unsafe { place.write(Plan { next, ..plan }) };
        match first.compare_exchange(next, place, Ordering::Release, Ordering::Acquire) {
            // SAFETY: written above.
            Ok(_) => return unsafe { &*place },
            Err(newer) => next = newer,
        }
    }
}

/// `count` values that live as long as the process.
fn kept<T: Copy>(count: usize, mut value: impl FnMut(usize) -> T) -> &'static [T] {
    let Ok(layout) = Layout::array::<T>(count) else {
        return &[];
    };
    if layout.size() == 0 {
        return &[];
    }
    let place = ARENA.take(layout).cast::<T>();
    // SAFETY: memory for so many values, which nobody else has; it is never freed.
    unsafe {
        for at in 0..count {
            place.add(at).write(value(at));
        }
        std::slice::from_raw_parts(place, count)
    }
}

/// Memory for plans, which is never given back.
struct Chunk {
    used: Bump,
    bytes: UnsafeCell<[u8; Self::SIZE]>,
}

// SAFETY: each part is handed out once.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// Thousands of signatures. Pages that are not used take no memory.
    const SIZE: usize = 256 << 10;

    const fn new() -> Self {
        Self {
            used: Bump::new(Self::SIZE),
            bytes: UnsafeCell::new([0; Self::SIZE]),
        }
    }

    /// Memory of that layout, if there is room for it.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        let start = self.used.take(layout.size() + layout.align())?;
        // SAFETY: inside the chunk.
        let place = unsafe { self.bytes.get().cast::<u8>().add(start) };
        // SAFETY: the size has room for the alignment.
        Some(unsafe { place.add(place.align_offset(layout.align())) })
    }
}

/// The first chunk, and the newest of the further ones, which come from the kernel.
struct Arena {
    first: Chunk,
    newest: AtomicPtr<Chunk>,
}

static ARENA: Arena = Arena {
    first: Chunk::new(),
    newest: AtomicPtr::new(ptr::null_mut()),
};

impl Arena {
    /// Memory of that layout, whose size is not 0.
    fn take(&self, layout: Layout) -> *mut u8 {
        self.first
            .take(layout)
            .unwrap_or_else(|| self.take_further(layout))
    }

    #[cold]
    fn take_further(&self, layout: Layout) -> *mut u8 {
        if layout.size() + layout.align() > Chunk::SIZE {
            return from_kernel(layout);
        }
        loop {
            let newest = self.newest.load(Ordering::Acquire);
            // SAFETY: null or a chunk, which lives as long as the process.
            if let Some(place) = unsafe { newest.as_ref() }.and_then(|chunk| chunk.take(layout)) {
                return place;
            }
            let place = from_kernel(Layout::new::<Chunk>());
            let further = place.cast::<Chunk>();
            // SAFETY: memory for a chunk, which nobody else knows yet. Its bytes are zero already.
            unsafe { (&raw mut (*further).used).write(Bump::new(Chunk::SIZE)) };
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            let known = &self.newest;
            if known
                .compare_exchange(newest, further, success, failure)
                .is_err()
            {
                // Another thread, or a handler, was faster.
                // SAFETY: the memory above, which nobody else knows.
                unsafe { own_heaps::to_kernel(place, Layout::new::<Chunk>()) };
            }
        }
    }
}

/// Memory of that layout, whole pages; ends the program if there is none.
fn from_kernel(layout: Layout) -> *mut u8 {
    let place = own_heaps::from_kernel(layout);
    if place.is_null() {
        handle_alloc_error(layout);
    }
    place
}

#[cold]
fn malformed(text: &[u8]) -> ! {
    fatal::exit(
        "FLK0505",
        &format!(
            "a call's signature is not understood: {:?}",
            String::from_utf8_lossy(text)
        ),
        "build every object of the program with the flick that belongs to this libflick",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_signatures_share_a_plan() {
        let (a, b) = (c"1i(p.id)", CString::from(c"1i(p.id)"));
        // SAFETY: C strings.
        let (a, b) = unsafe { (plan(a.as_ptr().cast()), plan(b.as_ptr().cast())) };
        assert!(ptr::eq(a, b));
        assert!(a.has_variadic_arguments);
        assert_eq!(a.items.len(), 4);
        assert_eq!(a.ret, [Some(Class::Int), None]);
    }

    #[test]
    fn a_full_arena_is_no_limit() {
        let signatures: Vec<String> = (0..4000).map(|size| format!("1v(B{size}a8lll)")).collect();
        for text in &signatures {
            assert_eq!(of(text.as_bytes()).ok().unwrap().items.len(), 4);
        }
        for (size, text) in signatures.iter().enumerate() {
            let first = of(text.as_bytes()).ok().unwrap().items[0];
            let (size, align) = (size as u32, 8);
            assert_eq!(first, Item::Arg(Class::ByVal { size, align }));
        }
    }

    #[test]
    fn a_signature_may_be_larger_than_a_chunk() {
        let text = format!("1l({})", "l".repeat(Chunk::SIZE));
        assert_eq!(of(text.as_bytes()).ok().unwrap().items.len(), Chunk::SIZE);
    }

    #[test]
    fn memory_beyond_the_first_chunk_is_handed_out_once() {
        static ARENA: Arena = Arena {
            first: Chunk::new(),
            newest: AtomicPtr::new(ptr::null_mut()),
        };
        let sizes = [24, 600, 4000, 32_000_usize];
        let mut all: Vec<(usize, usize)> = std::thread::scope(|scope| {
            let takers = sizes.map(|size| {
                let layout = Layout::from_size_align(size, 8).unwrap();
                let take = move |_| (ARENA.take(layout) as usize, size);
                scope.spawn(move || (0..100).map(take).collect::<Vec<_>>())
            });
            takers.into_iter().flat_map(|t| t.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert!(all.iter().all(|(start, _)| start.is_multiple_of(8)));
        assert!(all.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0));
    }

    #[test]
    fn threads_may_learn_at_once() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 0..200 {
                        let text = format!("1l({})", "l".repeat(n));
                        assert_eq!(of(text.as_bytes()).ok().unwrap().items.len(), n);
                    }
                });
            }
        });
    }

    #[test]
    fn the_part_that_is_wrong_is_named() {
        assert_eq!(of(b"2v()").err().unwrap(), b"2v()");
        assert_eq!(of(b"1v(q)").err().unwrap(), b"(arguments)");
    }

    use std::ffi::CString;
}
