//! Rights of processes that user harts use by their own banks of the unit, without the kernel hart. The kernel hart
//! adds to the table what a hart has asked it for. It forgets all when a capability is revoked, and then waits until no
//! hart uses any.
use core::sync::atomic::{AtomicU64, Ordering, fence};

use flick_kernel_core::lines::MOST_HARTS;

/// Rights that are known at a time.
const PLACES: usize = 128;

/// What a right is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To take and to answer the messages of a gate.
    Gate = 1,
    /// To send to a gate.
    Sender = 2,
    /// To copy from and to memory of a tile.
    Memory = 3,
    /// The same by an endpoint that the root has set up.
    Endpoint = 4,
    /// To call the receiver of a gate: its field of the word of hand-overs, and the label.
    Call = 5,
}

/// What harts look up.
const fn key(kind: Kind, process: u16, number: u64) -> u64 {
    (kind as u64) << 60 | (process as u64) << 32 | number & 0xffff_ffff
}

/// A right: 32 bits, and two words. [`super::hart_calls`] says what they are.
pub type Words = (u32, u64, u64);

struct Table {
    /// How often all were forgotten, in 32 bits. A right of another epoch is forgotten.
    epoch: AtomicU64,
    /// Key; epoch (63:32) and the right's 32 bits; its two words.
    rights: [[AtomicU64; 4]; PLACES],
    /// How often each hart has begun and ended to use some: an odd number while it does.
    uses: [AtomicU64; MOST_HARTS],
}

static TABLE: Table = Table {
    epoch: AtomicU64::new(0),
    rights: [const { [const { AtomicU64::new(0) }; 4] }; PLACES],
    uses: [const { AtomicU64::new(0) }; MOST_HARTS],
};

fn place(number: u64) -> &'static [AtomicU64; 4] {
    &TABLE.rights[number as usize % PLACES]
}

/// A hart uses rights as long as it has this.
#[derive(Debug)]
pub struct Use {
    hart: usize,
    /// How often it had begun and ended before.
    uses: u64,
}

impl Use {
    /// A hart begins. It must not wait for the kernel hart meanwhile.
    #[inline(always)]
    pub fn begin(hart: u64) -> Self {
        let hart = hart as usize % MOST_HARTS;
        let uses = TABLE.uses[hart].load(Ordering::Relaxed);
        TABLE.uses[hart].store(uses + 1, Ordering::Relaxed);
        // The kernel hart sees that, or the hart sees that the right is forgotten.
        fence(Ordering::SeqCst);
        Self { hart, uses }
    }

    /// A right of a process, by the number of its capability.
    #[inline(always)]
    pub fn find(&self, kind: Kind, process: u16, number: u64) -> Option<Words> {
        look_for(kind, process, number)
    }
}

/// The same, as it may be. Who has begun no use finds nothing that may be used.
#[inline(always)]
pub fn look_for(kind: Kind, process: u16, number: u64) -> Option<Words> {
    let [of, first, second, third] = place(number).each_ref();
    let first = match of.load(Ordering::Acquire) == key(kind, process, number) {
        true => first.load(Ordering::Relaxed),
        false => return None,
    };
    let is_known = first >> 32 == TABLE.epoch.load(Ordering::Relaxed);
    is_known.then(|| {
        (
            first as u32,
            second.load(Ordering::Relaxed),
            third.load(Ordering::Relaxed),
        )
    })
}

impl Drop for Use {
    #[inline(always)]
    fn drop(&mut self) {
        TABLE.uses[self.hart].store(self.uses + 2, Ordering::Release);
    }
}

/// Waits until each hart has ended to use what it has found before. It may use others again at once.
fn wait_for_harts() {
    fence(Ordering::SeqCst);
    for uses in &TABLE.uses {
        let now = uses.load(Ordering::Acquire);
        // A command of the unit at most.
        while now % 2 != 0 && uses.load(Ordering::Acquire) == now {}
    }
}

/// Waits until a hart has ended to use what it has found before.
pub fn wait_for_hart(hart: u8) {
    fence(Ordering::SeqCst);
    let uses = &TABLE.uses[usize::from(hart) % MOST_HARTS];
    let now = uses.load(Ordering::Acquire);
    while !now.is_multiple_of(2) && uses.load(Ordering::Acquire) == now {}
}

/// Harts may use a right of a process.
pub fn add(kind: Kind, process: u16, number: u64, (small, second, third): Words) {
    let [of, first, to_second, to_third] = place(number).each_ref();
    if of.swap(0, Ordering::Relaxed) != 0 {
        wait_for_harts();
    }
    let epoch = TABLE.epoch.load(Ordering::Relaxed);
    first.store(epoch << 32 | u64::from(small), Ordering::Relaxed);
    to_second.store(second, Ordering::Relaxed);
    to_third.store(third, Ordering::Relaxed);
    of.store(key(kind, process, number), Ordering::Release);
}

/// No hart uses any right any more, until it is added again.
pub fn forget_all() {
    let epoch = (TABLE.epoch.load(Ordering::Relaxed) + 1) & 0xffff_ffff;
    TABLE.epoch.store(epoch, Ordering::Relaxed);
    if epoch == 0 {
        // Those of old epochs would be known again.
        for [of, ..] in &TABLE.rights {
            of.store(0, Ordering::Relaxed);
        }
    }
    wait_for_harts();
}

/// No hart uses rights any more that go by endpoints, which are bits.
pub fn forget_endpoints(endpoints: u64) {
    for [of, first, ..] in &TABLE.rights {
        let endpoint = first.load(Ordering::Relaxed) & 0xff;
        if endpoint < u64::BITS.into() && endpoints >> endpoint & 1 != 0 {
            of.store(0, Ordering::Relaxed);
        }
    }
    wait_for_harts();
}
