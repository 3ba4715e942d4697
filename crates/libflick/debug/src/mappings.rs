//! The process's memory: what is where (`/proc/self/maps`, proc(5)), and room near a module.
use std::ffi::{OsStr, c_int, c_void};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const PAGE: u64 = 4096;
/// How far a displacement of 32 bits reaches, less what lies between its end and its place.
const REACH: u64 = (1 << 31) - (1 << 20);
/// Nothing is below (`vm.mmap_min_addr`).
const LOWEST: u64 = 64 << 10;
/// Room for what grows upwards behind a mapping: a heap (brk(2)).
const GROWTH: u64 = 1 << 30;

/// The mappings of this process, in ascending order.
pub struct Mappings(Vec<Line>);

struct Line {
    range: Range<u64>,
    is_writable: bool,
    path: PathBuf,
}

impl Mappings {
    /// Reads them.
    pub fn read() -> io::Result<Self> {
        let text = std::fs::read("/proc/self/maps")?;
        Ok(Self(
            text.split(|&byte| byte == b'\n').filter_map(line).collect(),
        ))
    }

    /// The file that is mapped at `address`, as the kernel names it.
    pub fn file(&self, address: u64) -> Option<&Path> {
        let file = &self.at(address)?.path;
        file.is_absolute().then_some(file)
    }

    /// Whether what is at `address` may be written; `None`: nothing is there.
    pub fn is_writable(&self, address: u64) -> Option<bool> {
        self.at(address).map(|line| line.is_writable)
    }

    fn at(&self, address: u64) -> Option<&Line> {
        self.0.iter().find(|line| line.range.contains(&address))
    }

    /// New memory of `size` bytes which code of 32-bit displacements reaches from `module` and back.
    pub fn room_near(&self, module: &Range<u64>, size: u64) -> Result<Mapping, String> {
        let size = size.next_multiple_of(PAGE);
        let too_far = || "there is no room for its code near it".to_owned();
        let lowest = module.end.saturating_sub(REACH).max(LOWEST);
        let highest = (module.start + REACH)
            .checked_sub(size)
            .ok_or_else(too_far)?;
        let starts = (self.0.iter()).map(|line| line.range.start);
        let ends = (self.0.iter()).map(|line| line.range.end);
        let gaps = std::iter::once(0).chain(ends).zip(starts.chain([u64::MAX]));
        // Nearest first, and those below before those above, where the heap grows.
        let (below, above): (Vec<_>, Vec<_>) = gaps.partition(|&(_, end)| end <= module.start);
        let below = below.into_iter().rev().filter_map(|(start, end)| {
            let at = end.checked_sub(size)? / PAGE * PAGE;
            (at >= start.max(lowest) && at <= highest).then_some(at)
        });
        let above = above.into_iter().filter_map(|(start, end)| {
            let last = end.checked_sub(size)?.min(highest) / PAGE * PAGE;
            (start <= last && start >= lowest).then(|| last.min(start + GROWTH))
        });
        let mut places = below.chain(above);
        places
            .find_map(|at| Mapping::new(at, size))
            .ok_or_else(too_far)
    }
}

/// `START-END PERMISSIONS OFFSET DEVICE INODE    PATH`
fn line(line: &[u8]) -> Option<Line> {
    let mut fields = line.splitn(6, |&byte| byte == b' ');
    let range = std::str::from_utf8(fields.next()?).ok()?;
    let (start, end) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let is_writable = fields.next()?.get(1) == Some(&b'w');
    let path = fields.nth(3).unwrap_or_default().trim_ascii_start();
    let path = PathBuf::from(OsStr::from_bytes(path));
    Some(Line {
        range: number(start)?..number(end)?,
        is_writable,
        path,
    })
}

/// Memory that nobody else uses.
pub struct Mapping {
    start: u64,
    size: u64,
}

impl Mapping {
    /// Readable and writable pages at this place, if nothing is there.
    fn new(start: u64, size: u64) -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: replaces no other mapping.
        let place = unsafe {
            libc::mmap(
                start as *mut c_void,
                size as usize,
                protection,
                flags,
                -1,
                0,
            )
        };
        if place == libc::MAP_FAILED {
            return None;
        }
        let mapping = Self {
            start: place as u64,
            size,
        };
        // An old kernel takes the place for a wish.
        (mapping.start == start).then_some(mapping)
    }

    pub fn start(&self) -> u64 {
        self.start
    }

    /// Writes bytes at an address in it, which has not been protected yet.
    pub fn write(&mut self, at: u64, bytes: &[u8]) {
        let offset = (at - self.start) as usize;
        assert!(offset + bytes.len() <= self.size as usize);
        // SAFETY: within the mapping, which is ours alone and writable.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
    }

    /// Sets what may be done with whole pages of it.
    pub fn protect(&mut self, range: Range<u64>, protection: c_int) -> Result<(), String> {
        assert!(self.start <= range.start && range.end <= self.start + self.size);
        let size = (range.end - range.start) as usize;
        // SAFETY: within the mapping, of which nobody has a reference.
        match unsafe { libc::mprotect(range.start as *mut c_void, size, protection) } {
            0 => Ok(()),
            _ => Err(format!("mprotect: {}", io::Error::last_os_error())),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: ours alone; by the contract of `Remove` nobody executes it any more.
        unsafe { libc::munmap(self.start as *mut c_void, self.size as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mappings(text: &[u8]) -> Mappings {
        Mappings(text.split(|&byte| byte == b'\n').filter_map(line).collect())
    }

    #[test]
    fn lines_of_maps() {
        let all = mappings(
            b"00400000-00401000 r--p 00000000 08:01 42                         /a b/c\n\
              7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n\
              7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                  [stack]\n",
        );
        assert_eq!(all.0.len(), 3);
        assert_eq!(all.file(0x40_0fff), Some(Path::new("/a b/c")));
        assert_eq!(all.file(0x40_1000), None);
        assert_eq!(all.file(0x7f00_0000_0000), None);
        assert_eq!(all.is_writable(0x40_0000), Some(false));
        assert_eq!(all.is_writable(0x7f00_0000_0000), Some(true));
        assert_eq!(all.is_writable(0x40_1000), None);
        assert_eq!(all.file(0x7ffc_0000_0000), None);
    }

    #[test]
    fn room_is_free_and_near() {
        let own = Mappings::read().unwrap();
        let at = lines_of_maps as *const () as u64;
        let module = at..at + 100;
        let size = 3 * PAGE + 1;
        let mut room = own.room_near(&module, size).unwrap();
        let start = room.start();
        let end = start + size.next_multiple_of(PAGE);
        assert!(
            own.0
                .iter()
                .all(|line| line.range.end <= start || end <= line.range.start)
        );
        assert!(at.abs_diff(start) < 1 << 31 && at.abs_diff(end) < 1 << 31);
        room.write(end - 4, b"last");
        room.protect(start..end, libc::PROT_READ).unwrap();
        // It is taken now.
        assert!(Mapping::new(start, PAGE).is_none());
        drop(room);
        assert!(Mapping::new(start, PAGE).is_some());
        assert!(own.room_near(&module, 1 << 31).is_err());
    }
}
