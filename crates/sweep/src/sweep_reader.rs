//! Reads a TOML document key by key and goes on behind a mistake, so that one run names all of them.
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use flick_diagnostics::Code;
use flick_image::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A document, and the mistakes that were found in it.
pub struct Document<'a> {
    file: &'a str,
    text: &'a str,
    problems: RefCell<Vec<Error>>,
}

impl<'a> Document<'a> {
    /// `file` is for messages.
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            text,
            problems: RefCell::default(),
        }
    }

    /// Keeps a mistake at a position.
    pub fn wrong(&self, at: &Range<usize>, why: impl Into<String>, help: impl Into<String>) {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let error = Error::new(
            Code::SweepFile,
            Code::SweepFile.title(),
            format!("{}:{line}", self.file),
            why,
            help,
        );
        let mut problems = self.problems.borrow_mut();
        if !problems.contains(&error) {
            problems.push(error);
        }
    }

    /// The mistakes so far, in the order of the keys' reading.
    pub fn into_problems(self) -> Vec<Error> {
        self.problems.into_inner()
    }
}

/// A text and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    pub at: Range<usize>,
}

/// A table of a document. A key that nobody has read is a mistake, which [`Section::end`] finds.
pub struct Section<'a> {
    document: &'a Document<'a>,
    table: &'a DeTable<'a>,
    /// With dots; empty for the document.
    path: String,
    pub at: Range<usize>,
    known: BTreeSet<&'static str>,
}

impl<'a> Section<'a> {
    /// The document itself.
    pub fn whole(document: &'a Document<'a>, table: &'a Spanned<DeTable<'a>>) -> Self {
        Self {
            document,
            table: table.get_ref(),
            path: String::new(),
            at: 0..0,
            known: BTreeSet::new(),
        }
    }

    fn name(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    fn get(&mut self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.insert(key);
        self.table.get(key)
    }

    fn unfit(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) {
        let why = format!("`{}` is {}", self.name(key), kind(value.get_ref()));
        self.document
            .wrong(&value.span(), why, format!("write {wanted}"));
    }

    /// Keeps the mistake that a required key is not there.
    pub fn missing(&self, key: &str, wanted: &str) {
        let why = format!("`{}` is missing", self.name(key));
        self.document.wrong(&self.at, why, format!("add {wanted}"));
    }

    /// A text in quotes.
    pub fn text(&mut self, key: &'static str, wanted: &str) -> Option<Text> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(Text {
                text: text.to_string(),
                at: value.span(),
            }),
            _ => {
                self.unfit(key, value, wanted);
                None
            }
        }
    }

    /// A list of texts and numbers, which has an entry at least.
    pub fn texts(&mut self, key: &'static str, wanted: &str) -> Option<Vec<Text>> {
        let value = self.get(key)?;
        self.list(key, value, wanted)
    }

    fn list(&self, key: &str, value: &'a Spanned<DeValue<'a>>, wanted: &str) -> Option<Vec<Text>> {
        let DeValue::Array(list) = value.get_ref() else {
            self.unfit(key, value, wanted);
            return None;
        };
        let mut all = Vec::new();
        for item in list.iter() {
            match scalar(item) {
                Some(text) => all.push(text),
                None => self.unfit(key, item, wanted),
            }
        }
        if list.is_empty() {
            let why = format!("`{}` is empty", self.name(key));
            self.document.wrong(
                &value.span(),
                why,
                format!("write {wanted}; or leave the key out"),
            );
        }
        Some(all)
    }

    /// A list of texts and numbers that may be empty, or one of these alone.
    pub fn texts_or_one(&self, key: &str, wanted: &str) -> Option<Vec<Text>> {
        let value = self.table.get(key)?;
        if let Some(text) = scalar(value) {
            return Some(vec![text]);
        }
        match value.get_ref() {
            DeValue::Array(list) if list.is_empty() => Some(Vec::new()),
            _ => self.list(key, value, wanted),
        }
    }

    /// Whether the document has the key, whatever its value is.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The table of this name, if the value is one.
    pub fn section_of(&self, key: &str) -> Option<Section<'a>> {
        let value = self.table.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(self.below(key, table, value.span())),
            _ => None,
        }
    }

    /// The values of an axis of this name; its table if it has one.
    pub fn values_or_section(&self, key: &str) -> (Vec<Text>, Option<Section<'a>>) {
        if let Some(section) = self.section_of(key) {
            return (Vec::new(), Some(section));
        }
        let wanted = "a list of values, such as [\"0.3 us\", \"1 us\"]";
        let value = self.table.get(key);
        let values = value.and_then(|value| self.list(key, value, wanted));
        (values.unwrap_or_default(), None)
    }

    fn below(&self, key: &str, table: &'a DeTable<'a>, at: Range<usize>) -> Section<'a> {
        Section {
            document: self.document,
            table,
            path: self.name(key),
            at,
            known: BTreeSet::new(),
        }
    }

    /// A table of this one.
    pub fn section(&mut self, key: &'static str) -> Option<Section<'a>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(self.below(key, table, value.span())),
            _ => {
                self.unfit(key, value, &format!("a table [{}]", self.name(key)));
                None
            }
        }
    }

    /// The keys that are names of the user's, in the order of the file.
    pub fn names(&self) -> Vec<Text> {
        let keys = self.table.keys().map(|key| Text {
            text: key.get_ref().to_string(),
            at: key.span(),
        });
        let mut keys: Vec<_> = keys
            .filter(|key| !self.known.contains(key.text.as_str()))
            .collect();
        keys.sort_by_key(|key| key.at.start);
        keys
    }

    /// Keeps the mistake that keys have not been read.
    pub fn end(self) {
        let known: Vec<&str> = self.known.iter().copied().collect();
        for key in self.names() {
            self.document.wrong(
                &key.at,
                format!("`{}` is not known", self.name(&key.text)),
                flick_names::use_one_of(&key.text, &known),
            );
        }
    }
}

/// A text, or a number as it is written.
fn scalar(value: &Spanned<DeValue<'_>>) -> Option<Text> {
    let text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        _ => return None,
    };
    Some(Text {
        text,
        at: value.span(),
    })
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
