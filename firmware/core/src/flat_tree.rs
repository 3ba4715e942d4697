//! Flattened device trees (Devicetree Specification 0.4, chapter 5), read once from front to back. A
//! library that looks up nodes and properties by their names walks the tree for each, which takes more
//! cycles than all the rest of the boot.

/// What stands in a tree, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A node begins. The root's name is empty.
    Begin(&'a [u8]),
    /// A property of the node that has begun last and not ended.
    Property(&'a [u8], &'a [u8]),
    /// It ends.
    End,
}

/// A tree.
#[derive(Clone, Copy, Debug)]
pub struct FlatTree<'a> {
    structure: &'a [u8],
    strings: &'a [u8],
    /// The number of the hart that boots.
    pub boot_hart: u32,
}

const MAGIC: u32 = 0xd00d_feed;
const HEADER: usize = 40;

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// The bytes up to a zero.
fn text(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    rest.get(..end)
}

impl<'a> FlatTree<'a> {
    /// Bytes of a tree that begins so; `None`: it is none.
    pub fn size(header: &[u8]) -> Option<usize> {
        (word(header, 0)? == MAGIC).then_some(word(header, 4)? as usize)
    }

    /// A tree of these bytes.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() < HEADER || Self::size(bytes)? > bytes.len() {
            return None;
        }
        Some(Self {
            structure: bytes.get(word(bytes, 8)? as usize..)?,
            strings: bytes.get(word(bytes, 12)? as usize..)?,
            boot_hart: word(bytes, 28)?,
        })
    }

    /// All that stands in it. A tree that breaks off ends there.
    pub fn events(self) -> impl Iterator<Item = Event<'a>> {
        let mut at = 0;
        core::iter::from_fn(move || self.next(&mut at))
    }

    fn next(&self, at: &mut usize) -> Option<Event<'a>> {
        loop {
            let token = word(self.structure, *at)?;
            *at += 4;
            match token {
                1 => {
                    let name = text(self.structure, *at)?;
                    *at += (name.len() + 1).next_multiple_of(4);
                    return Some(Event::Begin(name));
                }
                2 => return Some(Event::End),
                3 => {
                    let size = word(self.structure, *at)? as usize;
                    let name = word(self.structure, *at + 4)? as usize;
                    let from = *at + 8;
                    let value = self.structure.get(from..from.checked_add(size)?)?;
                    *at = from + size.next_multiple_of(4);
                    return Some(Event::Property(text(self.strings, name)?, value));
                }
                4 => {}
                _ => return None,
            }
        }
    }
}

/// A number of 32 or 64 bits.
pub fn number(value: &[u8]) -> u64 {
    let bytes = value.iter().take(8);
    bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Numbers of 32 bits behind each other.
pub fn cells(value: &[u8]) -> impl Iterator<Item = u32> + Clone + '_ {
    value.chunks_exact(4).map(|bytes| number(bytes) as u32)
}

/// Texts behind each other, each with a zero at its end.
pub fn texts(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|&byte| byte == 0)
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Vec<u8> {
        let structure: &[u8] = b"\0\0\0\x01\0\0\0\0\0\0\0\x04\0\0\0\x01cpus\0\0\0\0\
            \0\0\0\x03\0\0\0\x05\0\0\0\x02a\0bc\0\0\0\0\0\0\0\x02\0\0\0\x02\0\0\0\x09";
        let strings = b"x\0name\0";
        let mut bytes: Vec<u8> = vec![];
        let end = HEADER + structure.len() + strings.len();
        let words = [
            MAGIC,
            end as u32,
            40,
            (40 + structure.len()) as u32,
            0,
            17,
            16,
            3,
            0,
            0,
        ];
        bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        bytes.extend(structure);
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn all_is_read_in_its_order() {
        let bytes = tree();
        let tree = FlatTree::new(&bytes).unwrap();
        assert_eq!(tree.boot_hart, 3);
        let all: Vec<_> = tree.events().collect();
        let value = b"a\0bc\0";
        assert_eq!(
            all,
            [
                Event::Begin(b""),
                Event::Begin(b"cpus"),
                Event::Property(b"name", value),
                Event::End,
                Event::End
            ]
        );
        assert_eq!(texts(value).collect::<Vec<_>>(), [b"a".as_slice(), b"bc"]);
        assert_eq!(cells(&[0, 0, 1, 2, 9]).collect::<Vec<_>>(), [258]);
    }

    #[test]
    fn a_broken_tree_ends_early() {
        let bytes = tree();
        for size in 0..bytes.len() {
            let cut = &bytes[..size];
            assert!(FlatTree::new(cut).is_none());
            for place in 0..size {
                let mut broken = bytes.clone();
                broken[place] ^= 0xff;
                if let Some(tree) = FlatTree::new(&broken) {
                    assert!(tree.events().count() < 100);
                }
            }
        }
    }
}
