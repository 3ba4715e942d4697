//! Files that the card's shell writes to the console at its end, between what others write there. Each part has a
//! mark in front, and its size. All other bytes go through as they are.
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;

use crate::card_files::{Entry, Tree, clean};

/// What the shell has sent so far.
pub type Sent = Rc<RefCell<Vec<u8>>>;

/// What is in front of each part, and what the shell is told of it: no output of other programs has it by chance.
pub fn mark(of: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Takes the parts out of a console's output.
pub struct SentFiles {
    to: Box<dyn Write>,
    /// The byte 1, and then the mark.
    mark: Vec<u8>,
    /// Bytes of the mark that have come, and behind it those of the size.
    seen: usize,
    size: [u8; 4],
    /// Bytes of the part that are to come.
    left: usize,
    sent: Sent,
}

impl SentFiles {
    /// Other bytes go to a console.
    pub fn new(to: Box<dyn Write>, mark: &str, sent: Sent) -> Self {
        Self {
            to,
            mark: [b"\x01", mark.as_bytes()].concat(),
            seen: 0,
            size: [0; 4],
            left: 0,
            sent,
        }
    }

    fn take(&mut self, byte: u8, out: &mut Vec<u8>) {
        let length = self.mark.len();
        if self.left > 0 {
            self.sent.borrow_mut().push(byte);
            self.left -= 1;
        } else if self.seen >= length {
            self.size[self.seen - length] = byte;
            self.seen += 1;
            if self.seen == length + self.size.len() {
                self.left = u32::from_le_bytes(self.size) as usize;
                self.seen = 0;
            }
        } else if byte == self.mark[self.seen] {
            self.seen += 1;
        } else {
            // The first byte is nowhere else in the mark.
            out.extend(&self.mark[..self.seen]);
            self.seen = usize::from(byte == self.mark[0]);
            if self.seen == 0 {
                out.push(byte);
            }
        }
    }
}

impl Write for SentFiles {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = vec![];
        for &byte in bytes {
            self.take(byte, &mut out);
        }
        self.to.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The files that were sent (`firmware/shell/save.c`): records of a kind, a path with a zero byte, and the bytes of a
/// file with their size, or another path. `None`: the last record is not there.
pub fn files_of(mut sent: &[u8]) -> Option<Tree> {
    let mut tree = Tree::default();
    loop {
        let (kind, rest) = sent.split_first()?;
        sent = rest;
        let path = match kind {
            b'e' => return Some(tree),
            _ => take_path(&mut sent)?,
        };
        let entry = match kind {
            b'd' => Entry::Directory,
            b'h' => Entry::Link(take_path(&mut sent)?),
            b'f' => {
                let (size, rest) = sent.split_first_chunk()?;
                let size = usize::try_from(u64::from_le_bytes(*size)).ok()?;
                let (data, rest) = rest.split_at_checked(size)?;
                sent = rest;
                Entry::File(data.into(), data.starts_with(b"\x7fELF"))
            }
            _ => return None,
        };
        tree.put(&path, entry).ok()?;
    }
}

fn take_path(sent: &mut &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let end = sent.iter().position(|&byte| byte == 0)?;
    let path = std::ffi::OsStr::from_bytes(&sent[..end]);
    *sent = &sent[end + 1..];
    clean(path.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A console that keeps what it gets.
    struct Kept(Sent);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn parts_are_taken_out() {
        let (console, sent) = (Sent::default(), Sent::default());
        let mut filter = SentFiles::new(Box::new(Kept(console.clone())), "mark", sent.clone());
        let all = b"a\x01mark\x05\0\0\0fa\0\x03\0b\x01\x01mar\x01mark\x09\0\0\0\0\0\0\0\0\0\x01ab\x01mark\x02\0\0\0de\x01m";
        // In pieces of all sizes.
        for size in 1..9 {
            console.borrow_mut().clear();
            sent.borrow_mut().clear();
            for piece in all.chunks(size) {
                filter.write_all(piece).unwrap();
            }
            // The end may be a mark's beginning.
            filter.write_all(b"x").unwrap();
            assert_eq!(&**console.borrow(), b"ab\x01\x01mar\x01mx", "{size}");
            assert_eq!(&**sent.borrow(), b"fa\0\x03\0\0\0\0\0\0\0\x01abde");
        }
    }

    #[test]
    fn files_are_those_that_were_sent() {
        let sent = b"dd\0fd/a\0\x03\0\0\0\0\0\0\0abchb\0d/a\0e";
        let tree = files_of(sent).unwrap();
        assert_eq!(tree.data("b".as_ref()), Some((&b"abc"[..], false)));
        for end in 0..sent.len() {
            assert_eq!(files_of(&sent[..end]), None);
        }
        assert_eq!(files_of(b"f../a\0\0\0\0\0\0\0\0\0e"), None);
        assert_eq!(files_of(b"x\0e"), None);
    }
}
