//! Numbers and bytes of a record.

/// A record that is written.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    pub fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub fn signed(&mut self, value: i64) {
        self.number((value << 1 ^ value >> 63) as u64);
    }

    pub fn numbers(&mut self, all: &[u64]) {
        self.number(all.len() as u64);
        all.iter().for_each(|&value| self.number(value));
    }

    pub fn all(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend(bytes);
    }
}

/// A record that is read; `None`: it is none.
pub struct Reader<'a> {
    pub bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A count of things of at least a byte each.
    pub fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.bytes.len()).then_some(count)
    }

    pub fn numbers(&mut self) -> Option<Vec<u64>> {
        (0..self.count()?).map(|_| self.number()).collect()
    }

    pub fn all(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        let (bytes, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        Some(bytes)
    }
}
