//! Text that is put together without allocation: for messages of signal handlers.
use std::ffi::{CStr, c_char};

/// A line buffer without allocation.
pub struct Text {
    bytes: [u8; 2048],
    length: usize,
}

impl Text {
    pub fn new() -> Self {
        Self {
            bytes: [0; 2048],
            length: 0,
        }
    }

    pub fn put(&mut self, text: &[u8]) -> &mut Self {
        let room = &mut self.bytes[self.length..];
        let n = text.len().min(room.len());
        room[..n].copy_from_slice(&text[..n]);
        self.length += n;
        self
    }

    pub fn str(&mut self, text: &str) -> &mut Self {
        self.put(text.as_bytes())
    }

    /// # Safety
    /// `text` is a C string.
    pub unsafe fn c_str(&mut self, text: *const c_char) -> &mut Self {
        // SAFETY: by contract.
        self.put(unsafe { CStr::from_ptr(text) }.to_bytes())
    }

    pub fn hex(&mut self, value: u64, digits: usize) -> &mut Self {
        let significant = (64 - value.leading_zeros()).div_ceil(4).max(1) as usize;
        for at in (0..significant.max(digits)).rev() {
            let digit = (value >> (at * 4)) as usize & 15;
            self.put(&b"0123456789abcdef"[digit..=digit]);
        }
        self
    }

    pub fn decimal(&mut self, value: u32) -> &mut Self {
        let mut digits = [0; 10];
        let (mut at, mut rest) = (digits.len(), value);
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.put(&digits[at..])
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Nothing is in it any more.
    pub fn clear(&mut self) {
        self.length = 0;
    }
}
