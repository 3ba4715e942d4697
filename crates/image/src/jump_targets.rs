//! Where jumps through registers lead, as the objects of an image say (`docs/objects.md`).
use std::collections::BTreeMap;

use flick_abi::layout::Jump;
use flick_abi::names::SEC_JUMPS;
use object::LittleEndian;
use object::read::elf::{ElfFile64, SectionHeader};

use crate::Result;
use crate::linked::{Function, not_linked};

const LE: LittleEndian = LittleEndian;

/// The targets of an image's jumps. Offsets count from the first byte of the image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jumps {
    /// Sorted by offset, one for each.
    pub all: Vec<Jump>,
    /// Offsets; those that jumps share are there once.
    pub targets: Vec<u32>,
}

impl Jumps {
    /// Where the jump at `offset` leads; none: out of its function.
    pub fn of(&self, offset: u32) -> Option<&[u32]> {
        let at = self.all.binary_search_by_key(&offset, |jump| jump.offset);
        let jump = self.all[at.ok()?];
        let first = jump.first as usize;
        self.targets.get(first..first + jump.count as usize)
    }
}

/// Some bytes of the section, from the front.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (word, rest) = (self.0.split_first_chunk())
            .ok_or_else(|| not_linked(&format!("{SEC_JUMPS} ends in a record")))?;
        self.0 = rest;
        Ok(*word)
    }

    fn count(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.next()?))
    }
}

/// The records of what the linker has kept.
pub fn read(
    elf: &ElfFile64<LittleEndian>,
    file: &[u8],
    base: u64,
    functions: &[Function],
) -> Result<Jumps> {
    let table = elf.elf_section_table();
    let section = table.section_by_name(LE, SEC_JUMPS.as_bytes());
    let Some(data) = section.and_then(|(_, section)| section.data(LE, file).ok()) else {
        return Ok(Jumps::default());
    };
    let function = |offset: u64| {
        let next = functions.partition_point(|f| f.offset <= offset);
        let at = next.checked_sub(1)?;
        (offset - functions[at].offset < functions[at].size).then_some(at)
    };
    let mut targets = vec![];
    let mut all = BTreeMap::new();
    let mut rest = Words(data);
    while !rest.0.is_empty() {
        let (targets_count, jumps_count) = (rest.count()?, rest.count()?);
        let mut offsets = |count| -> Result<Vec<u64>> {
            let address = |_| Ok(u64::from_le_bytes(rest.next()?).wrapping_sub(base));
            (0..count).map(address).collect()
        };
        let (mut to, jumps) = (offsets(targets_count)?, offsets(jumps_count)?);
        to.sort_unstable();
        to.dedup();
        // Code that the linker has dropped is at no address of the image.
        let homes: Option<Vec<usize>> = jumps.iter().chain(&to).map(|&at| function(at)).collect();
        let is_one =
            |homes: Vec<usize>| to.is_empty() || homes.windows(2).all(|two| two[0] == two[1]);
        if !homes.is_some_and(is_one) {
            continue;
        }
        let first = targets.len() as u32;
        let count = to.len() as u32;
        targets.extend(to.iter().map(|&at| at as u32));
        for at in jumps {
            let offset = at as u32;
            all.insert(
                offset,
                Jump {
                    offset,
                    first,
                    count,
                },
            );
        }
    }
    Ok(Jumps {
        all: all.into_values().collect(),
        targets,
    })
}
