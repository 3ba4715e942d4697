//! A table of guest registers with other addresses of the guest's.
use super::{KIND, Reader, States, put, put_signed};

impl States {
    /// A table that was kept. Nothing is known of its bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// The same with each address of the guest's replaced by another; `None`: one has no other, or
    /// the table is damaged.
    pub fn moved(&self, to: &dyn Fn(u64) -> Option<u64>) -> Option<Self> {
        let mut reader = Reader { bytes: &self.bytes };
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let (mut last, mut last_to) = (0u64, 0);
        while !reader.bytes.is_empty() {
            put(&mut bytes, reader.get());
            last = last.wrapping_add_signed(reader.get_signed());
            let pc = to(last)?;
            put_signed(&mut bytes, pc.wrapping_sub(last_to) as i64);
            last_to = pc;
            let count = reader.get();
            put(&mut bytes, count);
            for _ in 0..count {
                if reader.bytes.is_empty() {
                    return None;
                }
                let head = reader.get();
                put(&mut bytes, head);
                let operands = match head >> KIND {
                    0 => 1,
                    1 => {
                        put(&mut bytes, reader.get());
                        0
                    }
                    2 => {
                        put(&mut bytes, reader.get());
                        1
                    }
                    4 => {
                        put(&mut bytes, to(reader.get())?);
                        0
                    }
                    3 => {
                        put(&mut bytes, reader.get());
                        put(&mut bytes, reader.get());
                        2
                    }
                    _ => return None,
                };
                for _ in 0..operands {
                    put(&mut bytes, reader.get());
                }
            }
        }
        Some(Self { bytes })
    }
}
