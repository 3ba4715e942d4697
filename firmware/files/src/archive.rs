//! First contents of a file system: an archive of `tar` (POSIX or GNU) or `cpio` (`newc`).
use crate::file_system::FileSystem;
use crate::{Failure, Memory};

/// Bytes of a path at most.
const PATH: usize = 1024;
const TAR_BLOCK: usize = 512;
const CPIO_HEADER: usize = 110;

/// Why an archive is not unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// It is none of `tar` or `cpio`, or its end is missing.
    Format,
    /// The file system refuses what begins at this byte.
    At(usize, Failure),
}

/// What an archive has.
enum Item<'a> {
    File(&'a [u8]),
    Directory,
    /// One more name of the file of this path.
    Link(&'a [u8]),
    /// Links by name, devices, and others that the file system does not have.
    Other,
}

/// A path.
struct Path {
    bytes: [u8; PATH],
    size: usize,
}

impl Path {
    const EMPTY: Self = Self {
        bytes: [0; PATH],
        size: 0,
    };

    fn add(&mut self, part: &[u8]) {
        if let Some(room) = self.bytes.get_mut(self.size..self.size + part.len()) {
            room.copy_from_slice(part);
            self.size += part.len();
        }
    }

    fn of(part: &[u8]) -> Self {
        let mut path = Self::EMPTY;
        path.add(part);
        path
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

/// Fills a file system with what an archive has.
///
/// # Errors
/// The archive is broken, or does not fit. What comes before is there.
pub fn unpack(
    files: &mut FileSystem,
    archive: &[u8],
    memory: &mut impl Memory,
) -> Result<(), Broken> {
    match archive.get(..6) {
        Some(b"070701") => unpack_cpio(files, archive, memory),
        _ => unpack_tar(files, archive, memory),
    }
}

fn put(
    files: &mut FileSystem,
    path: &[u8],
    item: &Item<'_>,
    memory: &mut impl Memory,
) -> Result<(), Failure> {
    if matches!(item, Item::Other) {
        return Ok(());
    }
    // The directories that it is in need not be in the archive.
    for (at, _) in path.iter().enumerate().filter(|&(_, &byte)| byte == b'/') {
        match files.make_directory(&path[..at]) {
            Ok(()) | Err(Failure::Exists | Failure::Invalid) => {}
            Err(failure) => return Err(failure),
        }
    }
    match item {
        Item::File(bytes) => {
            let node = match files.make_file(path) {
                // The last one counts.
                Err(Failure::Exists) => {
                    files.unlink(path)?;
                    files.make_file(path)?
                }
                made => made?,
            };
            files.append_bytes(node, bytes, memory)
        }
        Item::Directory => match files.make_directory(path) {
            Err(Failure::Exists) => Ok(()),
            made => made,
        },
        Item::Link(to) => files.link(to, path),
        Item::Other => Ok(()),
    }
}

fn text(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|&byte| byte == 0);
    &field[..end.unwrap_or(field.len())]
}

fn number(digits: &[u8], base: u32) -> Option<usize> {
    let digits = core::str::from_utf8(text(digits)).ok()?.trim();
    match digits {
        "" => Some(0),
        digits => usize::from_str_radix(digits, base).ok(),
    }
}

fn unpack_tar(
    files: &mut FileSystem,
    archive: &[u8],
    memory: &mut impl Memory,
) -> Result<(), Broken> {
    let mut at = 0;
    // Long names are entries of their own in front: of GNU, or extended headers of POSIX.
    let (mut long_name, mut long_link) = (None, None);
    while let Some(header) = archive.get(at..at + TAR_BLOCK) {
        if header[0] == 0 {
            return Ok(());
        }
        if !header[257..].starts_with(b"ustar") {
            return Err(Broken::Format);
        }
        let size = number(&header[124..136], 8).ok_or(Broken::Format)?;
        let behind = &archive[at + TAR_BLOCK..];
        let bytes = behind.get(..size).ok_or(Broken::Format)?;
        let kind = header[156];
        match kind {
            b'L' => long_name = Some(Path::of(text(bytes))),
            b'K' => long_link = Some(Path::of(text(bytes))),
            b'x' => {
                for (key, value) in pax_records(bytes) {
                    match key {
                        b"path" => long_name = Some(Path::of(value)),
                        b"linkpath" => long_link = Some(Path::of(value)),
                        _ => {}
                    }
                }
            }
            _ => {
                let path = long_name.take().unwrap_or_else(|| tar_path(header));
                let link = long_link.take();
                let item = match kind {
                    b'0' | 0 => Item::File(bytes),
                    b'5' => Item::Directory,
                    b'1' => {
                        let short = text(&header[157..257]);
                        Item::Link(link.as_ref().map_or(short, Path::as_bytes))
                    }
                    _ => Item::Other,
                };
                let done = put(files, path.as_bytes(), &item, memory);
                done.map_err(|failure| Broken::At(at, failure))?;
            }
        }
        // A link has the size of its file, and none of its bytes.
        let size = if kind == b'1' { 0 } else { size };
        at += TAR_BLOCK + size.next_multiple_of(TAR_BLOCK);
    }
    Err(Broken::Format)
}

/// What a file of an archive of `tar` contains.
pub fn find_in_tar<'a>(archive: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut at = 0;
    loop {
        let header = archive.get(at..at + TAR_BLOCK)?;
        let size = number(&header[124..136], 8).filter(|_| header[0] != 0)?;
        let bytes = archive[at + TAR_BLOCK..].get(..size)?;
        if tar_path(header).as_bytes() == name && matches!(header[156], b'0' | 0) {
            return Some(bytes);
        }
        at += TAR_BLOCK + size.next_multiple_of(TAR_BLOCK);
    }
}

/// The records of an extended header: a length, a blank, key, `=`, value, and the end of the line.
fn pax_records(mut bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    core::iter::from_fn(move || {
        let blank = bytes.iter().position(|&byte| byte == b' ')?;
        let size = number(&bytes[..blank], 10)?;
        let record = bytes.get(blank + 1..size)?;
        bytes = &bytes[size..];
        let equals = record.iter().position(|&byte| byte == b'=')?;
        let value = record[equals + 1..].strip_suffix(b"\n")?;
        Some((&record[..equals], value))
    })
}

fn tar_path(header: &[u8]) -> Path {
    let mut path = Path::EMPTY;
    let folder = text(&header[345..500]);
    if header[257..].starts_with(b"ustar\0") && !folder.is_empty() {
        path.add(folder);
        path.add(b"/");
    }
    path.add(text(&header[..100]));
    path
}

/// A file of an archive of `cpio`.
struct CpioFile<'a> {
    number: usize,
    mode: usize,
    links: usize,
    path: &'a [u8],
    bytes: &'a [u8],
    /// Where the next one begins.
    next: usize,
}

fn cpio_file(archive: &[u8], at: usize) -> Option<CpioFile<'_>> {
    let header = archive.get(at..at + CPIO_HEADER)?;
    let field = |n: usize| number(&header[6 + 8 * n..14 + 8 * n], 16);
    let (size, path_size) = (field(6)?, field(11)?);
    let path = at + CPIO_HEADER;
    let data = path.checked_add(path_size)?.next_multiple_of(4);
    let bytes = archive.get(data..data.checked_add(size)?)?;
    header.starts_with(b"070701").then_some(CpioFile {
        number: field(0)?,
        mode: field(1)?,
        links: field(4)?,
        path: text(archive.get(path..path + path_size)?),
        bytes,
        next: (data + size).next_multiple_of(4),
    })
}

fn unpack_cpio(
    files: &mut FileSystem,
    archive: &[u8],
    memory: &mut impl Memory,
) -> Result<(), Broken> {
    const TYPE: usize = 0o170_000;
    let mut at = 0;
    loop {
        let file = cpio_file(archive, at).ok_or(Broken::Format)?;
        if file.path == b"TRAILER!!!" {
            return Ok(());
        }
        let first = (file.links > 1).then(|| first_of(archive, file.number));
        let first = first.flatten().filter(|first| first.path != file.path);
        let done = match (file.mode & TYPE, first) {
            (0o040_000, _) => put(files, file.path, &Item::Directory, memory),
            (0o100_000, None) => put(files, file.path, &Item::File(file.bytes), memory),
            // The data are with one of the names, and that is the last one.
            (0o100_000, Some(first)) => {
                let link = Item::Link(first.path);
                put(files, file.path, &link, memory).and_then(|()| {
                    let node = files.find(first.path)?;
                    files.append_bytes(node, file.bytes, memory)
                })
            }
            _ => Ok(()),
        };
        done.map_err(|failure| Broken::At(at, failure))?;
        at = file.next;
    }
}

/// The first name of a file that has several.
fn first_of(archive: &[u8], number: usize) -> Option<CpioFile<'_>> {
    let mut at = 0;
    loop {
        let file = cpio_file(archive, at)?;
        if file.number == number && file.links > 1 {
            return Some(file);
        }
        at = file.next;
    }
}
