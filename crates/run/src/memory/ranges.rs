//! The page-aligned `FLICK_NXP_DATA` sections of loaded modules.
//!
//! A list that is only ever pushed to, so that readers need no lock: a range that goes away leaves
//! an empty node, which the next one reuses.
use std::sync::atomic::{
    AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use super::lock::Lock;

struct Node {
    start: AtomicUsize,
    /// 0: unused.
    size: AtomicUsize,
    next: *const Node,
}

static HEAD: AtomicPtr<Node> = AtomicPtr::new(std::ptr::null_mut());
pub(super) static WRITERS: Lock = Lock::new();

fn nodes() -> impl Iterator<Item = &'static Node> {
    let mut at: *const Node = HEAD.load(Acquire);
    std::iter::from_fn(move || {
        // SAFETY: nodes are leaked boxes, published by the release store of HEAD.
        let node = unsafe { at.as_ref() }?;
        at = node.next;
        Some(node)
    })
}

/// Adds a half-open range of NxP-local memory; an empty one is ignored.
pub fn add_data_range(start: usize, end: usize) {
    if start >= end {
        return;
    }
    WRITERS.with(|| {
        if let Some(node) = nodes().find(|n| n.size.load(Relaxed) == 0) {
            node.start.store(start, Relaxed);
            node.size.store(end - start, Release);
            return;
        }
        let node = Box::leak(Box::new(Node {
            start: AtomicUsize::new(start),
            size: AtomicUsize::new(end - start),
            next: HEAD.load(Relaxed),
        }));
        HEAD.store(node, Release);
    });
}

/// Removes a range that was registered.
pub fn remove_data_range(start: usize, end: usize) {
    let size = end.saturating_sub(start);
    WRITERS.with(|| {
        let same = |n: &&Node| n.start.load(Relaxed) == start && n.size.load(Relaxed) == size;
        if let Some(node) = nodes().find(same) {
            node.size.store(0, Release);
        }
    });
}

pub(super) fn contains(addr: usize) -> bool {
    nodes().any(|n| {
        let size = n.size.load(Acquire);
        addr.wrapping_sub(n.start.load(Relaxed)) < size
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_come_and_go() {
        add_data_range(0x1000, 0x1000);
        assert!(!contains(0x1000));
        add_data_range(0x1000, 0x2000);
        add_data_range(0x5000, 0x6000);
        for (addr, inside) in [
            (0xfff, false),
            (0x1000, true),
            (0x1fff, true),
            (0x2000, false),
            (0x5800, true),
        ] {
            assert_eq!(contains(addr), inside, "{addr:#x}");
        }
        remove_data_range(0x1000, 0x2000);
        assert!(!contains(0x1800) && contains(0x5800));
        let nodes_before = nodes().count();
        add_data_range(0x8000, 0x9000);
        assert_eq!(nodes().count(), nodes_before);
        assert!(contains(0x8000));
        remove_data_range(0x5000, 0x6000);
        remove_data_range(0x8000, 0x9000);
    }
}
