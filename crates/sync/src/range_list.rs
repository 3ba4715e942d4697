//! Ranges of addresses that come and go, read without a lock.
//!
//! A list that is only ever pushed to: a range that goes away leaves an empty node, which the next
//! one reuses.
use crate::platform::atomic::{
    AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use crate::platform::constructor;

struct Node {
    start: AtomicUsize,
    /// 0: unused.
    size: AtomicUsize,
    next: *const Node,
}

/// A list of half-open ranges of addresses.
pub struct RangeList {
    head: AtomicPtr<Node>,
}

impl RangeList {
    constructor! {
        /// An empty list.
        new() -> Self {
            Self { head: AtomicPtr::new(std::ptr::null_mut()) }
        }
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        let mut at: *const Node = self.head.load(Acquire);
        std::iter::from_fn(move || {
            // SAFETY: nodes are leaked boxes, published by the release store of `head`.
            let node = unsafe { at.as_ref() }?;
            at = node.next;
            Some(node)
        })
    }

    /// Adds a half-open range; an empty one is ignored. One writer at a time.
    pub fn add(&self, start: usize, end: usize) {
        if start >= end {
            return;
        }
        if let Some(node) = self.nodes().find(|n| n.size.load(Relaxed) == 0) {
            // A reader that sees this sees the node's size 0 before it, too.
            node.start.store(start, Release);
            node.size.store(end - start, Release);
            return;
        }
        let node = Box::leak(Box::new(Node {
            start: AtomicUsize::new(start),
            size: AtomicUsize::new(end - start),
            next: self.head.load(Relaxed),
        }));
        self.head.store(node, Release);
    }

    /// Removes a range that was added. One writer at a time.
    pub fn remove(&self, start: usize, end: usize) {
        let size = end.saturating_sub(start);
        let same = |n: &&Node| n.start.load(Relaxed) == start && n.size.load(Relaxed) == size;
        if let Some(node) = self.nodes().find(same) {
            node.size.store(0, Release);
        }
    }

    /// Whether the address lies in one of them. Async-signal-safe.
    pub fn contains(&self, address: usize) -> bool {
        self.nodes().any(|node| {
            loop {
                let size = node.size.load(Acquire);
                let start = node.start.load(Acquire);
                // Not the start of a range and the size of the one before it.
                if node.size.load(Relaxed) == size {
                    return address.wrapping_sub(start) < size;
                }
            }
        })
    }

    /// How many ranges there were room for without a new node.
    pub fn capacity(&self) -> usize {
        self.nodes().count()
    }
}

impl Default for RangeList {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn ranges_come_and_go() {
        let list = RangeList::new();
        list.add(0x1000, 0x1000);
        assert!(!list.contains(0x1000));
        list.add(0x1000, 0x2000);
        list.add(0x5000, 0x6000);
        for (address, inside) in [
            (0xfff, false),
            (0x1000, true),
            (0x1fff, true),
            (0x2000, false),
            (0x5800, true),
        ] {
            assert_eq!(list.contains(address), inside, "{address:#x}");
        }
        list.remove(0x1000, 0x2000);
        assert!(!list.contains(0x1800) && list.contains(0x5800));
        let before = list.capacity();
        list.add(0x8000, 0x9000);
        assert_eq!(list.capacity(), before);
        assert!(list.contains(0x8000));
    }
}
