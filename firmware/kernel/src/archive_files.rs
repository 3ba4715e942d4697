//! The files of the archive, a `tar` file in the format of POSIX (`ustar`) or of GNU.
use crate::machine_map::MachineMap;

const BLOCK: usize = 512;
/// Places in a header: the file's name, its size in octal digits, its type, and what comes in front of
/// its name, with a `/`.
const NAME: core::ops::Range<usize> = 0..100;
const SIZE: core::ops::Range<usize> = 124..136;
const TYPE: usize = 156;
const MAGIC: core::ops::Range<usize> = 257..263;
const FOLDER: core::ops::Range<usize> = 345..500;

/// A file.
pub struct File {
    header: &'static [u8],
    /// What it contains.
    pub bytes: &'static [u8],
}

fn text(header: &[u8], field: core::ops::Range<usize>) -> impl Iterator<Item = u8> + Clone {
    let bytes = header.get(field).unwrap_or_default().iter();
    bytes.copied().take_while(|&byte| byte != 0)
}

impl File {
    /// Is this its name, or what is behind `./` there?
    pub fn is_named(&self, name: impl Iterator<Item = u8>) -> bool {
        let has_folder = self.header.get(MAGIC) == Some(b"ustar\0");
        let folder = text(self.header, if has_folder { FOLDER } else { 0..0 });
        let slash = folder.clone().next().map(|_| b'/');
        let own = folder.chain(slash).chain(text(self.header, NAME));
        let is_relative = own.clone().take(2).eq(*b"./");
        own.skip(if is_relative { 2 } else { 0 }).eq(name)
    }
}

/// The files of the machine's archive.
pub fn files(map: &MachineMap) -> impl Iterator<Item = File> {
    let archive = map.archive();
    let size = (archive.end - archive.start) as usize;
    // SAFETY: the machine's tree says that a file is there; its frames are reserved.
    let mut rest = unsafe { core::slice::from_raw_parts(archive.start as *const u8, size) };
    let blocks = core::iter::from_fn(move || {
        let (header, behind) = rest.split_at_checked(BLOCK)?;
        let digits = text(header, SIZE).filter(|byte| byte.is_ascii_digit());
        let size = digits.fold(0_usize, |size, digit| size << 3 | usize::from(digit & 7));
        let bytes = behind.get(..size)?;
        rest = behind
            .get(size.next_multiple_of(BLOCK)..)
            .unwrap_or_default();
        Some(File { header, bytes })
    });
    // The last block is zero.
    let used = blocks.take_while(|file| file.header[0] != 0);
    used.filter(|file| matches!(file.header[TYPE], b'0' | 0))
}
