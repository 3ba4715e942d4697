//! What a tile has by the number of a port. Pages of the table are made when a port in them is used, so
//! that many ports take no memory before.
use core::marker::PhantomData;

use flick_abi::card::PAGE;
use flick_kernel_core::frames::Frames;

/// Entries of a page.
const EACH: usize = 64;
/// Pages of a table.
const PAGES: usize = 32;
/// Ports are below this number.
pub const PORTS: u64 = (EACH * PAGES) as u64;

/// An entry: it fits into a page's part.
pub trait PortEntry: Copy {
    /// Nothing is at the port.
    const NONE: Self;

    /// Is something at the port?
    fn is_used(&self) -> bool;
}

/// See the module.
#[derive(Debug)]
pub struct PortTable<T> {
    pages: [u64; PAGES],
    of: PhantomData<T>,
}

impl<T: PortEntry> PortTable<T> {
    /// Nothing is at any port.
    pub const fn new() -> Self {
        assert!(size_of::<T>() * EACH <= PAGE as usize);
        Self {
            pages: [0; PAGES],
            of: PhantomData,
        }
    }

    fn entry(&self, port: u64) -> Option<*mut T> {
        let page = *self.pages.get(port as usize / EACH)?;
        (page != 0).then(|| (page as *mut T).wrapping_add(port as usize % EACH))
    }

    /// What is at a port.
    pub fn get(&mut self, port: u64) -> Option<&mut T> {
        // SAFETY: an entry of a page of the table, which has been filled.
        let entry = unsafe { &mut *self.entry(port)? };
        entry.is_used().then_some(entry)
    }

    /// The place of a port, to put something there. `None`: there is no such port, or no memory.
    pub fn place(&mut self, port: u64, frames: &mut Frames) -> Option<&mut T> {
        let page = self.pages.get_mut(port as usize / EACH)?;
        if *page == 0 {
            *page = frames.allocate()?;
            let first = *page as *mut T;
            // SAFETY: the frame is the table's from now on.
            (0..EACH).for_each(|n| unsafe { first.add(n).write(T::NONE) });
        }
        // SAFETY: as in `get`.
        Some(unsafe { &mut *self.entry(port)? })
    }

    /// The first port from `from` on of which something is true.
    pub fn find(&mut self, from: u64, is_meant: impl Fn(&T) -> bool) -> Option<u64> {
        let mut port = from;
        while port < PORTS {
            if self.pages[port as usize / EACH] == 0 {
                port = (port / EACH as u64 + 1) * EACH as u64;
                continue;
            }
            if self.get(port).is_some_and(|entry| is_meant(entry)) {
                return Some(port);
            }
            port += 1;
        }
        None
    }
}
