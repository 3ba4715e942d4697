//! `archive_map`: the files that the machine has started with.
use flick_abi::card::{Error, PAGE, rights};

use crate::direct::Direct;
use crate::kernel::{Answer, Caller, Done, Kernel, error_of};

/// Maps the archive for loads.
#[inline(never)]
pub fn archive_map(kernel: &mut Kernel, caller: Caller) -> Answer {
    let archive = kernel.map.archive();
    if archive.is_empty() {
        return Err(Error::NotFound);
    }
    let owner = &mut kernel.processes[caller.process];
    let (tables, at) = (owner.tables.ok_or(Error::NotFound)?, owner.next_address);
    let first = archive.start / PAGE * PAGE;
    let pages = (archive.end - first).div_ceil(PAGE);
    for n in 0..pages {
        let frame = first + n * PAGE;
        // The archive's frames are nobody's, so that they are never freed.
        let of = rights::READ;
        let mapped = tables.map_frame(at + n * PAGE, frame, of, &mut kernel.frames, &mut Direct);
        if let Err(trouble) = mapped {
            for n in 0..n {
                let _ = tables.unmap(at + n * PAGE, &mut kernel.frames, &mut Direct);
            }
            return Err(error_of(trouble));
        }
    }
    let owner = &mut kernel.processes[caller.process];
    owner.pages += pages;
    owner.next_address = at + (pages + 1) * PAGE;
    Ok(Done::Values(
        at + (archive.start - first),
        archive.end - archive.start,
    ))
}
