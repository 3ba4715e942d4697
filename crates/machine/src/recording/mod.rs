//! Files of recorded input: what came from outside, and when, so that a run can be repeated. Numbers are
//! little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`VERSION`] |
//! | 16, 16 | the digests of [`RunIdentity`] |
//! | 8 | moments of the outside when the recording began; 0 at the reset |
//! | | records to the end: bytes (4), and `postcard` of [`Input`] |
//!
//! An answer of the outside to a program's call of semihosting is input of the device
//! [`u32::MAX`]. A record is written when the input comes, so that a run that is killed leaves a whole recording.
use std::io::{self, Write};

use crate::outside::Input;
use crate::snapshot::RunIdentity;

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"flkinput";
/// Of the format. A file of another version is refused.
pub const VERSION: u32 = 2;
/// Bytes of a record at most.
const MOST: usize = 1 << 20;

/// What a file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Of which run it is.
    pub identity: RunIdentity,
    /// When it began ([`crate::Outside::moments`]).
    pub start: u64,
    /// By their moments.
    pub inputs: Vec<Input>,
}

/// Why a file is no recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRecording {
    /// Of something else.
    #[error("it is no recording of a machine's input")]
    Foreign,
    /// Of another version.
    #[error("it has version {0} of the format, and this program knows {VERSION}")]
    Version(u32),
    /// It ends within a record.
    #[error("the end of record {0} is missing")]
    Truncated(usize),
    /// No input is so.
    #[error("record {0} is unusable")]
    Record(usize),
}

/// Writes the beginning of a file.
pub fn write_header(out: &mut impl Write, identity: &RunIdentity, start: u64) -> io::Result<()> {
    out.write_all(&MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&identity.machine.to_le_bytes())?;
    out.write_all(&identity.content.to_le_bytes())?;
    out.write_all(&start.to_le_bytes())?;
    out.flush()
}

/// Writes a record, in pieces if it is long.
pub fn write_input(out: &mut impl Write, input: &Input) -> io::Result<()> {
    for bytes in input.bytes.chunks(MOST / 2) {
        let record = Input {
            bytes: bytes.to_vec(),
            ..*input
        };
        let record = postcard::to_stdvec(&record).map_err(io::Error::other)?;
        out.write_all(&(record.len() as u32).to_le_bytes())?;
        out.write_all(&record)?;
    }
    out.flush()
}

/// Reads a file.
pub fn read_recording(file: &[u8]) -> Result<Recording, BadRecording> {
    let header = file.split_first_chunk::<8>();
    let Some((_, rest)) = header.filter(|(magic, _)| **magic == MAGIC) else {
        return Err(BadRecording::Foreign);
    };
    let truncated = BadRecording::Truncated(0);
    let (version, rest) = rest.split_first_chunk().ok_or(truncated.clone())?;
    match u32::from_le_bytes(*version) {
        VERSION => {}
        other => return Err(BadRecording::Version(other)),
    }
    let (machine, rest) = rest.split_first_chunk().ok_or(truncated.clone())?;
    let (content, rest) = rest.split_first_chunk().ok_or(truncated.clone())?;
    let (start, mut rest) = rest.split_first_chunk().ok_or(truncated)?;
    let mut recording = Recording {
        identity: RunIdentity {
            machine: u128::from_le_bytes(*machine),
            content: u128::from_le_bytes(*content),
        },
        start: u64::from_le_bytes(*start),
        inputs: vec![],
    };
    let mut last = recording.start;
    while !rest.is_empty() {
        let number = recording.inputs.len() + 1;
        let record = rest
            .split_first_chunk()
            .and_then(|(size, rest)| rest.split_at_checked(u32::from_le_bytes(*size) as usize));
        let (record, after) = record.ok_or(BadRecording::Truncated(number))?;
        rest = after;
        let bad = BadRecording::Record(number);
        let input = match postcard::take_from_bytes::<Input>(record) {
            Ok((input, [])) if record.len() <= MOST => input,
            _ => return Err(bad),
        };
        if input.moment < last || input.bytes.is_empty() {
            return Err(bad);
        }
        last = input.moment;
        recording.inputs.push(input);
    }
    Ok(recording)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_or_are_refused() {
        let identity = RunIdentity {
            machine: 7,
            content: 9,
        };
        let input = |moment, bytes: &[u8]| Input {
            moment,
            time: 5 * moment,
            device: 0,
            bytes: bytes.to_vec(),
        };
        let inputs = vec![input(3, b"ls"), input(9, b"\n")];
        let mut file = vec![];
        write_header(&mut file, &identity, 2).unwrap();
        let header = file.len();
        for input in &inputs {
            write_input(&mut file, input).unwrap();
        }
        let recording = read_recording(&file).unwrap();
        let start = 2;
        assert_eq!(
            recording,
            Recording {
                identity,
                start,
                inputs
            }
        );
        for size in 0..file.len() {
            // A run that ended between records.
            let is_whole = read_recording(&file[..size]).is_ok();
            assert_eq!(is_whole, size == header || size == header + 4 + 6, "{size}");
        }
        assert_eq!(read_recording(b"\x7fELF"), Err(BadRecording::Foreign));
        file[8] = 77;
        assert_eq!(read_recording(&file), Err(BadRecording::Version(77)));
        file[8] = VERSION as u8;
        // Input that goes back in time.
        write_input(&mut file, &input(1, b"x")).unwrap();
        assert_eq!(read_recording(&file), Err(BadRecording::Record(3)));
    }
}
