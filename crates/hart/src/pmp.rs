//! Physical memory protection (privileged manual, "Physical Memory Protection"): 16 entries with a
//! granularity of 4 bytes.
use crate::page_tables::Access;
use crate::privileged_registers::Privilege;

/// Entries.
pub const ENTRIES: usize = 16;

const READ: u8 = 1;
const WRITE: u8 = 2;
const EXECUTE: u8 = 4;
const MODE: u8 = 3 << 3;
const LOCKED: u8 = 1 << 7;
/// Physical addresses have 56 bits.
const ADDRESS: u64 = (1 << 54) - 1;

/// `pmpcfg` and `pmpaddr`, and what they mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pmp {
    configs: [u8; ENTRIES],
    addresses: [u64; ENTRIES],
    /// The entries in use, in their order: start, end, and `pmpcfg`.
    active: [(u64, u64, u8); ENTRIES],
    count: usize,
}

impl Pmp {
    /// `pmpcfg` of this number, which is even.
    pub fn config(&self, register: usize) -> u64 {
        let first = register * 4;
        let configs = self.configs.get(first..first + 8).unwrap_or(&[]);
        let each = configs.iter().enumerate();
        each.fold(0, |all, (n, &config)| all | u64::from(config) << (8 * n))
    }

    pub fn set_config(&mut self, register: usize, value: u64) {
        for (n, config) in self
            .configs
            .iter_mut()
            .enumerate()
            .skip(register * 4)
            .take(8)
        {
            let new = (value >> (8 * (n % 8))) as u8 & !(3 << 5);
            // Writable and not readable is reserved.
            let is_reserved = new & (READ | WRITE) == WRITE;
            if *config & LOCKED == 0 && !is_reserved {
                *config = new;
            }
        }
        self.refresh();
    }

    fn refresh(&mut self) {
        self.count = 0;
        for entry in 0..ENTRIES {
            if let Some((start, end)) = self.range(entry) {
                self.active[self.count] = (start, end, self.configs[entry]);
                self.count += 1;
            }
        }
    }

    #[inline(always)]
    fn active(&self) -> &[(u64, u64, u8)] {
        &self.active[..self.count]
    }

    /// `pmpaddr` of this number.
    pub fn address(&self, entry: usize) -> u64 {
        self.addresses.get(entry).copied().unwrap_or(0)
    }

    pub fn set_address(&mut self, entry: usize, value: u64) {
        let is_locked = |entry: usize| self.configs.get(entry).is_some_and(|c| c & LOCKED != 0);
        let next = self.configs.get(entry + 1);
        let is_bound = next.is_some_and(|c| c & LOCKED != 0 && c & MODE == 1 << 3);
        if entry < ENTRIES && !is_locked(entry) && !is_bound {
            self.addresses[entry] = value & ADDRESS;
        }
        self.refresh();
    }

    /// `pmpcfg` and `pmpaddr` of each entry, for snapshots.
    pub fn save(&self) -> Vec<(u8, u64)> {
        let pairs = self.configs.iter().zip(&self.addresses);
        pairs.map(|(&config, &address)| (config, address)).collect()
    }

    /// False: there are not so many entries, or no entry is so.
    pub fn restore(&mut self, saved: &[(u8, u64)]) -> bool {
        let fits = |&(config, address): &(u8, u64)| {
            config & 3 << 5 == 0 && config & (READ | WRITE) != WRITE && address <= ADDRESS
        };
        if saved.len() != ENTRIES || !saved.iter().all(fits) {
            return false;
        }
        for (entry, &(config, address)) in saved.iter().enumerate() {
            (self.configs[entry], self.addresses[entry]) = (config, address);
        }
        self.refresh();
        true
    }

    /// The bytes that an entry is about.
    fn range(&self, entry: usize) -> Option<(u64, u64)> {
        let address = self.addresses[entry];
        match (self.configs[entry] & MODE) >> 3 {
            // To the top of the range.
            1 => {
                let before = entry.checked_sub(1);
                let start = before.map_or(0, |before| self.addresses[before]);
                Some((start << 2, address << 2))
            }
            2 => Some((address << 2, (address << 2) + 4)),
            // A power of two, by the ones at the end.
            3 => {
                let ones = (!address).trailing_zeros();
                let size = 8_u64.checked_shl(ones).filter(|_| ones <= 54)?;
                let start = (address & !((1 << ones) - 1)) << 2;
                Some((start, start.saturating_add(size)))
            }
            _ => None,
        }
    }

    /// Is an access of `size` bytes allowed?
    pub fn allows(&self, address: u64, size: u64, access: Access, privilege: Privilege) -> bool {
        self.decides(address, size, access, privilege)
            .unwrap_or(false)
    }

    /// The same; `None`: some of the bytes are in an entry that has not all of them, so that the
    /// access fails.
    fn decides(
        &self,
        address: u64,
        size: u64,
        access: Access,
        privilege: Privilege,
    ) -> Option<bool> {
        let is_machine = privilege == Privilege::Machine;
        for &(start, end, config) in self.active() {
            let last = address + (size - 1);
            if last < start || address >= end {
                continue;
            }
            if address < start || last >= end {
                return None;
            }
            if is_machine && config & LOCKED == 0 {
                return Some(true);
            }
            let needed = match access {
                Access::Fetch => EXECUTE,
                Access::Load => READ,
                Access::Store => WRITE,
            };
            return Some(config & needed != 0);
        }
        // Without a match M mode may access everything, and the others nothing: entries are implemented
        // ("Priority and Matching Logic").
        Some(is_machine)
    }

    /// Is the answer the same for all bytes of the page? Otherwise accesses of it are not cached.
    pub fn is_uniform(&self, page: u64, size: u64) -> bool {
        let inside = |bound: u64| bound > page && bound < page + size;
        let mut all = self.active().iter();
        all.all(|&(start, end, _)| !inside(start) && !inside(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_decide_in_order() {
        let mut pmp = Pmp::default();
        let (user, machine) = (Privilege::User, Privilege::Machine);
        assert!(pmp.allows(0x8000_0000, 8, Access::Store, machine));
        // A locked, unreadable naturally aligned page; then all memory.
        pmp.set_address(0, 0x8000_0000 >> 2 | 0x1ff);
        pmp.set_address(1, u64::MAX);
        pmp.set_config(0, 0x1f << 8 | 0x9c);
        assert_eq!(pmp.config(0), 0x1f9c);
        assert!(!pmp.allows(0x8000_0ff8, 8, Access::Load, machine));
        assert!(pmp.allows(0x8000_0ff8, 4, Access::Fetch, user));
        assert!(!pmp.allows(0x8000_0ffc, 8, Access::Fetch, user));
        assert!(pmp.allows(0x8000_1000, 8, Access::Store, user));
        assert!(pmp.is_uniform(0x8000_0000, 4096) && !pmp.is_uniform(0x8000_0000, 8192));
        // Locked.
        pmp.set_config(0, 0);
        pmp.set_address(0, 0);
        assert_eq!((pmp.config(0), pmp.address(0)), (0x9c, 0x2000_01ff));
        assert!(!pmp.allows(0x8000_1000, 8, Access::Store, user));
        // To the top of the range, of which the entry in front is the start.
        pmp.set_address(2, 0x100 >> 2);
        pmp.set_address(3, 0x200 >> 2);
        pmp.set_config(0, 0x0b << 24);
        assert!(pmp.allows(0x1f8, 8, Access::Store, user));
        assert!(!pmp.allows(0xf8, 8, Access::Store, user));
        assert!(!pmp.allows(0x1fc, 8, Access::Store, user));
    }
}
