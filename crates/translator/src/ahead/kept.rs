//! Records of translations, from one link to the next.
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Records of earlier links.
#[derive(Clone, Debug, Default)]
pub struct Kept<'a> {
    by_key: BTreeMap<u128, Vec<&'a [u8]>>,
}

impl<'a> Kept<'a> {
    /// Adds a record that [`Made`] had. It is read with care, but what makes up a record of its own
    /// makes up the code.
    pub fn add(&mut self, key: u128, record: &'a [u8]) {
        self.by_key.entry(key).or_default().push(record);
    }

    /// Those of functions that look the same.
    pub(super) fn of(&self, key: u128) -> &[&'a [u8]] {
        self.by_key.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// What a link leaves for the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made<'a> {
    /// Keys and records, in the order of the functions.
    pub records: Vec<(u128, Cow<'a, [u8]>)>,
    /// Functions whose translation was kept.
    pub reused: usize,
    /// Functions whose translation holds for their place alone.
    pub at_their_place: usize,
    /// All functions.
    pub functions: usize,
}

impl<'a> Made<'a> {
    pub(super) fn add(&mut self, records: Vec<(u128, Cow<'a, [u8]>)>, origin: Origin) {
        self.records.extend(records);
        self.functions += 1;
        match origin {
            Origin::Kept => self.reused += 1,
            Origin::New => {}
            Origin::AtItsPlace => self.at_their_place += 1,
        }
    }
}

/// Where a translation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Of an earlier link.
    Kept,
    /// Of this one.
    New,
    /// The same, and it is of no use elsewhere.
    AtItsPlace,
}
