//! Signatures of calls across the boundary, parsed once.
//!
//! Those of gates are parsed when their module is registered, those of NxP code's own calls at the
//! first call. Equal signatures share one parse, which lives as long as the process. Everything
//! here is async-signal-safe, takes no lock, and makes no system call before [`Arena`] is full: a
//! handler may make a first call, and a program may have forbidden itself system calls.
use std::alloc::{Layout, alloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use flick_abi::layout::Gate;
use flick_abi::signature::{Class, Item, Signature};
use flick_sync::spread;

use crate::os::fatal;

/// A signature, as the crossing moves arguments and results by it.
pub struct Plan {
    /// The parts of the result.
    pub ret: [Option<Class>; 2],
    /// The call hands over arguments behind dots.
    pub has_variadic_arguments: bool,
    /// The arguments, and the mark before variadic ones.
    pub items: &'static [Item],
    text: &'static [u8],
    /// Another plan in the same bucket.
    next: *const Plan,
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

/// Parses the signatures of `gates`. Those that are not understood are reported when they are
/// called.
pub fn learn(gates: &[&Gate]) {
    for gate in gates.iter().filter(|gate| !gate.signature.is_null()) {
        // SAFETY: the signature of a mapped module's gate is a C string.
        let _ = of(unsafe { CStr::from_ptr(gate.signature) }.to_bytes());
    }
}

/// The plan of a signature; else the part of it that is not understood.
fn of(text: &[u8]) -> Result<&'static Plan, &[u8]> {
    let first = bucket(text);
    let mut known = first.load(Ordering::Acquire).cast_const();
    // SAFETY: plans live as long as the process.
    while let Some(plan) = unsafe { known.as_ref() } {
        if plan.text == text {
            return Ok(plan);
        }
        known = plan.next;
    }
    parse(text).map(|plan| publish(first, plan))
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
    Ok(Plan {
        ret: signature.ret,
        has_variadic_arguments: signature.has_variadic_arguments(),
        // The same items as above.
        items: kept(count, |_| args.next_item().unwrap_or(Item::End)),
        text: kept(text.len(), |at| text[at]),
        next: ptr::null(),
    })
}

/// Lets others find `plan`. Another thread may have published an equal one meanwhile.
fn publish(first: &AtomicPtr<Plan>, plan: Plan) -> &'static Plan {
    let place = ARENA.take(Layout::new::<Plan>()).cast::<Plan>();
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

/// Memory for plans; what does not fit comes from libflick's own heap.
struct Arena {
    bytes: UnsafeCell<[u8; Self::SIZE]>,
    used: AtomicUsize,
}

// SAFETY: each part is handed out once.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena {
    bytes: UnsafeCell::new([0; Arena::SIZE]),
    used: AtomicUsize::new(0),
};

impl Arena {
    /// Thousands of signatures. Pages that are not used take no memory.
    const SIZE: usize = 256 << 10;

    /// Memory of that layout, whose size is not 0.
    fn take(&self, layout: Layout) -> *mut u8 {
        let size = layout.size() + layout.align();
        let start = self.used.fetch_add(size, Ordering::Relaxed);
        if start.saturating_add(size) <= Self::SIZE {
            // SAFETY: inside the arena.
            let place = unsafe { self.bytes.get().cast::<u8>().add(start) };
            // SAFETY: the size has room for the alignment.
            return unsafe { place.add(place.align_offset(layout.align())) };
        }
        // Nothing is given back, so that nothing fits any more.
        self.used.fetch_sub(size, Ordering::Relaxed);
        // SAFETY: the size is not 0.
        let place = unsafe { alloc(layout) };
        if place.is_null() {
            handle_alloc_error(layout);
        }
        place
    }
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
