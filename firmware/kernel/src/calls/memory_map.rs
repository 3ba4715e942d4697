//! `memory_map`, `memory_unmap` and `memory_protect`: pages of the caller.
use flick_abi::card::{Error, PAGE};
use flick_kernel_core::page_tables::are_rights;

use crate::direct::Direct;
use crate::kernel::{Answer, Caller, Done, Kernel, error_of, value};
use crate::processes::{MOST_PAGES, pages_of};

/// Maps pages.
#[inline(never)]
pub fn memory_map(kernel: &mut Kernel, caller: Caller, arguments: [u64; 6]) -> Answer {
    let [address, size, of, ..] = arguments;
    let owner = &kernel.processes[caller.process];
    let chosen = if address == 0 {
        owner.next_address
    } else {
        address
    };
    let pages = pages_of(chosen, size)
        .filter(|_| are_rights(of))
        .ok_or(Error::Invalid)?;
    let tables = owner.tables.ok_or(Error::NotFound)?;
    if owner.pages + pages > MOST_PAGES {
        return Err(Error::NoMemory);
    }
    for n in 0..pages {
        let at = chosen + n * PAGE;
        let mapped = tables.map(at, of, &mut kernel.frames, &mut Direct);
        if let Err(trouble) = mapped {
            // None of them, or all.
            for n in 0..n {
                let _ = tables.unmap(chosen + n * PAGE, &mut kernel.frames, &mut Direct);
            }
            return Err(error_of(trouble));
        }
    }
    let owner = &mut kernel.processes[caller.process];
    owner.pages += pages;
    if address == 0 {
        // A page between two ranges stays free.
        owner.next_address = chosen + (pages + 1) * PAGE;
    }
    value(chosen)
}

/// Unmaps pages.
#[inline(never)]
pub fn memory_unmap(kernel: &mut Kernel, caller: Caller, address: u64, size: u64) -> Answer {
    let pages = pages_of(address, size).ok_or(Error::Invalid)?;
    let tables = kernel.processes[caller.process]
        .tables
        .ok_or(Error::NotFound)?;
    // Frames are free when no hart reaches them any more.
    let is_mapped = |n: &u64| tables.is_mapped(address + n * PAGE, &mut Direct);
    let mapped = (0..pages).filter(is_mapped).count() as u64;
    if mapped == 0 {
        return Err(Error::NotFound);
    }
    for n in 0..pages {
        let _ = tables.protect_none(address + n * PAGE, &mut Direct);
    }
    kernel.invalidate(caller.process, address, pages, Some(caller.hart));
    for n in 0..pages {
        let _ = tables.unmap(address + n * PAGE, &mut kernel.frames, &mut Direct);
    }
    kernel.processes[caller.process].pages -= mapped;
    value(0)
}

/// Changes rights of pages.
#[inline(never)]
pub fn memory_protect(kernel: &mut Kernel, caller: Caller, arguments: [u64; 6]) -> Answer {
    let [address, size, of, ..] = arguments;
    let pages = pages_of(address, size)
        .filter(|_| are_rights(of))
        .ok_or(Error::Invalid)?;
    let tables = kernel.processes[caller.process]
        .tables
        .ok_or(Error::NotFound)?;
    let is_mapped = |n: u64| tables.is_mapped(address + n * PAGE, &mut Direct);
    if !(0..pages).all(is_mapped) {
        return Err(Error::NotFound);
    }
    for n in 0..pages {
        let at = address + n * PAGE;
        tables
            .protect(at, of, &kernel.frames, &mut Direct)
            .map_err(error_of)?;
    }
    kernel.invalidate(caller.process, address, pages, Some(caller.hart));
    value(0)
}

/// How much memory is free.
#[inline(never)]
pub fn memory_free(kernel: &mut Kernel) -> Answer {
    let (free, all) = (kernel.frames.free_frames(), kernel.frames.all_frames());
    Ok(Done::Values(free as u64, all as u64))
}
