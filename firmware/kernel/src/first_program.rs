//! The first program: the file of the archive that the kernel's command line names, with the arguments
//! behind the name (`flick_abi::card::argument_bytes`: how a word can have blanks).
use elf::ElfBytes;
use elf::abi::{EM_RISCV, PF_R, PF_W, PF_X, PT_LOAD};
use elf::endian::LittleEndian;
use flick_abi::card::{
    NORMAL_PRIORITY, PAGE, ProgramStart, STACK_END, START_VERSION, argument_bytes, rights,
};
use flick_kernel_core::page_tables::{PageTables, are_rights};

use crate::archive_files::files;
use crate::cache::means;
use crate::direct::Direct;
use crate::endings::FIRST;
use crate::kernel::{Caller, Kernel};
use crate::processes::pages_of;
use crate::{devices, report};

/// The record of the start, and the arguments.
const START: u64 = STACK_END;
/// The status of a machine without a program.
const NO_PROGRAM: u64 = 71;

/// Starts it, or ends the machine.
pub fn start(kernel: &mut Kernel, arguments: &str) {
    let has_others = kernel.map.is_governed() || kernel.map.is_root;
    if arguments.is_empty() && has_others {
        // Other tiles have programs.
        return;
    }
    if let Err(reason) = try_start(kernel, arguments) {
        let name = arguments.split(' ').next().unwrap_or("");
        report!(
            kernel.console,
            "kernel: the program {name} does not start: {reason}\n"
        );
        devices::end_machine(&kernel.map, NO_PROGRAM);
    }
}

fn try_start(kernel: &mut Kernel, arguments: &str) -> Result<(), &'static str> {
    let name = arguments.split(' ').find(|word| !word.is_empty());
    let name = name.ok_or("the machine's command line is empty")?;
    if kernel.map.archive().is_empty() {
        return Err("the machine has no archive (--initrd)");
    }
    let file = files(&kernel.map).find(|file| file.is_named(argument_bytes(name)));
    let file = file.ok_or("the archive has no such file")?.bytes;
    let tables = PageTables::new(kernel.map.mode, &mut kernel.frames, &mut Direct);
    let tables = tables.map_err(|_| NO_ROOM)?;
    let process = kernel.processes.create(None, tables).ok_or(NO_ROOM)?;
    debug_assert_eq!(process, FIRST);
    let entry = load(kernel, process, file)?;
    pass_arguments(kernel, process, arguments)?;
    kernel
        .start_process(process, [entry, START, STACK_END, 0, NORMAL_PRIORITY])
        .ok_or(NO_ROOM)?;
    Ok(())
}

const NO_ROOM: &str = "memory is used up";
const BAD_FILE: &str = "it is no executable for RV64";

fn map(
    kernel: &mut Kernel,
    process: u16,
    start: u64,
    size: u64,
    of: u64,
) -> Result<(), &'static str> {
    let pages = pages_of(start, size).ok_or(BAD_FILE)?;
    let tables = kernel.processes[process].tables.ok_or(NO_ROOM)?;
    for n in 0..pages {
        let mapped = tables.map(start + n * PAGE, of, &mut kernel.frames, &mut Direct);
        mapped.map_err(|_| NO_ROOM)?;
    }
    kernel.processes[process].pages += pages;
    Ok(())
}

/// Maps the segments of a file, and copies them. Returns the entry.
fn load(kernel: &mut Kernel, process: u16, file: &[u8]) -> Result<u64, &'static str> {
    let elf = ElfBytes::<LittleEndian>::minimal_parse(file).map_err(|_| BAD_FILE)?;
    if elf.ehdr.e_machine != EM_RISCV || elf.ehdr.class != elf::file::Class::ELF64 {
        return Err(BAD_FILE);
    }
    let segments = elf.segments().ok_or(BAD_FILE)?;
    for segment in segments.iter().filter(|segment| segment.p_type == PT_LOAD) {
        let mut of = 0;
        for (flag, right) in [
            (PF_R, rights::READ),
            (PF_W, rights::WRITE),
            (PF_X, rights::EXECUTE),
        ] {
            if segment.p_flags & flag != 0 {
                of |= right;
            }
        }
        let bytes = elf.segment_data(&segment).map_err(|_| BAD_FILE)?;
        let start = segment.p_vaddr / PAGE * PAGE;
        let before = segment.p_vaddr - start;
        let size = before.checked_add(segment.p_memsz).ok_or(BAD_FILE)?;
        if !are_rights(of) || segment.p_memsz < bytes.len() as u64 {
            return Err(BAD_FILE);
        }
        // Pages that two segments share would have the rights of the first one.
        map(kernel, process, start, size, of)?;
        copy(kernel, process, segment.p_vaddr, bytes, of)?;
    }
    Ok(elf.ehdr.e_entry)
}

/// Copies bytes to pages that were just mapped, whose rights are these.
fn copy(
    kernel: &mut Kernel,
    process: u16,
    address: u64,
    bytes: &[u8],
    of: u64,
) -> Result<(), &'static str> {
    let caller = Caller::of_process(0, process);
    let right = [rights::WRITE, rights::READ, rights::EXECUTE]
        .into_iter()
        .find(|r| of & r != 0);
    let right = right.ok_or(BAD_FILE)?;
    let size = bytes.len() as u64;
    let copied = kernel.each_piece(caller, address, size, right, |_, place, piece, before| {
        let from = &bytes[before as usize..(before + piece) as usize];
        // SAFETY: a piece of a frame that the process alone has.
        unsafe {
            core::ptr::copy_nonoverlapping(from.as_ptr(), place as *mut u8, from.len());
        }
    });
    copied.map_err(|_| NO_ROOM)
}

fn pass_arguments(kernel: &mut Kernel, process: u16, arguments: &str) -> Result<(), &'static str> {
    let words = arguments.split(' ').filter(|word| !word.is_empty());
    let text = START + size_of::<ProgramStart>() as u64;
    let size: usize = words
        .clone()
        .map(|word| argument_bytes(word).count() + 1)
        .sum();
    let record = ProgramStart {
        version: START_VERSION,
        arguments: words.clone().count() as u64,
        text,
        size: size as u64,
        tile: kernel.map.tile.0,
        tiles: kernel.map.tile.1,
        harts: kernel.map.user_harts().count_ones().into(),
        frequency: kernel.map.frequency,
        incoherent: match kernel.map.cache_means() {
            0 => 0,
            means => 1 + u64::from(means & means::BACK != 0),
        },
    };
    let of = rights::READ | rights::WRITE;
    map(kernel, process, START, text - START + size as u64, of)?;
    // SAFETY: the record consists of words.
    let bytes = unsafe {
        let at = (&raw const record).cast::<u8>();
        core::slice::from_raw_parts(at, size_of::<ProgramStart>())
    };
    copy(kernel, process, START, bytes, of)?;
    let mut at = text;
    for word in words {
        let mut bytes = argument_bytes(word).peekable();
        while bytes.peek().is_some() {
            let mut piece = [0; 64];
            let mut size = 0;
            for (place, byte) in piece.iter_mut().zip(&mut bytes) {
                *place = byte;
                size += 1;
            }
            copy(kernel, process, at, &piece[..size], of)?;
            at += size as u64;
        }
        // The page was zero.
        at += 1;
    }
    Ok(())
}
