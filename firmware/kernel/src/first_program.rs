//! The first program: the file of the archive that the kernel's command line names, with the arguments
//! behind the name (`flick_abi::card::argument_bytes`: how a word can have blanks).
use flick_abi::card::{
    Error, NORMAL_PRIORITY, ProgramStart, STACK_END, START_VERSION, argument_bytes, rights,
};
use flick_kernel_core::page_tables::PageTables;

use crate::archive_files::files;
use crate::cache::means;
use crate::direct::Direct;
use crate::endings::FIRST;
use crate::kernel::Kernel;
use crate::program_image::{copy, load, map};
use crate::{devices, report};

/// The record of the start, and the arguments.
pub const START: u64 = STACK_END;
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
    let mut file = file.ok_or("the archive has no such file")?.bytes;
    let tables = PageTables::new(kernel.map.mode, &mut kernel.frames, &mut Direct);
    let tables = tables.map_err(|_| NO_ROOM)?;
    let process = kernel.processes.create(None, tables).ok_or(NO_ROOM)?;
    debug_assert_eq!(process, FIRST);
    let entry = load(kernel, process, &mut file, u64::MAX).map_err(reason)?;
    pass_arguments(kernel, process, arguments).map_err(reason)?;
    kernel
        .start_process(process, [entry, START, STACK_END, 0, NORMAL_PRIORITY])
        .ok_or(NO_ROOM)?;
    Ok(())
}

const NO_ROOM: &str = "memory is used up";
const BAD_FILE: &str = "it is no executable for RV64";

fn reason(error: Error) -> &'static str {
    match error {
        Error::NoMemory => NO_ROOM,
        _ => BAD_FILE,
    }
}

/// What a program of so many arguments finds, with so many bytes of texts behind a record of this version and size.
pub fn record(
    kernel: &Kernel,
    (version, record): (u64, usize),
    arguments: u64,
    size: u64,
) -> ProgramStart {
    ProgramStart {
        version,
        arguments,
        text: START + record as u64,
        size,
        tile: kernel.map.tile.0,
        tiles: kernel.map.tile.1,
        harts: kernel.map.user_harts().count_ones().into(),
        frequency: kernel.map.frequency,
        incoherent: match kernel.map.cache_means() {
            0 => 0,
            means => 1 + u64::from(means & means::BACK != 0),
        },
    }
}

/// The bytes of such a record.
pub fn bytes_of(record: &ProgramStart) -> &[u8] {
    let at = (&raw const *record).cast::<u8>();
    // SAFETY: the record consists of words.
    unsafe { core::slice::from_raw_parts(at, size_of::<ProgramStart>()) }
}

fn pass_arguments(kernel: &mut Kernel, process: u16, arguments: &str) -> Result<(), Error> {
    let words = arguments.split(' ').filter(|word| !word.is_empty());
    let size: usize = words
        .clone()
        .map(|word| argument_bytes(word).count() + 1)
        .sum();
    let shape = (START_VERSION, size_of::<ProgramStart>());
    let record = record(kernel, shape, words.clone().count() as u64, size as u64);
    let of = rights::READ | rights::WRITE;
    let mut at = record.text;
    map(kernel, process, START, at - START + size as u64, of)?;
    let mut put = |at: u64, mut bytes: &[u8]| {
        let size = bytes.len() as u64;
        copy(kernel, process, (at, of), &mut bytes, (0, size))
    };
    put(START, bytes_of(&record))?;
    for word in words {
        let mut bytes = argument_bytes(word).peekable();
        while bytes.peek().is_some() {
            let mut piece = [0; 64];
            let mut size = 0;
            for (place, byte) in piece.iter_mut().zip(&mut bytes) {
                *place = byte;
                size += 1;
            }
            put(at, &piece[..size])?;
            at += size as u64;
        }
        // The page was zero.
        at += 1;
    }
    Ok(())
}
