//! Which objects, images and runtimes go together (`docs/formats.md`, "Versions").
use core::fmt;

/// A version of the layouts in this crate. A reader understands files of the same major version and
/// of no later minor version.
///
/// ```
/// use flick_abi::Version;
///
/// let reader = Version::new(1, 5);
/// assert!(reader.reads(Version::new(1, 3)));
/// assert!(!reader.reads(Version::new(1, 6)) && !reader.reads(Version::new(2, 0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32);

impl Version {
    /// The version `major.minor`.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self((major as u32) << 16 | minor as u32)
    }

    /// The version that records have as this number.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The number that records have: the major version in the high 16 bits, the minor in the low.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// A change of the major version changes or removes a layout.
    pub const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// A change of the minor version adds to the layouts.
    pub const fn minor(self) -> u16 {
        self.0 as u16
    }

    /// Whether a program of this version can read files of the version `made`.
    pub const fn reads(self, made: Self) -> bool {
        self.major() == made.major() && self.minor() >= made.minor()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}

/// An ELF note ([`crate::names::SEC_NOTE`]) with the version of a file. Every program and library
/// with an image has one, and so has each of Flick's own files.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Note {
    name_size: u32,
    description_size: u32,
    kind: u32,
    name: [u8; 8],
    version: Version,
}
const _: () = assert!(size_of::<Note>() == 24);

pub(crate) const NAME: &[u8; 6] = b"Flick\0";
pub(crate) const KIND: u32 = 1;

impl Note {
    /// The note of what is built now, with [`crate::ABI_VERSION`].
    pub const CURRENT: Self = Self {
        name_size: NAME.len() as u32,
        description_size: size_of::<Version>() as u32,
        kind: KIND,
        name: *b"Flick\0\0\0",
        version: crate::ABI_VERSION,
    };

    /// The version in Flick's note of a section or segment of ELF notes. Notes are aligned to 4
    /// bytes.
    pub fn find(mut notes: &[u8]) -> Option<Version> {
        loop {
            let name_size = word(notes, 0)? as usize;
            let size = word(notes, 4)? as usize;
            let name = notes.get(12..12usize.checked_add(name_size)?)?;
            let at = 12usize.checked_add(name_size.checked_next_multiple_of(4)?)?;
            if name == NAME && word(notes, 8)? == KIND && size == size_of::<Version>() {
                return word(notes, at).map(Version);
            }
            notes = notes.get(at.checked_add(size.checked_next_multiple_of(4)?)?..)?;
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_minor_version_reads_an_earlier_one() {
        let reads = |reader: (u16, u16), made: (u16, u16)| {
            Version::new(reader.0, reader.1).reads(Version::new(made.0, made.1))
        };
        assert!(reads((1, 0), (1, 0)) && reads((1, 3), (1, 1)));
        assert!(!reads((1, 1), (1, 2)), "a program newer than its runtime");
        assert!(
            !reads((2, 0), (1, 0)) && !reads((1, 9), (2, 0)),
            "another major version"
        );
        assert_eq!(Version::new(1, 12).to_string(), "1.12");
    }

    #[test]
    fn notes_are_found_behind_others() {
        let mut bytes = Vec::new();
        // GNU's, with a description that needs filling.
        for word in [4u32, 3, 5] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(b"GNU\0abc\0");
        assert_eq!(Note::find(&bytes), None);
        let note = Note::CURRENT;
        for word in [note.name_size, note.description_size, note.kind] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(note.name);
        assert_eq!(Note::find(&bytes), None, "cut off");
        bytes.extend(Version::new(7, 2).bits().to_le_bytes());
        assert_eq!(Note::find(&bytes), Some(Version::new(7, 2)));
        bytes[0..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Note::find(&bytes), None, "sizes beyond the end");
    }
}
