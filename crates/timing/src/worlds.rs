//! The models of a thread's memories in a timed run: those of the NxP, of the host, and of a host that has all
//! code.
use crate::allocation_marks::Marks;
use crate::model::{Access, Chain, Cost, HostCore, Levels, Pages, View};
use crate::platform::{Core, Platform, Region};

/// The models of one thread, in both worlds.
pub struct Worlds {
    /// The NxP's memories, migrating.
    nxp: View,
    /// The same of tiles of a card with several kinds of NxP, by number; empty: there is one kind.
    tiles: Box<[View]>,
    /// The host's memories, migrating: accesses of host code only.
    pub host: View,
    /// The host's memories, staying: accesses of all code.
    pub staying: View,
    /// The same as `staying`, without accesses to marked data. It is copied from `staying` at the
    /// first access with marks.
    before: View,
    has_before: bool,
    /// The host's own memory, where the platform describes it.
    own: Option<Box<Own>>,
    /// What the host has computed when NxP code begins to run.
    pub base: Progress,
    /// The numbers of pages, which stand for addresses.
    pub pages: Pages,
    /// Set while a model is in use. A signal handler that finds it set leaves the models alone.
    pub busy: bool,
}

impl Worlds {
    /// Models in which nothing is cached.
    pub fn new(platform: &Platform) -> Self {
        let host = View::new(&platform.host);
        let own = HostCore::new(&platform.host, &host).map(|core| {
            Box::new(Own {
                staying: core.clone(),
                before: core.clone(),
                host: core,
                parted: false,
            })
        });
        Self {
            nxp: View::new(&platform.nxp),
            tiles: Box::default(),
            staying: host.clone(),
            before: host.clone(),
            host,
            has_before: false,
            pages: match own {
                None => Pages::default(),
                Some(_) => Pages::of_host(),
            },
            own,
            base: Progress::default(),
            busy: false,
        }
    }

    /// How many tiles have cores of their own.
    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// From now on the tiles of a card have cores of their own: names and cores, by number.
    pub fn learn_tiles(&mut self, host: &Core, tiles: &[(&str, &Core)]) {
        let names: Vec<&str> = tiles.iter().map(|&(name, _)| name).collect();
        for view in [&mut self.host, &mut self.staying, &mut self.before] {
            view.see_tiles(host, &names, Region::Nxp);
        }
        let view = |&(_, core): &(&str, &Core)| {
            let mut view = View::new(core);
            // The way to another tile is as far as that to the host.
            view.see_tiles(core, &names, Region::Host);
            view
        };
        self.tiles = tiles.iter().map(view).collect();
    }

    /// The memories of a tile's cores; without tiles, those of the one NxP.
    pub(crate) fn of_tile(&mut self, tile: u16) -> &mut View {
        let tile = self.tiles.get_mut(usize::from(tile));
        tile.unwrap_or(&mut self.nxp)
    }

    /// Whether the platform describes the host's own memory.
    pub fn has_own(&self) -> bool {
        self.own.is_some()
    }

    /// log2 of the line of the cache that is nearest to the host, and how many sets it has; 0 if there is no
    /// cache of its own memory.
    pub fn own_shape(&self) -> (u32, u64) {
        self.own.as_ref().map_or((0, 0), |own| own.host.shape())
    }

    /// What the host has found in its own memory, migrating.
    pub fn own_levels(&self) -> Levels {
        self.own
            .as_ref()
            .map_or(Levels::default(), |own| own.host.levels)
    }

    /// Host code makes an access to the host's own memory. The result is the waiting that has come to light, in
    /// each world.
    #[inline]
    pub fn own_access(&mut self, access: (u64, u64, bool), chain: Chain, at: &Progress) -> Waits {
        let Some(own) = self.own.as_deref_mut() else {
            return Waits::default();
        };
        let host = own.host.access(&mut self.host, access, chain, at.migrating);
        let is_late = own.host.is_late;
        if !own.parted {
            return Waits {
                is_late,
                migrating: host,
                staying: host,
                before: host,
            };
        }
        let staying = own
            .staying
            .access(&mut self.staying, access, chain, at.staying);
        let before = own
            .before
            .access(&mut self.before, access, chain, at.before);
        Waits {
            is_late: is_late || own.staying.is_late || own.before.is_late,
            migrating: host,
            staying,
            before,
        }
    }

    /// Calls a function for the lines of the host's own memory that have left the nearest cache, in any world. False:
    /// there were more.
    pub fn own_gone(&mut self, mut each: impl FnMut(u64)) -> bool {
        let mut all = true;
        for view in [&mut self.host, &mut self.staying, &mut self.before] {
            all &= view.gone.take(&mut each);
        }
        all
    }

    /// The kernel has given the program a page, and filled it.
    pub fn own_fill(&mut self, place: u64) {
        let Some(own) = self.own.as_deref() else {
            return;
        };
        self.host.own_fill(place);
        if own.parted {
            self.staying.own_fill(place);
            self.before.own_fill(place);
        }
    }

    /// The worlds are no longer alike: NxP code makes an access, or host code one to NxP-local memory.
    pub fn part(&mut self) {
        let Some(own) = self.own.as_deref_mut().filter(|own| !own.parted) else {
            return;
        };
        own.parted = true;
        self.staying.copy(&self.host);
        self.before.copy(&self.host);
        own.staying.copy(&own.host);
        own.before.copy(&own.host);
    }

    /// Host code makes an access to NxP-local memory, which is the host's own with nothing placed: the waiting
    /// there.
    pub fn own_before(&mut self, access: (u64, u64, bool), chain: Chain, at: u64) -> u64 {
        let before = &mut self.before;
        let own = self.own.as_deref_mut();
        own.map_or(0, |own| own.before.access(before, access, chain, at))
    }

    /// NxP code makes an access to the host's own memory, as the host would: the waiting, staying.
    pub(crate) fn own_staying(&mut self, access: (u64, u64, bool), chain: Chain, at: u64) -> u64 {
        let staying = &mut self.staying;
        let own = self.own.as_deref_mut();
        own.map_or(0, |own| own.staying.access(staying, access, chain, at))
    }

    /// NxP code computes, as the host would.
    pub(crate) fn computes(&mut self, chain: Chain) {
        if let Some(own) = self.own.as_deref_mut() {
            own.staying.computes(chain);
            own.before.computes(chain);
        }
    }

    /// Makes an access to NxP-local memory in the world `staying`. Returns its cost, and how much
    /// less it costs in `before`.
    #[inline]
    pub fn stay(&mut self, access: Access, address: u64, marks: Option<Marks>) -> Stay {
        let Some(marks) = marks else {
            let cost = self.staying.access(access);
            return Stay {
                cost,
                ..Stay::default()
            };
        };
        if !self.has_before {
            self.has_before = true;
            self.before.copy(&self.staying);
        }
        let cost = self.staying.access(access);
        let marked = marks.has(address);
        let before = match marked {
            true => Cost::default(),
            false => self.before.access(access),
        };
        Stay {
            cost,
            spare: (cost.memory + cost.tlb) as i64 - (before.memory + before.tlb) as i64,
            marked,
        }
    }
}

/// The host's core in each world, with the [`View`]s of the same names.
struct Own {
    host: HostCore,
    staying: HostCore,
    before: HostCore,
    /// Until then all three are as `host`.
    parted: bool,
}

/// What the host has computed in each world, without waiting for its own memory. Femtoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// With migration.
    pub migrating: u64,
    /// With all code on the host, and data as placed.
    pub staying: u64,
    /// With nothing placed.
    pub before: u64,
}

/// How long it has waited for an access in each world. Femtoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Another access to the same line waits for it, too.
    pub is_late: bool,
    /// With migration.
    pub migrating: u64,
    /// With all code on the host, and data as placed.
    pub staying: u64,
    /// With nothing placed.
    pub before: u64,
}

/// The cost of an access where all code stays on the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stay {
    pub cost: Cost,
    /// The part of the cost that would vanish if marked data were in the host's own memory.
    pub spare: i64,
    pub marked: bool,
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU8;

    use super::*;
    use crate::platform::{Cache, Memory};

    #[test]
    fn accounts_part_when_something_is_marked() {
        let platform = Platform::load("flick-isca20").unwrap();
        let mut worlds = Worlds::new(&platform);
        let bits = [AtomicU8::new(0b10)];
        let at = |place| Access {
            region: Region::Nxp,
            tile: None,
            place,
            bytes: 8,
            write: false,
        };
        // SAFETY: `bits` has a bit for each 16 of 128 bytes.
        let marks = Some(unsafe { Marks::new(bits.as_ptr(), 0, 128) });
        let cost = |stay: Stay| (stay.cost.memory + stay.cost.tlb) as i64;
        let before = worlds.stay(at(0), 0, None);
        assert!(cost(before) > 0 && before.spare == 0 && !before.marked);
        // The whole cost of a marked access is spare, and nothing of another access.
        let marked = worlds.stay(at(16), 16, marks);
        assert!(marked.marked && marked.spare == cost(marked) && marked.spare > 0);
        let other = worlds.stay(at(32), 32, marks);
        assert!(!other.marked && other.spare == 0 && cost(other) > 0);
    }

    /// A tile's caches hold the memory of others where they hold the host's. It is as far as the file says.
    #[test]
    fn tiles_have_models_of_their_own() {
        let mut platform = Platform::load("flick-isca20").unwrap();
        let mut near = platform.nxp.clone();
        near.tlb = None;
        let cache = |region: Region| {
            let mut holds = [false; 3];
            holds[region as usize] = true;
            Cache {
                size: 1024,
                line: 64,
                ways: 1,
                hit: 1,
                each: 0,
                in_order: 0,
                holds,
            }
        };
        near.caches = vec![cache(Region::Host)];
        near.memory[Region::Nxp as usize].byte = 0.0;
        near.memory[Region::Host as usize].byte = 0.0;
        let own = near.memory[Region::Nxp as usize].load;
        let host = near.memory[Region::Host as usize].load;
        let far = Memory {
            load: 7_000_000,
            ..Memory::default()
        };
        near.tiles = vec![("a".to_owned(), far)];
        platform.host.tiles = vec![("b".to_owned(), far)];
        let mut worlds = Worlds::new(&platform);
        let tiles = [
            ("a", &platform.nxp.clone()),
            ("b", &near),
            ("c", &near.clone()),
        ];
        worlds.learn_tiles(&platform.host, &tiles);
        assert_eq!(worlds.tiles(), 3);
        let load = |tile, place| Access {
            region: Region::Nxp,
            tile,
            place,
            bytes: 8,
            write: false,
        };
        let mut of_b = |tile, place| worlds.of_tile(1).access(load(tile, place)).memory;
        // Its own, which nothing holds; that of the first tile; and of one of which the file says nothing.
        assert_eq!([of_b(None, 0), of_b(None, 0)], [own, own]);
        assert_eq!([of_b(Some(0), 64), of_b(Some(0), 72)], [7_000_000, 1]);
        assert_eq!([of_b(Some(2), 128), of_b(Some(2), 128)], [host, 1]);
        // Another tile has caches of its own.
        assert_eq!(
            worlds.of_tile(2).access(load(Some(0), 64)).memory,
            7_000_000
        );
        let nxp = platform.host.memory[Region::Nxp as usize];
        let word = 8 * nxp.byte.round() as u64;
        assert_eq!(worlds.host.access(load(Some(0), 0)).memory, nxp.load + word);
        assert_eq!(worlds.host.access(load(Some(1), 0)).memory, 7_000_000);
    }
}
