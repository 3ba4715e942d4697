//! The points of firmware that traces and counts are made of: notes of its ELF file in the format of
//! SystemTap (`.note.stapsdt`), of the provider `kernel`. `docs/kernel.md` has their names and values.
use flick_riscv::REGISTERS;
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, elf};

/// What happens at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// A user hart has taken a trap.
    Trap,
    /// It executes `mret` next.
    Return,
    /// It begins what the call wants, and has done it.
    Local,
    /// See `Local`.
    LocalDone,
    /// Its call line is complete.
    Ask,
    /// It has taken a command with which a thread goes on.
    Told,
    /// Its thread ends.
    End,
    /// The kernel hart begins to serve the user hart of this number.
    Serve,
    /// It has done so.
    Served,
    /// It gives the user hart of this number a command, with these flags.
    Tell,
    /// The command names the thread of this number.
    Run,
    /// The thread at this place can go on.
    Wake,
    /// The kernel hart deals with what is no call, and has done so.
    Attend,
    /// See `Attend`.
    Attended,
    /// The thread that is served moves for the instruction at this address, which has this word.
    Move,
}

const NAMES: [(&str, PointKind); 15] = [
    ("trap", PointKind::Trap),
    ("return", PointKind::Return),
    ("local", PointKind::Local),
    ("local_done", PointKind::LocalDone),
    ("ask", PointKind::Ask),
    ("told", PointKind::Told),
    ("end", PointKind::End),
    ("serve", PointKind::Serve),
    ("served", PointKind::Served),
    ("tell", PointKind::Tell),
    ("run", PointKind::Run),
    ("wake", PointKind::Wake),
    ("attend", PointKind::Attend),
    ("attended", PointKind::Attended),
    ("move", PointKind::Move),
];

impl PointKind {
    /// As the note has it.
    pub fn name(self) -> &'static str {
        let mut all = NAMES.into_iter();
        all.find(|&(_, kind)| kind == self)
            .map_or("", |(name, _)| name)
    }
}

/// A point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelPoint {
    /// Of the instruction behind it.
    pub address: u64,
    /// What happens.
    pub kind: PointKind,
    /// The registers of its values; x0 where there is none.
    pub registers: [usize; 2],
}

/// The type of SystemTap's notes.
const NOTE: u32 = 3;

/// The points of an ELF file, by their addresses. None: it is no firmware that has them.
pub fn points_of(file: &[u8]) -> Vec<KernelPoint> {
    let mut all = notes(file).unwrap_or_default();
    all.sort_by_key(|point| point.address);
    all
}

fn notes(file: &[u8]) -> Option<Vec<KernelPoint>> {
    const END: LittleEndian = LittleEndian;
    let header = elf::FileHeader64::<LittleEndian>::parse(file).ok()?;
    let sections = header.sections(END, file).ok()?;
    let (_, section) = sections.section_by_name(END, b".note.stapsdt")?;
    let mut notes = section.notes(END, file).ok()??;
    let mut all = vec![];
    while let Ok(Some(note)) = notes.next() {
        if note.name() == b"stapsdt" && note.n_type(END) == NOTE {
            all.extend(point(note.desc()));
        }
    }
    Some(all)
}

/// The address, two that are of no use here, and three texts: provider, name, and values.
fn point(note: &[u8]) -> Option<KernelPoint> {
    let (address, rest) = note.split_first_chunk::<8>()?;
    let mut texts = rest.get(16..)?.split(|&byte| byte == 0);
    let mut text = || std::str::from_utf8(texts.next()?).ok();
    let (provider, name, values) = (text()?, text()?, text()?);
    let (_, kind) = NAMES.into_iter().find(|(known, _)| *known == name)?;
    let mut registers = [0; 2];
    for (place, value) in registers.iter_mut().zip(values.split_whitespace()) {
        let name = value.strip_prefix("8@")?;
        *place = REGISTERS.iter().position(|&known| known == name)?;
    }
    (provider == "kernel").then_some(KernelPoint {
        address: u64::from_le_bytes(*address),
        kind,
        registers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_have_addresses_and_registers() {
        let note = |values: &str| {
            let mut note = 0x8000_1234_u64.to_le_bytes().to_vec();
            note.extend([0; 16]);
            note.extend(format!("kernel\0tell\0{values}\0\0").bytes());
            note
        };
        let tell = point(&note("8@s2 8@a6")).unwrap();
        assert_eq!((tell.address, tell.kind), (0x8000_1234, PointKind::Tell));
        assert_eq!(tell.registers, [18, 16]);
        assert_eq!(point(&note("8@16(sp)")), None);
        assert_eq!(point(&note("")).unwrap().registers, [0, 0]);
        assert_eq!(point(&[0; 23]), None);
        assert!(points_of(b"\x7fELF, nearly").is_empty());
    }
}
