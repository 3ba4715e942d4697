//! Bytes of the trace: numbers as LEB128, texts as length and bytes.
use super::trace_format::{self, Kind, Reason};

/// Where bytes go. Both implementations write the same.
pub(super) trait Sink {
    fn byte(&mut self, byte: u8);

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.byte(byte);
        }
    }

    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.byte(n as u8 | 0x80);
            n >>= 7;
        }
        self.byte(n as u8);
    }

    /// At most [`trace_format::MAX_TEXT`] bytes of `text`, cut between characters.
    fn text(&mut self, text: &[u8]) {
        let mut end = text.len().min(trace_format::MAX_TEXT);
        while end > 0 && text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end -= 1;
        }
        let text = text.get(..end).unwrap_or_default();
        self.number(text.len() as u64);
        self.bytes(text);
    }

    fn header(&mut self, kind: Kind, process: u32, thread: u32, length: u32) {
        self.bytes(&trace_format::MAGIC);
        self.bytes(&trace_format::VERSION.to_le_bytes());
        self.bytes(&(kind as u16).to_le_bytes());
        for word in [process, thread, length] {
            self.bytes(&word.to_le_bytes());
        }
    }
}

impl Sink for Vec<u8> {
    fn byte(&mut self, byte: u8) {
        self.push(byte);
    }
}

/// A buffer of fixed size. What does not fit is dropped and leaves [`Fixed::full`].
pub(super) struct Fixed<'b> {
    pub buffer: &'b mut [u8],
    pub at: usize,
    pub full: bool,
}

impl Sink for Fixed<'_> {
    fn byte(&mut self, byte: u8) {
        match self.buffer.get_mut(self.at) {
            Some(place) => {
                *place = byte;
                self.at += 1;
            }
            None => self.full = true,
        }
    }
}

/// Reads what [`Sink`] writes. `at` is the offset of the next byte in the whole of `bytes`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Source<'a> {
    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub fn byte(&mut self) -> Result<u8, Reason> {
        let byte = *self.bytes.get(self.at).ok_or(Reason::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Reason> {
        let end = self.at.checked_add(length).ok_or(Reason::Truncated)?;
        let bytes = self.bytes.get(self.at..end).ok_or(Reason::Truncated)?;
        self.at = end;
        Ok(bytes)
    }

    pub fn number(&mut self) -> Result<u64, Reason> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(Reason::Number);
            }
            n |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(Reason::Number)
    }

    /// A number of 32 bits.
    pub fn id(&mut self) -> Result<u32, Reason> {
        u32::try_from(self.number()?).map_err(|_| Reason::Number)
    }

    /// The number of things that follow, each of at least one byte.
    pub fn count(&mut self) -> Result<usize, Reason> {
        let count = usize::try_from(self.number()?).map_err(|_| Reason::Truncated)?;
        if count > self.bytes.len().saturating_sub(self.at) {
            return Err(Reason::Truncated);
        }
        Ok(count)
    }

    pub fn raw_text(&mut self) -> Result<&'a [u8], Reason> {
        let length = self.count()?;
        self.take(length)
    }

    /// Names are whatever bytes a program's symbols and paths have.
    pub fn text(&mut self) -> Result<String, Reason> {
        Ok(String::from_utf8_lossy(self.raw_text()?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for n in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 1 << 35, 1 << 63, u64::MAX] {
            let mut bytes = Vec::new();
            bytes.number(n);
            let mut source = Source {
                bytes: &bytes,
                at: 0,
            };
            assert_eq!(source.number(), Ok(n));
            assert!(source.is_empty());
        }
    }

    #[test]
    fn numbers_that_are_none() {
        let number = |bytes: &[u8]| Source { bytes, at: 0 }.number();
        assert_eq!(number(&[]), Err(Reason::Truncated));
        assert_eq!(number(&[0x80]), Err(Reason::Truncated));
        assert_eq!(number(&[0xff; 11]), Err(Reason::Number));
        let mut most = [0xff; 10];
        most[9] = 2;
        assert_eq!(number(&most), Err(Reason::Number));
        most[9] = 1;
        assert_eq!(number(&most), Ok(u64::MAX));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let mut bytes = Vec::new();
        let long = "é".repeat(trace_format::MAX_TEXT);
        bytes.text(&long.as_bytes()[1..]);
        let text = Source {
            bytes: &bytes,
            at: 0,
        }
        .text()
        .unwrap();
        // The first byte is half a character; after it only whole ones.
        assert_eq!(text.matches('\u{fffd}').count(), 1);
        assert!(text.ends_with('é'));
        assert!(bytes.len() <= trace_format::MAX_TEXT + 2);
    }
}
