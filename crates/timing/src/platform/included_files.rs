//! `include`: platform files that a platform file begins with. Its own keys win over theirs, and those of a
//! later one over those of an earlier one.
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::toml_reader::{Error, Part, Source};
use super::{shipped, tile_sections};

/// How deep files may include one another.
const DEEPEST: usize = 16;
/// How many files a platform may consist of.
const MOST: usize = 64;
/// Keys of a file that includes others which none of those can give it: they say what the whole is.
const OF_THE_WHOLE: [&str; 2] = ["name", "description"];

/// The files that make a platform, each behind those that it includes; the platform's own is the last.
#[derive(Default)]
pub struct Files(Vec<(String, String)>);

impl Files {
    /// Reads what `text` includes, and what that includes.
    pub fn read(file: &str, text: String, reference: &'static str) -> Result<Self, Error> {
        let mut files = Self::default();
        let mut open = Vec::new();
        files.add((file, text), &mut open, reference)?;
        Ok(files)
    }

    /// `open`: the files that include this one, the outermost first.
    fn add(
        &mut self,
        (file, text): (&str, String),
        open: &mut Vec<PathBuf>,
        reference: &'static str,
    ) -> Result<(), Error> {
        let names = {
            let source = Source::new(file, &text, reference);
            included(&source, &document(&source, &text)?)?
        };
        open.push(identity(file));
        for (name, at) in names {
            let wrong = |what: String, help: &str| {
                Source::new(file, &text, reference).error(
                    at.clone(),
                    format!("`include`: \"{name}\": {what}"),
                    help,
                )
            };
            let path = place_of(file, &name);
            let this = identity(&path);
            if let Some(from) = open.iter().position(|one| *one == this) {
                let way = open[from..].iter().chain([&this]);
                let way: Vec<_> = way.map(|one| one.display().to_string()).collect();
                let what = format!("a file includes itself: {}", way.join(" includes "));
                return Err(wrong(what, "take it out of one of these files"));
            }
            if open.len() >= DEEPEST {
                let what = format!("files include one another more than {DEEPEST} deep");
                return Err(wrong(what, "include its files directly"));
            }
            if self.0.len() + open.len() >= MOST {
                let what = format!("the platform has more than {MOST} files");
                return Err(wrong(what, "put some of them together"));
            }
            let text = text_of(&path).map_err(|error| wrong(error.what, &error.help))?;
            self.add((&path, text), open, reference)?;
        }
        open.pop();
        self.0.push((file.to_owned(), text));
        Ok(())
    }

    /// The platform's own file.
    fn whole(&self) -> (&str, &str) {
        self.0.last().map_or(("", ""), |(file, text)| (file, text))
    }

    /// For messages about the document of all of them.
    pub fn source<'a>(&'a self, reference: &'static str, settings: &'a [String]) -> Source<'a> {
        let (file, text) = self.whole();
        let source = Source::new(file, text, reference).with_settings(settings);
        let others = self.0.split_last().map_or(&[][..], |(_, others)| others);
        let others = others.iter().map(|(file, text)| (&**file, &**text));
        source.with_parts(others)
    }

    /// The document of all of them.
    pub fn document<'a>(&'a self, source: &Source<'a>) -> Result<Spanned<DeTable<'a>>, Error> {
        let mut all = DeTable::new();
        for Part { text, start, .. } in source.parts() {
            let mut one = document(source, text)?.into_inner();
            for key in OF_THE_WHOLE.into_iter().chain(["include"]) {
                one.remove(key);
            }
            tile_sections::put(&mut all, &shifted_table(one, *start));
        }
        let own = document(source, self.whole().1)?;
        let span = own.span();
        let mut own = own.into_inner();
        own.remove("include");
        tile_sections::put(&mut all, &own);
        Ok(Spanned::new(span, all))
    }
}

/// The text of a shipped platform, or of a file. A name that contains a `/` or ends with `.toml` is a path.
pub fn text_of(name: &str) -> Result<String, Error> {
    if !is_path(name) {
        let text = shipped::text(name).ok_or_else(|| Error {
            file: name.to_owned(),
            line: 0,
            what: "no platform of this name is shipped with Flick".to_owned(),
            help: flick_names::use_one_of(name, &shipped::names())
                + "; or give the path of a file (./my.toml)",
        })?;
        return Ok(text.to_owned());
    }
    std::fs::read_to_string(Path::new(name)).map_err(|error| Error {
        file: name.to_owned(),
        line: 0,
        what: format!("the platform file cannot be read: {error}"),
        help: format!(
            "give a TOML file, or one of: {}",
            shipped::names().join(", ")
        ),
    })
}

fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

/// What `file` means by the name of another one: a shipped platform, or a file by its path from `file`. A
/// shipped platform's are shipped.
fn place_of(file: &str, name: &str) -> String {
    if !is_path(name) {
        return name.to_owned();
    }
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    folder.join(name).to_string_lossy().into_owned()
}

/// The same for all names of a file.
fn identity(file: &str) -> PathBuf {
    match is_path(file) {
        true => std::fs::canonicalize(file).unwrap_or_else(|_| file.into()),
        false => file.into(),
    }
}

fn document<'a>(source: &Source<'_>, text: &'a str) -> Result<Spanned<DeTable<'a>>, Error> {
    DeTable::parse(text).map_err(|error| {
        source.error(
            error.span().unwrap_or(0..0),
            format!("not TOML: {}", error.message()),
            "correct it (https://toml.io)",
        )
    })
}

/// What a document says in `include`, and where.
fn included(
    source: &Source<'_>,
    document: &Spanned<DeTable<'_>>,
) -> Result<Vec<(String, Range<usize>)>, Error> {
    let Some(value) = document.get_ref().get("include") else {
        return Ok(Vec::new());
    };
    let one = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
        DeValue::String(name) => Ok((name.to_string(), value.span())),
        _ => Err(source.error(
            value.span(),
            "`include`: it is no list of names",
            "use a list such as [\"near-memory\", \"./host.toml\"]",
        )),
    };
    match value.get_ref() {
        DeValue::Array(list) => list.iter().map(one).collect(),
        // As in machine files.
        _ => Ok(vec![one(value)?]),
    }
}

/// The table with all positions so much further behind.
fn shifted_table(table: DeTable<'_>, by: usize) -> DeTable<'_> {
    let entries = table.into_iter().map(|(key, value)| {
        let span = key.span();
        let key: Cow<'_, str> = key.into_inner();
        let key = Spanned::new(span.start + by..span.end + by, key);
        (key, shifted(value, by))
    });
    entries.collect()
}

fn shifted(value: Spanned<DeValue<'_>>, by: usize) -> Spanned<DeValue<'_>> {
    let span = value.span();
    let value = match value.into_inner() {
        DeValue::Array(list) => {
            DeValue::Array(list.into_iter().map(|item| shifted(item, by)).collect())
        }
        DeValue::Table(table) => DeValue::Table(shifted_table(table, by)),
        other => other,
    };
    Spanned::new(span.start + by..span.end + by, value)
}
