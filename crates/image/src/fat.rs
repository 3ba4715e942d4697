//! NxP objects in fat objects: the records of section `.flick.nxp`
//! ([`flick_abi::layout::FatHeader`]).
use flick_abi::layout::{FAT_MAGIC, FatHeader};
use flick_abi::{ABI_VERSION, Version, names};
use flick_diagnostics::Code;
use object::{Object, ObjectSection, elf};
use xxhash_rust::xxh3::xxh3_64;

use crate::elf_kind::{self as elf_file, Machine};
use crate::{Error, Result};

const HEADER: usize = size_of::<FatHeader>();
const ALIGN: usize = 16;

/// One unit's NxP object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// XXH3-64 of the payload, which is the unit's name.
    pub unit_id: u64,
    /// An RV64 relocatable ELF; its checksum was right.
    pub payload: &'a [u8],
}

/// All records of a section's contents. FLK0302 where they are truncated or corrupted, FLK0303
/// where another version of Flick made them, FLK0304 for a payload that is not RV64.
pub fn records(section: &[u8]) -> Result<Vec<Record<'_>>> {
    let mut records = Vec::new();
    let mut at = 0;
    // `ld -r` concatenates sections and fills up to their alignment with zeros.
    while let Some(skip) = section[at..].iter().position(|&byte| byte != 0) {
        let start = (at + skip) & !(ALIGN - 1);
        if start < at {
            return Err(corrupted("a record is followed by other bytes than zeros"));
        }
        let (record, end) = record(section, start)?;
        records.push(record);
        at = end;
    }
    Ok(records)
}

fn record(section: &[u8], at: usize) -> Result<(Record<'_>, usize)> {
    let header = section
        .get(at..at + HEADER)
        .ok_or_else(|| corrupted("a header is truncated"))?;
    let u32_at = |i: usize| u32::from_le_bytes(std::array::from_fn(|k| header[i + k]));
    let u64_at = |i: usize| u64::from_le_bytes(std::array::from_fn(|k| header[i + k]));
    if header[..8] != FAT_MAGIC {
        return Err(corrupted("a header does not start with its magic number"));
    }
    let version = Version::from_bits(u32_at(8));
    if !ABI_VERSION.reads(version) {
        return Err(Error::other_version("this object", version));
    }
    let (header_size, payload_size, unit_id) = (u32_at(12), u64_at(16), u64_at(24));
    let payload = usize::try_from(header_size)
        .ok()
        .filter(|&size| size >= HEADER)
        .and_then(|size| {
            let start = at.checked_add(size)?;
            section.get(start..start.checked_add(usize::try_from(payload_size).ok()?)?)
        })
        .ok_or_else(|| corrupted("a record reaches beyond its section"))?;
    if xxh3_64(payload) != unit_id {
        return Err(corrupted("a checksum is wrong"));
    }
    if elf_file::machine(payload) != Machine::Elf64Le(elf::EM_RISCV) {
        return Err(Error::new(
            Code::OtherMachine,
            "an object for another machine",
            "",
            "the code in its .flick.nxp section is not RV64",
            "compile it again with this flick",
        ));
    }
    let end = at + header_size as usize + payload.len();
    Ok((Record { unit_id, payload }, end))
}

fn corrupted(why: &str) -> Error {
    Error::new(
        Code::CorruptedObject,
        "a fat object is truncated or corrupted",
        "",
        why,
        "compile it again, or build its archive again",
    )
}

/// A record as the compiler pass writes it.
pub fn encode(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(&FAT_MAGIC);
    bytes.extend_from_slice(&ABI_VERSION.bits().to_le_bytes());
    bytes.extend_from_slice(&(HEADER as u32).to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&xxh3_64(payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// The records of a host object file, none if it is not fat.
pub fn of_object<'a>(file: &object::File<'a>) -> Result<Vec<Record<'a>>> {
    let mut all = Vec::new();
    for section in file.sections() {
        if section.name() == Ok(names::SEC_NXP) {
            let data = section
                .data()
                .map_err(|_| corrupted("a section reaches beyond the file"))?;
            all.extend(records(data)?);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(tag: u8, len: usize) -> Vec<u8> {
        let mut bytes = vec![tag; len];
        bytes[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\0");
        bytes[18..20].copy_from_slice(&elf::EM_RISCV.to_le_bytes());
        bytes
    }

    fn two() -> Vec<u8> {
        let mut section = encode(&payload(1, 100));
        section.resize(section.len().next_multiple_of(ALIGN) + 48, 0);
        section.extend(encode(&payload(2, 77)));
        section
    }

    #[test]
    fn reads_concatenated_records() {
        let section = two();
        let records = records(&section).unwrap();
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].payload, payload(1, 100));
        assert_eq!(records[1].payload, payload(2, 77));
        assert_eq!(records[1].unit_id, xxh3_64(&payload(2, 77)));
    }

    #[test]
    fn empty_section_has_none() {
        assert_eq!(records(&[]).unwrap(), []);
        assert_eq!(records(&[0; 40]).unwrap(), []);
    }

    #[test]
    fn every_truncation_is_an_error_or_a_shorter_list() {
        let section = two();
        for len in 0..section.len() {
            match records(&section[..len]) {
                // Cut in the padding between or before the records.
                Ok(found) => assert!(found.len() < 2, "{len}"),
                Err(e) => assert_eq!(e.code, Code::CorruptedObject, "{len}"),
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let section = two();
        let good = records(&section).unwrap().len();
        for bit in 0..section.len() * 8 {
            let mut bad = section.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let result = records(&bad);
            let version_at = [8, 192 + 8]
                .into_iter()
                .find(|at| (*at..at + 4).contains(&(bit / 8)));
            let version = version_at.map(|at| {
                let word = bad[at..at + 4].try_into().unwrap();
                Version::from_bits(u32::from_le_bytes(word))
            });
            // An earlier minor version can be read.
            if version.is_some_and(|version| ABI_VERSION.reads(version)) {
                assert_eq!(result.unwrap().len(), good);
                continue;
            }
            // A header may be longer than today's, so a record may move into what follows it; what
            // it then covers has another checksum. Nothing may pass unnoticed.
            let error = result
                .map(|found| assert_eq!(found.len(), good))
                .expect_err("noticed");
            assert!(
                error.code
                    == if version.is_some() {
                        Code::OtherVersion
                    } else {
                        Code::CorruptedObject
                    },
                "bit {bit} of byte {}: {error}",
                bit / 8
            );
        }
    }

    #[test]
    fn payload_for_another_machine() {
        let mut x86 = payload(3, 80);
        x86[18..20].copy_from_slice(&elf::EM_X86_64.to_le_bytes());
        assert_eq!(records(&encode(&x86)).unwrap_err().code, Code::OtherMachine);
    }
}
