//! `process_create`, `process_copy`, `process_map` and `process_start`: children of a process.
use flick_abi::card::{Error, NORMAL_PRIORITY, PAGE, rights};
use flick_kernel_core::page_tables::{PageTables, are_rights};

use crate::direct::Direct;
use crate::kernel::{Answer, Caller, Kernel, error_of, value};
use crate::processes::{MOST_PAGES, pages_of};

fn create(kernel: &mut Kernel, caller: Caller) -> Result<u16, Error> {
    let tables = PageTables::new(kernel.map.mode, &mut kernel.frames, &mut Direct);
    let tables = tables.map_err(error_of)?;
    let made = kernel.processes.create(Some(caller.process), tables);
    made.ok_or_else(|| {
        tables.free(&mut kernel.frames, &mut Direct);
        Error::NoMemory
    })
}

/// A process with an empty address space.
#[inline(never)]
pub fn process_create(kernel: &mut Kernel, caller: Caller) -> Answer {
    let process = create(kernel, caller)?;
    value(kernel.processes.number(process))
}

/// A process with a copy of the caller's memory.
#[inline(never)]
pub fn process_copy(kernel: &mut Kernel, caller: Caller) -> Answer {
    let process = create(kernel, caller)?;
    let from = kernel.processes[caller.process]
        .tables
        .ok_or(Error::NotFound)?;
    let to = kernel.processes[process].tables.ok_or(Error::NotFound)?;
    let mut next = 0;
    let mut shared = Ok(());
    while let Some(at) = from.next_mapped(next, &Direct) {
        shared = from.share(at, (&to, at, None), &mut kernel.frames, &mut Direct);
        if shared.is_err() {
            break;
        }
        next = at + PAGE;
    }
    // The caller's pages cannot be stored to any more.
    kernel.invalidate(caller.process, 0, u64::MAX, Some(caller.hart));
    if let Err(trouble) = shared {
        to.free(&mut kernel.frames, &mut Direct);
        kernel.processes.remove(process);
        return Err(error_of(trouble));
    }
    let owner = &kernel.processes[caller.process];
    let (pages, next_address) = (owner.pages, owner.next_address);
    let child = &mut kernel.processes[process];
    (child.pages, child.next_address) = (pages, next_address);
    value(kernel.processes.number(process))
}

fn child(kernel: &Kernel, caller: Caller, number: u64, may_run: bool) -> Result<u16, Error> {
    let child = kernel
        .processes
        .child(caller.process, number)
        .ok_or(Error::NotFound)?;
    let owner = &kernel.processes[child];
    match (may_run || owner.threads == 0) && !owner.is_ending {
        true => Ok(child),
        false => Err(Error::Busy),
    }
}

/// Gives pages to a child, or shares them with it.
#[inline(never)]
pub fn process_map(kernel: &mut Kernel, caller: Caller, arguments: [u64; 6]) -> Answer {
    let [number, target, source, size, of, _] = arguments;
    let is_shared = of & rights::SHARED != 0;
    let child = child(kernel, caller, number, is_shared)?;
    let owner = &kernel.processes[child];
    let chosen = if target == 0 {
        owner.next_address
    } else {
        target
    };
    let pages = pages_of(source, size)
        .filter(|_| are_rights(of & !rights::SHARED))
        .ok_or(Error::Invalid)?;
    pages_of(chosen, size).ok_or(Error::Invalid)?;
    if owner.pages + pages > MOST_PAGES {
        return Err(Error::NoMemory);
    }
    let from = kernel.processes[caller.process]
        .tables
        .ok_or(Error::NotFound)?;
    let to = kernel.processes[child].tables.ok_or(Error::NotFound)?;
    let mut shared = Ok(());
    for n in 0..pages {
        let (there, here) = (chosen + n * PAGE, source + n * PAGE);
        if is_shared {
            // A page without memory, or one that others have a copy of, is none to share.
            let resolved = kernel.resolve(caller.process, here, rights::WRITE, None);
            shared = resolved.map(|_| ());
        }
        if shared.is_ok() {
            shared = from.share(
                here,
                (&to, there, Some(of)),
                &mut kernel.frames,
                &mut Direct,
            );
        }
        if shared.is_err() {
            for n in 0..n {
                let _ = to.unmap(chosen + n * PAGE, &mut kernel.frames, &mut Direct);
            }
            break;
        }
    }
    kernel.invalidate(caller.process, source, pages, Some(caller.hart));
    shared.map_err(error_of)?;
    let owner = &mut kernel.processes[child];
    owner.pages += pages;
    if target == 0 {
        owner.next_address = chosen + (pages + 1) * PAGE;
    }
    value(chosen)
}

/// Starts the first thread of a child.
#[inline(never)]
pub fn process_start(kernel: &mut Kernel, caller: Caller, arguments: [u64; 6]) -> Answer {
    let [number, entry, stack, argument, ..] = arguments;
    let child = child(kernel, caller, number, false)?;
    let started = kernel.start_process(child, [entry, argument, stack, 0, NORMAL_PRIORITY]);
    let place = started.ok_or(Error::NoMemory)?;
    value(kernel.dispatch.threads.number(place))
}
