//! Address translation (privileged manual, "Sv39", "Sv48", "Sv57").
use crate::bus::{Bus, PAGE};
use crate::privileged_registers::Privilege;
use flick_riscv::{FOREIGN_MODE, Mmu};

/// What an access wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Fetch,
    Load,
    Store,
}

/// What decides how addresses are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regime {
    pub privilege: Privilege,
    pub satp: u64,
    /// Supervisors may access pages of users.
    pub sum: bool,
    /// Pages that may be executed may be loaded from.
    pub mxr: bool,
    /// The hart sets accessed and dirty bits (Svadu).
    pub updates: bool,
}

/// Why an address has no translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    Page,
    Access,
}

const VALID: u64 = 1 << 0;
const READ: u64 = 1 << 1;
const WRITE: u64 = 1 << 2;
const EXECUTE: u64 = 1 << 3;
const USER: u64 = 1 << 4;
const ACCESSED: u64 = 1 << 6;
const DIRTY: u64 = 1 << 7;
/// Svnapot, Svpbmt and what no extension has.
const RESERVED: u64 = 0x3ff << 54;
/// Of a physical page number.
const PPN: u64 = (1 << 44) - 1;

/// Where an access to one page goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Physical {
    pub address: u64,
    /// Bits of an address within what one entry of a page table maps.
    pub bits: u32,
}

/// The physical address of an access to one page. `allows`: may an entry of a page table be accessed
/// so?
pub fn translate<B: Bus>(
    bus: &B,
    allows: &impl Fn(u64, Access) -> bool,
    regime: &Regime,
    address: u64,
    access: Access,
) -> Result<Physical, Failure> {
    let levels = match regime.privilege {
        Privilege::Machine => 0,
        _ => Mmu::of_mode(regime.satp >> 60).map_or(0, Mmu::levels),
    };
    // The host's space is not reached from here.
    if regime.privilege != Privilege::Machine && regime.satp >> 60 == FOREIGN_MODE {
        return Err(Failure::Page);
    }
    if levels == 0 {
        return Ok(Physical { address, bits: 64 });
    }
    // Bits above are copies of the highest one.
    let unused = 64 - (12 + 9 * levels);
    if (address << unused) as i64 >> unused != address as i64 {
        return Err(Failure::Page);
    }
    let mut table = (regime.satp & PPN) * PAGE;
    for level in (0..levels).rev() {
        let index = address >> (12 + 9 * level) & 0x1ff;
        let place = table + 8 * index;
        let entry = read(bus, allows, place)?;
        let is_reserved = entry & RESERVED != 0 || entry & (READ | WRITE) == WRITE;
        if entry & VALID == 0 || is_reserved {
            return Err(Failure::Page);
        }
        let number = entry >> 10 & PPN;
        if entry & (READ | EXECUTE) == 0 {
            if entry & (USER | ACCESSED | DIRTY) != 0 {
                return Err(Failure::Page);
            }
            table = number * PAGE;
            continue;
        }
        let below = (1 << (9 * level)) - 1;
        if !permits(entry, regime, access) || number & below != 0 {
            return Err(Failure::Page);
        }
        let wanted = match access {
            Access::Store => ACCESSED | DIRTY,
            _ => ACCESSED,
        };
        if entry & wanted != wanted {
            if !regime.updates {
                return Err(Failure::Page);
            }
            write(bus, allows, place, entry | wanted)?;
        }
        let page = number | address >> 12 & below;
        return Ok(Physical {
            address: page * PAGE + address % PAGE,
            bits: 12 + 9 * level,
        });
    }
    Err(Failure::Page)
}

fn permits(entry: u64, regime: &Regime, access: Access) -> bool {
    let is_users = entry & USER != 0;
    let reaches = match regime.privilege {
        Privilege::User => is_users,
        _ => !is_users || regime.sum && access != Access::Fetch,
    };
    let allowed = match access {
        Access::Fetch => EXECUTE,
        Access::Load if regime.mxr => READ | EXECUTE,
        Access::Load => READ,
        Access::Store => WRITE,
    };
    reaches && entry & allowed != 0
}

fn read<B: Bus>(
    bus: &B,
    allows: &impl Fn(u64, Access) -> bool,
    place: u64,
) -> Result<u64, Failure> {
    let place = entry_at(bus, allows, place, Access::Load)?;
    // SAFETY: an aligned word in a page of memory.
    Ok(unsafe { place.read() })
}

fn write<B: Bus>(
    bus: &B,
    allows: &impl Fn(u64, Access) -> bool,
    place: u64,
    entry: u64,
) -> Result<(), Failure> {
    let place = entry_at(bus, allows, place, Access::Store)?;
    // SAFETY: as in `read`.
    unsafe { place.write(entry) };
    Ok(())
}

/// Page tables are in plain memory (a platform may say so, "Page Table Entry accesses").
fn entry_at<B: Bus>(
    bus: &B,
    allows: &impl Fn(u64, Access) -> bool,
    place: u64,
    access: Access,
) -> Result<*mut u64, Failure> {
    let page = bus.memory(place / PAGE * PAGE).ok_or(Failure::Access)?;
    if !allows(place, access) {
        return Err(Failure::Access);
    }
    // SAFETY: within the page.
    Ok(unsafe { page.add((place % PAGE) as usize).cast() })
}
