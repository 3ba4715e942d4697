//! Reads a TOML document key by key, with messages that name file, line, key, unit and range.
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::quantity::Dimension;

mod toml_values;

/// A platform file cannot be used (FLK0111).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what}", self.place())]
pub struct Error {
    /// Path of the file, or the name of a shipped platform.
    pub file: String,
    /// From 1; 0: the file as a whole.
    pub line: usize,
    /// Key, reason.
    pub what: String,
    /// What to do next.
    pub help: String,
}

impl Error {
    /// `file:line`.
    pub fn place(&self) -> String {
        match self.line {
            0 => self.file.clone(),
            line => format!("{}:{line}", self.file),
        }
    }
}

/// The text of a file, for positions.
pub struct Source<'a> {
    file: &'a str,
    text: &'a str,
    /// The keys that the document lacks. One message names them all.
    missing: RefCell<Vec<Missing>>,
    /// The page that explains the keys.
    reference: &'static str,
    /// What `--set` has put into the document: each has the position behind the text that
    /// [`Source::position_of_setting`] gives it.
    settings: &'a [String],
    /// Further files that the document was made of, whose positions are behind those of settings.
    parts: Vec<Part<'a>>,
}

/// A further file of a document.
pub struct Part<'a> {
    pub file: &'a str,
    pub text: &'a str,
    /// The position of its first byte.
    pub start: usize,
}

/// A key that a document must have.
struct Missing {
    at: Range<usize>,
    /// The table's, with dots; empty for the document.
    path: String,
    key: &'static str,
    wanted: String,
}

impl<'a> Source<'a> {
    pub fn new(file: &'a str, text: &'a str, reference: &'static str) -> Self {
        Self {
            file,
            text,
            missing: RefCell::default(),
            reference,
            settings: &[],
            parts: Vec::new(),
        }
    }

    /// The same, for a document that was changed by settings `KEY=VALUE`.
    pub fn with_settings(self, settings: &'a [String]) -> Self {
        Self { settings, ..self }
    }

    /// The same, for a document with values of these files and texts, too; after
    /// [`Source::with_settings`].
    pub fn with_parts(mut self, parts: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut start = Self::position_of_setting(self.text, self.settings.len()).end;
        for (file, text) in parts {
            self.parts.push(Part { file, text, start });
            start += text.len() + 1;
        }
        self
    }

    /// The text of the document's own file.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The further files.
    pub fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    /// The file of a position, its text, and the position there.
    pub fn place(&self, at: Range<usize>) -> (&'a str, &'a str, Range<usize>) {
        let part = self.parts.iter().rev().find(|part| part.start <= at.start);
        match part {
            Some(part) => (
                part.file,
                part.text,
                at.start - part.start..at.end - part.start,
            ),
            None => (self.file, self.text, at),
        }
    }

    /// The setting that has put a value at a position.
    pub fn setting(&self, at: Range<usize>) -> Option<&'a String> {
        self.settings
            .get(at.start.checked_sub(self.text.len() + 1)?)
    }

    /// The position of what the setting of this number has put into the document.
    pub fn position_of_setting(text: &str, number: usize) -> Range<usize> {
        let at = text.len() + 1 + number;
        at..at
    }

    /// Fails if a required key was missing.
    pub fn complete(&self) -> Result<(), Error> {
        let missing = self.missing.borrow();
        let Some(first) = missing.first() else {
            return Ok(());
        };
        if let [one] = missing.as_slice() {
            return Err(self.error(
                one.at.clone(),
                format!("`{}` is missing", dotted(&one.path, one.key)),
                format!("add it: {}", one.wanted),
            ));
        }
        let mut help = format!("add them ({} says what they mean)", self.reference);
        let mut last = None;
        for key in missing.iter() {
            let like = (&key.path, &key.wanted);
            if last == Some(like) {
                help += &format!(", {}", key.key);
            } else {
                let table = match key.path.as_str() {
                    "" => String::new(),
                    path => format!("[{path}] "),
                };
                // The last table's text is completed below.
                help += &last.map_or(String::new(), |(_, wanted)| format!(": {wanted}"));
                help += &format!("\n  {table}{}", key.key);
            }
            last = Some(like);
        }
        help += &last.map_or(String::new(), |(_, wanted)| format!(": {wanted}"));
        Err(self.error(
            first.at.clone(),
            format!("{} required keys are missing", missing.len()),
            help,
        ))
    }

    pub fn error(
        &self,
        at: Range<usize>,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Error {
        let setting = self.setting(at.clone());
        let (file, _, _) = self.place(at.clone());
        Error {
            file: setting.map_or(file.to_owned(), |setting| format!("--set {setting}")),
            line: self.line(at),
            what: what.into(),
            help: help.into(),
        }
    }

    /// The line of a position; 0 for one of a setting.
    pub fn line(&self, at: Range<usize>) -> usize {
        if self.setting(at.clone()).is_some() {
            return 0;
        }
        let (_, text, at) = self.place(at);
        let before = text.get(..at.start).unwrap_or(text);
        before.matches('\n').count() + 1
    }
}

fn dotted(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// A table of the document. A key that the program has not read is a mistake, which [`Table::end`]
/// reports. A required key that is missing reads as some value, and [`Source::complete`] reports
/// the key.
pub struct Table<'a> {
    source: &'a Source<'a>,
    /// `None`: the document lacks it.
    table: Option<&'a DeTable<'a>>,
    span: Range<usize>,
    /// The keys that lead here, with dots; empty for the document.
    path: String,
    known: BTreeSet<&'static str>,
    lacks: bool,
}

impl<'a> Table<'a> {
    pub fn of_document(source: &'a Source<'a>, document: &'a Spanned<DeTable<'a>>) -> Self {
        Self {
            source,
            table: Some(document.get_ref()),
            span: document.span(),
            path: String::new(),
            known: BTreeSet::new(),
            lacks: false,
        }
    }

    /// A table that was made of parts of the document, of which messages speak by this path.
    pub fn of_parts(&self, path: String, table: &'a Spanned<DeTable<'a>>) -> Self {
        Self {
            table: Some(table.get_ref()),
            path,
            ..self.absent("", table.span())
        }
    }

    fn name(&self, key: &str) -> String {
        dotted(&self.path, key)
    }

    fn get(&mut self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.insert(key);
        self.table?.get(key)
    }

    /// The value of a key that must be there.
    fn required(&mut self, key: &'static str, wanted: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        let value = self.get(key);
        if value.is_none() {
            self.lacks = true;
            self.source.missing.borrow_mut().push(Missing {
                at: self.span.clone(),
                path: self.path.clone(),
                key,
                wanted: wanted.to_owned(),
            });
        }
        value
    }

    /// The path of the file, or the name of a shipped one.
    pub fn file(&self) -> &'a str {
        self.source.file
    }

    /// Whether a required key was missing, so that its value means nothing.
    pub fn lacks(&self) -> bool {
        self.lacks
    }

    fn wrong(&self, key: &str, value: &Spanned<DeValue<'_>>, why: &str, wanted: &str) -> Error {
        self.source.error(
            value.span(),
            format!("`{}`: {why}", self.name(key)),
            format!("use {wanted}"),
        )
    }

    /// A mistake in the value of `key` that its reader has found.
    pub fn error(&self, key: &str, why: &str, help: &str) -> Error {
        let span = self
            .table
            .and_then(|table| table.get(key))
            .map_or(self.span.clone(), |value| value.span());
        let what = if key.is_empty() {
            format!("`{}`: {why}", self.path)
        } else {
            format!("`{}`: {why}", self.name(key))
        };
        self.source.error(span, what, help)
    }

    pub fn has(&self, key: &str) -> bool {
        self.table.is_some_and(|table| table.contains_key(key))
    }

    pub fn text(&mut self, key: &'static str) -> Result<String, Error> {
        let wanted = "a text in quotes";
        let Some(value) = self.required(key, wanted) else {
            return Ok(String::new());
        };
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => {
                let why = format!("it is {}", kind(other));
                Err(self.wrong(key, value, &why, wanted))
            }
        }
    }

    /// In the base unit of `dimension`.
    pub fn quantity(&mut self, key: &'static str, dimension: &Dimension) -> Result<f64, Error> {
        let wanted = dimension.to_string();
        let Some(value) = self.required(key, &wanted) else {
            return Ok(1.0);
        };
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            // A bare 0 needs no unit.
            DeValue::Integer(number)
                if number.as_str() == "0" && dimension.parse("0 ns").is_ok() =>
            {
                return Ok(0.0);
            }
            DeValue::Integer(number) => {
                let why = format!("{} has no unit", number.as_str());
                return Err(self.wrong(key, value, &why, &wanted));
            }
            DeValue::Float(number) => {
                let why = format!("{} has no unit", number.as_str());
                return Err(self.wrong(key, value, &why, &wanted));
            }
            other => {
                let why = format!("it is {}", kind(other));
                return Err(self.wrong(key, value, &why, &wanted));
            }
        };
        dimension
            .parse(&text)
            .map_err(|wrong| self.wrong(key, value, &dimension.explain(wrong, &text), &wanted))
    }

    pub fn quantity_or(
        &mut self,
        key: &'static str,
        dimension: &Dimension,
        default: f64,
    ) -> Result<f64, Error> {
        self.known.insert(key);
        if self.has(key) {
            self.quantity(key, dimension)
        } else {
            Ok(default)
        }
    }

    /// A number without a unit, in `range`, both ends included.
    pub fn number(&mut self, key: &'static str, range: (f64, f64)) -> Result<f64, Error> {
        let wanted = format!("a number from {} to {}", range.0, range.1);
        let Some(value) = self.required(key, &wanted) else {
            return Ok(range.0);
        };
        let number = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => {
                number.as_str().replace('_', "").parse().ok()
            }
            DeValue::Float(number) => number.as_str().replace('_', "").parse().ok(),
            _ => None,
        };
        match number {
            Some(number) if number >= range.0 && number <= range.1 => Ok(number),
            Some(number) => {
                let why = format!("{number} is not in the range {} to {}", range.0, range.1);
                Err(self.wrong(key, value, &why, &wanted))
            }
            None => {
                let why = format!("it is {}", kind(value.get_ref()));
                Err(self.wrong(key, value, &why, &wanted))
            }
        }
    }

    pub fn number_or(
        &mut self,
        key: &'static str,
        range: (f64, f64),
        default: f64,
    ) -> Result<f64, Error> {
        self.known.insert(key);
        if self.has(key) {
            self.number(key, range)
        } else {
            Ok(default)
        }
    }

    /// A whole number in `range`, both ends included.
    pub fn count(&mut self, key: &'static str, range: (u64, u64)) -> Result<u64, Error> {
        let number = self.number(key, (range.0 as f64, range.1 as f64))?;
        if number.fract() != 0.0 {
            return Err(self.error(
                key,
                &format!("{number} is not a whole number"),
                &format!("use a whole number from {} to {}", range.0, range.1),
            ));
        }
        Ok(number as u64)
    }

    pub fn count_or(
        &mut self,
        key: &'static str,
        range: (u64, u64),
        default: u64,
    ) -> Result<u64, Error> {
        self.known.insert(key);
        if self.has(key) {
            self.count(key, range)
        } else {
            Ok(default)
        }
    }

    /// One of some words: its index.
    pub fn choice_or(
        &mut self,
        key: &'static str,
        words: &[&str],
        default: usize,
    ) -> Result<usize, Error> {
        self.known.insert(key);
        if !self.has(key) {
            return Ok(default);
        }
        let word = self.text(key)?;
        words
            .iter()
            .position(|known| *known == word)
            .ok_or_else(|| {
                self.error(
                    key,
                    &format!("\"{word}\" is not known"),
                    &flick_names::use_one_of(&word, words),
                )
            })
    }

    /// Words of a list: their indices.
    pub fn choices(&mut self, key: &'static str, words: &[&str]) -> Result<Vec<usize>, Error> {
        let wanted = format!("a list of {}", words.join(", "));
        let Some(value) = self.required(key, &wanted) else {
            return Ok(Vec::new());
        };
        let DeValue::Array(list) = value.get_ref() else {
            let why = format!("it is {}", kind(value.get_ref()));
            return Err(self.wrong(key, value, &why, &wanted));
        };
        let mut found = Vec::new();
        for item in list.iter() {
            let word = match item.get_ref() {
                DeValue::String(word) => word.to_string(),
                other => kind(other).to_owned(),
            };
            let Some(index) = words.iter().position(|known| *known == word) else {
                let why = format!("\"{word}\" is not known");
                let help = flick_names::use_one_of(&word, words);
                return Err(self.source.error(
                    item.span(),
                    format!("`{}`: {why}", self.name(key)),
                    help,
                ));
            };
            found.push(index);
        }
        Ok(found)
    }

    fn sub(&self, key: &str, value: &'a Spanned<DeValue<'a>>) -> Result<Table<'a>, Error> {
        let DeValue::Table(table) = value.get_ref() else {
            let why = format!("it is {}", kind(value.get_ref()));
            return Err(self.wrong(key, value, &why, "a table"));
        };
        Ok(Table {
            table: Some(table),
            ..self.absent(key, value.span())
        })
    }

    /// Returns a table in which every key is missing.
    fn absent(&self, key: &str, span: Range<usize>) -> Table<'a> {
        Table {
            source: self.source,
            table: None,
            span,
            path: self.name(key),
            known: BTreeSet::new(),
            lacks: false,
        }
    }

    /// A required table: with those of its keys that are required.
    pub fn table(&mut self, key: &'static str) -> Result<Table<'a>, Error> {
        match self.get(key) {
            Some(value) => self.sub(key, value),
            None => Ok(self.absent(key, self.span.clone())),
        }
    }

    /// A table that must be there even if it is empty.
    pub fn table_even_empty(&mut self, key: &'static str) -> Result<Table<'a>, Error> {
        self.required(key, "a table, which may be empty");
        self.table(key)
    }

    pub fn table_if(&mut self, key: &'static str) -> Result<Option<Table<'a>>, Error> {
        match self.get(key) {
            Some(value) => self.sub(key, value).map(Some),
            None => Ok(None),
        }
    }

    /// `[[key]]`, none or more.
    pub fn tables(&mut self, key: &'static str) -> Result<Vec<Table<'a>>, Error> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Array(list) = value.get_ref() else {
            let why = format!("it is {}", kind(value.get_ref()));
            let wanted = format!("[[{}]]", self.name(key));
            return Err(self.wrong(key, value, &why, &wanted));
        };
        list.iter().map(|item| self.sub(key, item)).collect()
    }

    /// All keys with their values as tables, for tables whose keys are names.
    pub fn entries(&mut self) -> Result<Vec<(String, Table<'a>)>, Error> {
        let mut all = Vec::new();
        for (key, value) in self.table.into_iter().flatten() {
            all.push((key.get_ref().to_string(), self.sub(key.get_ref(), value)?));
        }
        Ok(all)
    }

    /// Fails if the table has a key that was not read.
    pub fn end(self) -> Result<(), Error> {
        for (key, _) in self.table.into_iter().flatten() {
            let word: &str = key.get_ref();
            if !self.known.contains(word) {
                let known: Vec<&str> = self.known.iter().copied().collect();
                return Err(self.source.error(
                    key.span(),
                    format!("`{}` is not known", self.name(word)),
                    flick_names::use_one_of(word, &known),
                ));
            }
        }
        Ok(())
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
