//! Values that machine files have beyond those of platform files: addresses, truth values, lists of
//! texts, and tables in lists by their names.
use std::ops::Range;

use toml::de::DeValue;

use super::{Error, Table, kind};

impl Table<'_> {
    /// The place of a key's value, or that of the table.
    pub fn span(&self, key: &str) -> Range<usize> {
        let value = self.table.and_then(|table| table.get(key));
        value.map_or(self.span.clone(), |value| value.span())
    }

    /// The line where the table is; 0 for one of a `--set`.
    pub fn line(&self) -> usize {
        self.source.line(self.span.clone())
    }

    /// A mistake at a place that [`Self::span`] has given.
    pub fn error_at(&self, at: Range<usize>, what: String, help: &str) -> Error {
        self.source.error(at, what, help)
    }

    pub fn text_or(&mut self, key: &'static str, default: &str) -> Result<String, Error> {
        self.known.insert(key);
        match self.has(key) {
            true => self.text(key),
            false => Ok(default.to_owned()),
        }
    }

    pub fn flag(&mut self, key: &'static str) -> Result<bool, Error> {
        let Some(value) = self.get(key) else {
            return Ok(false);
        };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            other => {
                let why = format!("it is {}", kind(other));
                Err(self.wrong(key, value, &why, "true or false"))
            }
        }
    }

    /// A physical address, of 56 bits.
    pub fn address(&mut self, key: &'static str) -> Result<u64, Error> {
        let wanted = "an address such as 0x8000_0000";
        let Some(value) = self.required(key, wanted) else {
            return Ok(0);
        };
        let DeValue::Integer(number) = value.get_ref() else {
            let why = format!("it is {}", kind(value.get_ref()));
            return Err(self.wrong(key, value, &why, wanted));
        };
        let digits = number.as_str().replace('_', "");
        match u64::from_str_radix(&digits, number.radix()) {
            Ok(address) if address < 1 << 56 => Ok(address),
            _ => Err(self.wrong(key, value, "no hart has such an address", wanted)),
        }
    }

    /// A pattern of 64 bits, or a virtual address.
    pub fn bits(&mut self, key: &'static str) -> Result<u64, Error> {
        let wanted = "a number such as 0x10";
        let Some(value) = self.required(key, wanted) else {
            return Ok(0);
        };
        let DeValue::Integer(number) = value.get_ref() else {
            let why = format!("it is {}", kind(value.get_ref()));
            return Err(self.wrong(key, value, &why, wanted));
        };
        let digits = number.as_str().replace('_', "");
        u64::from_str_radix(&digits, number.radix())
            .map_err(|_| self.wrong(key, value, "it has no 64 bits", wanted))
    }

    /// Texts of a list, each with its place.
    pub fn texts(&mut self, key: &'static str) -> Result<Vec<(String, Range<usize>)>, Error> {
        let wanted = "a list of texts";
        let Some(value) = self.required(key, wanted) else {
            return Ok(Vec::new());
        };
        let DeValue::Array(list) = value.get_ref() else {
            let why = format!("it is {}", kind(value.get_ref()));
            return Err(self.wrong(key, value, &why, wanted));
        };
        let text = |item: &toml::Spanned<DeValue>| match item.get_ref() {
            DeValue::String(text) => Ok((text.to_string(), item.span())),
            other => {
                let why = format!("an item is {}", kind(other));
                Err(self.wrong(key, item, &why, wanted))
            }
        };
        list.iter().map(text).collect()
    }

    /// [`Self::end`] of a table that may say where its figures come from.
    pub fn end_with_source(mut self) -> Result<(), Error> {
        self.text_or("source", "")?;
        self.end()
    }
}
