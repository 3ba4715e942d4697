//! Where messages for mailboxes go: a table that the kernel hart writes, and user harts read. It forgets:
//! what is not there, the kernel hart is asked for.
use core::sync::atomic::{AtomicU64, Ordering};

use flick_abi::card::PAGE;
use flick_kernel_core::frames::Frames;

use crate::cache;

const ROUTES: usize = PAGE as usize / 8;
const VALID: u64 = 1 << 63;
/// A port of portals, not of mailboxes.
const PORTAL: u64 = 1 << 15;

/// The endpoint of a mailbox: its number (bits 31:24), its activity (47:32), and in its own tile the place
/// of the process that owns it (62:48). Port and tile are in bits 15:0 and 23:16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route(pub u64);

impl Route {
    /// The route to a mailbox.
    pub const fn new(tile: u64, port: u64, (endpoint, activity): (u16, u16), owner: u16) -> Self {
        let place = (endpoint as u64) << 24 | (activity as u64) << 32 | (owner as u64) << 48;
        Self(VALID | place | (tile & 0xff) << 16 | port & 0xffff)
    }

    /// There is a portal: nobody has to ask whether there is.
    pub const fn portal(tile: u64, port: u64) -> Self {
        Self::new(tile, port | PORTAL, (0, 0), 0)
    }

    /// The number of the endpoint; 0: the kernel of the tile has the mailbox, not its unit.
    pub const fn endpoint(self) -> u16 {
        (self.0 >> 24 & 0xff) as u16
    }

    /// The activity of the endpoint.
    pub const fn activity(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// The place of the process.
    pub const fn owner(self) -> u16 {
        (self.0 >> 48 & 0x7fff) as u16
    }
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Routes(Option<&'static [AtomicU64; ROUTES]>);

impl Routes {
    /// None.
    pub const fn none() -> Self {
        Self(None)
    }

    /// A table without routes.
    pub fn create(frames: &mut Frames) -> Self {
        // SAFETY: 0 is a value of each entry.
        Self(unsafe { frames.table() })
    }

    #[inline(always)]
    fn entry(&self, tile: u64, port: u64) -> Option<&'static AtomicU64> {
        let place = (port + 32 * tile) as usize % ROUTES;
        self.0.map(|all| &all[place])
    }

    /// Where the mailbox of a port is, which is a port's number in a tile's.
    #[inline(always)]
    pub fn find(&self, tile: u64, port: u64) -> Option<Route> {
        let entry = self.entry(tile, port)?;
        let route = entry.load(Ordering::Relaxed);
        if Self::is_it(route, tile, port) {
            return Some(Route(route));
        }
        self.find_again(tile, port)
    }

    /// It may be what the hart's cache has kept.
    #[inline(never)]
    fn find_again(&self, tile: u64, port: u64) -> Option<Route> {
        self.see(tile, port);
        let route = self.entry(tile, port)?.load(Ordering::Relaxed);
        Self::is_it(route, tile, port).then_some(Route(route))
    }

    #[inline(always)]
    fn is_it(route: u64, tile: u64, port: u64) -> bool {
        (route ^ (VALID | tile << 16 | port)) << 40 == 0 && route & VALID != 0
    }

    /// The hart sees what the table has now.
    pub fn see(&self, tile: u64, port: u64) {
        if let Some(entry) = self.entry(tile, port) {
            cache::refresh(core::ptr::from_ref(entry).addr() as u64, 8);
        }
    }

    /// Adds one.
    pub fn add(&self, route: Route) {
        if let Some(entry) = self.entry(route.0 >> 16 & 0xff, route.0 & 0xffff) {
            entry.swap(route.0, Ordering::Relaxed);
        }
    }

    /// Is a portal known?
    pub fn has_portal(&self, tile: u64, port: u64) -> bool {
        self.find(tile, port | PORTAL).is_some()
    }

    /// Forgets the portals of a tile.
    pub fn forget_portals(&self, tile: u64) {
        let is_one = |route: u64| route >> 16 & 0xff == tile && route & PORTAL != 0;
        for entry in self.0.into_iter().flatten() {
            if is_one(entry.load(Ordering::Relaxed)) {
                entry.swap(0, Ordering::Relaxed);
            }
        }
    }

    /// Forgets one.
    pub fn forget(&self, tile: u64, port: u64) {
        if self.find(tile, port).is_some()
            && let Some(entry) = self.entry(tile, port)
        {
            entry.swap(0, Ordering::Relaxed);
        }
    }
}
