//! Landing pads of an image's functions: the tables of their languages (Itanium C++ ABI, "Exception
//! Handling", 7.3; LSB, "Exception Frames").
use gimli::{DwEhPe, EndianSlice, LittleEndian, Reader, constants};

use crate::unwind_rows::Frame;

/// The offsets of all landing pads, sorted. A table that is not understood has none.
pub fn read(frames: &[Frame], image: &[u8]) -> Vec<u64> {
    let mut all: Vec<u64> = frames
        .iter()
        .filter_map(|frame| of(frame, image))
        .flatten()
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn of(frame: &Frame, image: &[u8]) -> Option<Vec<u64>> {
    let table = image.get(frame.lsda? as usize..)?;
    let mut reader = EndianSlice::new(table, LittleEndian);
    let base = match DwEhPe(reader.read_u8().ok()?) {
        constants::DW_EH_PE_omit => u64::from(frame.start),
        // No compiler gives another base.
        _ => return None,
    };
    if DwEhPe(reader.read_u8().ok()?) != constants::DW_EH_PE_omit {
        reader.read_uleb128().ok()?;
    }
    let encoding = DwEhPe(reader.read_u8().ok()?);
    let length = reader.read_uleb128().ok()?;
    let mut calls = reader.split(usize::try_from(length).ok()?).ok()?;
    let end = u64::from(frame.start) + u64::from(frame.size);
    let mut pads = vec![];
    while !calls.is_empty() {
        let (_start, _len) = (value(&mut calls, encoding)?, value(&mut calls, encoding)?);
        let pad = value(&mut calls, encoding)?;
        calls.read_uleb128().ok()?;
        let at = base.checked_add(pad)?;
        if pad != 0 && at < end {
            pads.push(at);
        }
    }
    Some(pads)
}

fn value(reader: &mut EndianSlice<LittleEndian>, encoding: DwEhPe) -> Option<u64> {
    match encoding {
        constants::DW_EH_PE_uleb128 => reader.read_uleb128().ok(),
        constants::DW_EH_PE_udata4 => reader.read_u32().ok().map(u64::from),
        constants::DW_EH_PE_udata2 => reader.read_u16().ok().map(u64::from),
        constants::DW_EH_PE_udata8 => reader.read_u64().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(lsda: u32) -> Frame {
        Frame {
            start: 0x1000,
            size: 0x100,
            lsda: Some(lsda),
            ..Frame::default()
        }
    }

    #[test]
    fn pads_of_call_sites() {
        // There is no base and there are no types; numbers are LEB128. Start, length, pad and action
        // of three calls, of which the second has no pad.
        let calls = [0, 4, 0x90, 1, 1, 4, 4, 0, 0, 8, 4, 0x20, 0];
        let mut image = vec![0; 16];
        image.extend([0xff, 0xff, 0x01, calls.len() as u8]);
        image.extend(calls);
        assert_eq!(read(&[frame(16)], &image), [0x1020, 0x1090]);
    }

    #[test]
    fn damaged_tables_have_none() {
        for cut in 0..12 {
            let table = [0xffu8, 0xff, 0x01, 9, 0, 4, 0x90, 1, 4, 4, 0, 0];
            read(&[frame(0)], &table[..cut]);
        }
        assert_eq!(read(&[frame(100)], &[0; 8]), [0; 0]);
    }
}
