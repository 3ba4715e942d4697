//! Executable files, whose segments become memory of a process.
use flick_abi::card::{Error, PAGE, rights};
use flick_kernel_core::page_tables::are_rights;

use crate::direct::Direct;
use crate::kernel::{Caller, Kernel, error_of};
use crate::processes::pages_of;

/// Bytes of the header of a segment.
pub const SEGMENT: u64 = 56;
/// Numbers of the ELF format: the machine, the kind of a segment, and its rights.
const EM_RISCV: u64 = 243;
const PT_LOAD: u64 = 1;
pub const PF_X: u64 = 1;
const PF_W: u64 = 2;
const PF_R: u64 = 4;
/// Segments of a file, at most.
const SEGMENTS: u64 = 64;
/// The first word of a file for RV64, and what counts of it: the format, 64 bits, least byte first.
const MAGIC: (u64, u64) = (0x0102_464c_457f, 0xffff_ffff_ffff);

/// Where a file is.
pub trait Source {
    /// Its bytes.
    fn size(&self) -> u64;
    /// Copies bytes within its size.
    ///
    /// # Errors
    /// They are not there any more.
    fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<(), Error>;
}

impl Source for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<(), Error> {
        let from = self
            .get(offset as usize..)
            .and_then(|of| of.get(..to.len()));
        to.copy_from_slice(from.ok_or(Error::Invalid)?);
        Ok(())
    }
}

/// Eight words of a file, or as many as there are, and 0.
#[inline(never)]
pub fn words(from: &mut dyn Source, offset: u64) -> Result<[u64; 8], Error> {
    let mut words = [[0; 8]; 8];
    let bytes = words.as_flattened_mut();
    let size = from.size().checked_sub(offset).ok_or(Error::Invalid)?;
    let size = bytes.len().min(size as usize);
    from.read(offset, &mut bytes[..size])?;
    Ok(words.map(u64::from_le_bytes))
}

/// Maps pages of a process that has no thread yet.
#[inline(never)]
pub fn map(kernel: &mut Kernel, process: u16, start: u64, size: u64, of: u64) -> Result<(), Error> {
    let pages = pages_of(start, size).ok_or(Error::Invalid)?;
    let tables = kernel.processes[process].tables.ok_or(Error::NotFound)?;
    for n in 0..pages {
        let mapped = tables.map(start + n * PAGE, of, &mut kernel.frames, &mut Direct);
        mapped.map_err(error_of)?;
    }
    kernel.processes[process].pages += pages;
    Ok(())
}

/// Copies a part of a file to pages that were just mapped, with these rights.
#[inline(never)]
pub fn copy(
    kernel: &mut Kernel,
    process: u16,
    (address, of): (u64, u64),
    from: &mut dyn Source,
    (offset, size): (u64, u64),
) -> Result<(), Error> {
    let caller = Caller::of_process(0, process);
    let all = [rights::WRITE, rights::READ, rights::EXECUTE];
    let right = all.into_iter().find(|right| of & right != 0);
    let right = right.ok_or(Error::Invalid)?;
    if offset > from.size() || size > from.size() - offset {
        return Err(Error::Invalid);
    }
    let mut copied = Ok(());
    kernel.each_piece(caller, address, size, right, |_, place, piece, before| {
        // SAFETY: a piece of a frame that the process alone has, which has no thread yet.
        let to = unsafe { core::slice::from_raw_parts_mut(place as *mut u8, piece as usize) };
        if copied.is_ok() {
            copied = from.read(offset + before, to);
        }
    })?;
    copied
}

/// Maps the segments of a file, which have so many pages at most, and copies them. Returns the entry. Whoever asks
/// drops the process if that fails.
#[inline(never)]
pub fn load(
    kernel: &mut Kernel,
    process: u16,
    from: &mut dyn Source,
    most_pages: u64,
) -> Result<u64, Error> {
    let header = words(from, 0)?;
    let machine = header[2] >> 16 & 0xffff;
    let (entry, segments) = (header[3], header[4]);
    let (bytes, count) = (header[6] >> 48, header[7] & 0xffff);
    let is_good = header[0] & MAGIC.1 == MAGIC.0 && machine == EM_RISCV;
    if !is_good || bytes != SEGMENT || count > SEGMENTS {
        return Err(Error::Invalid);
    }
    for n in 0..count {
        let at = segments.checked_add(n * bytes).ok_or(Error::Invalid)?;
        let [kind, offset, address, _, in_file, size, ..] = words(from, at)?;
        if kind & 0xffff_ffff != PT_LOAD {
            continue;
        }
        let all = [
            (PF_R, rights::READ),
            (PF_W, rights::WRITE),
            (PF_X, rights::EXECUTE),
        ];
        let of = all.into_iter().filter(|(flag, _)| kind >> 32 & flag != 0);
        let of = of.fold(0, |of, (_, right)| of | right);
        let start = address / PAGE * PAGE;
        let whole = (address - start).checked_add(size).ok_or(Error::Invalid)?;
        let pages = kernel.processes[process].pages;
        if !are_rights(of) || size < in_file || whole.div_ceil(PAGE) > most_pages - pages {
            return Err(Error::Invalid);
        }
        // Pages that two segments share would have the rights of the first one.
        map(kernel, process, start, whole, of)?;
        copy(kernel, process, (address, of), from, (offset, in_file))?;
    }
    Ok(entry)
}
