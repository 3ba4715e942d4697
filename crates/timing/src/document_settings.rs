//! `--set KEY=VALUE`, and settings behind the name of a machine or platform: changes a document before it is read, so that a wrong key or value is found by
//! the reader, with its message. A key is a path with dots. In a list a number, a name or `*` chooses;
//! with one item it can be left away.
use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::platform::toml_reader::{Error, Source};

/// What is wrong, and what to do.
type Wrong = (String, String);

/// The name of a machine or platform, or its file, and the settings behind it: `NAME,KEY=VALUE,KEY=VALUE`.
pub fn of_name(name: &str) -> (&str, Vec<String>) {
    let mut parts = name.split(',');
    let first = parts.next().unwrap_or_default();
    (first, parts.map(str::to_owned).collect())
}

/// The values of settings, as documents of one key.
pub fn values(settings: &[String]) -> Vec<String> {
    let document = |setting: &String| {
        let (_, value) = setting.split_once('=').unwrap_or_default();
        let value = value.trim();
        let document = format!("value = {value}");
        // What is no TOML is a text. So quantities need no quotes.
        match DeTable::parse(&document) {
            Ok(table) if table.get_ref().len() == 1 => document,
            _ => format!("value = {}", quoted(value)),
        }
    };
    settings.iter().map(document).collect()
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\u{:04x}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Puts all settings into the document, which was parsed from `text`; `values` is from [`values`].
pub fn apply_all<'a>(
    source: &Source<'_>,
    text: &str,
    (settings, values): (&[String], &'a [String]),
    document: &mut Spanned<DeTable<'a>>,
) -> Result<(), Error> {
    for (number, setting) in settings.iter().enumerate() {
        let at = Source::position_of_setting(text, number);
        let value = values.get(number).map_or("", String::as_str);
        apply(document.get_mut(), setting, value, at.clone())
            .map_err(|(what, help)| source.error(at, what, help))?;
    }
    Ok(())
}

/// Puts the value of `setting` into the document; `value` is from [`values`]. All of it gets the
/// position `at`.
pub fn apply<'a>(
    document: &mut DeTable<'a>,
    setting: &str,
    value: &'a str,
    at: Range<usize>,
) -> Result<(), Wrong> {
    let wrong = |what: &str, help: &str| (what.to_owned(), help.to_owned());
    let Some((key, text)) = setting.split_once('=') else {
        return Err(wrong("it has no =", "write KEY=VALUE, such as harts=4"));
    };
    let key = key.trim();
    let parse = |text: &'a str| {
        let mut table = DeTable::parse(text).ok()?.into_inner();
        Some(moved(table.remove("value")?.into_inner(), &at))
    };
    let value = parse(value).ok_or_else(|| wrong("it has no value", "write KEY=VALUE"))?;
    match key {
        "harts" => {
            let (tile, groups) = first_with(document, "hart").ok_or_else(no_harts)?;
            if groups > 1 {
                return Err((
                    format!("the harts are in {groups} groups"),
                    format!("name one: tile.{tile}.hart.0.count={}", text.trim()),
                ));
            }
            let tile = tile.to_string();
            let path = ["tile", &*tile, "hart", "0", "count"];
            put(document, &path, value, &at, &mut String::new())
        }
        "memory" => {
            let (tile, _) = first_with(document, "hart").ok_or_else(no_harts)?;
            let memory = main_memory(document, tile)
                .ok_or_else(|| wrong("the machine has no main memory", "add [[tile.memory]]"))?;
            let (tile, memory) = (tile.to_string(), memory.to_string());
            let value = match value.into_inner() {
                DeValue::String(text) => DeValue::String(Cow::Owned(with_unit(&text))),
                // A number of bytes.
                DeValue::Integer(number) if number.radix() == 10 => {
                    DeValue::String(Cow::Owned(format!("{} B", number.as_str())))
                }
                other => other,
            };
            let value = Spanned::new(at.clone(), value);
            let path = ["tile", &*tile, "memory", &*memory, "size"];
            put(document, &path, value, &at, &mut String::new())
        }
        "isa" => {
            let tiles = list(document, "tile").map_or(0, <[_]>::len);
            for tile in 0..tiles {
                if length(document, tile, "hart") != 0 {
                    let tile = tile.to_string();
                    let path = ["tile", &*tile, "hart", "*", "isa"];
                    put(document, &path, value.clone(), &at, &mut String::new())?;
                }
            }
            Ok(())
        }
        _ => {
            let path: Vec<&str> = key.split('.').collect();
            match path.iter().any(|word| word.is_empty()) {
                true => Err(wrong("a part of the key is empty", "write a.b=VALUE")),
                false => put(document, &path, value, &at, &mut String::new()),
            }
        }
    }
}

fn no_harts() -> Wrong {
    let help = "use the key of what the file has; `flick machine show` draws it";
    ("the machine has no harts".to_owned(), help.to_owned())
}

/// `512M` of QEMU's option is `512 MiB`.
fn with_unit(size: &str) -> String {
    match size.strip_suffix(['K', 'M', 'G']) {
        Some(number) => format!("{number} {}iB", &size[number.len()..]),
        None => size.to_owned(),
    }
}

fn list<'d, 'a>(table: &'d DeTable<'a>, key: &str) -> Option<&'d [Spanned<DeValue<'a>>]> {
    match table.get(key)?.get_ref() {
        DeValue::Array(list) => Some(list),
        _ => None,
    }
}

fn tile<'d, 'a>(document: &'d DeTable<'a>, number: usize) -> Option<&'d DeTable<'a>> {
    match list(document, "tile")?.get(number)?.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn length(document: &DeTable<'_>, number: usize, key: &str) -> usize {
    let list = tile(document, number).and_then(|tile| list(tile, key));
    list.map_or(0, <[_]>::len)
}

/// The first tile that has entries of this key, and how many.
fn first_with(document: &DeTable<'_>, key: &str) -> Option<(usize, usize)> {
    let tiles = list(document, "tile")?.len();
    let mut all = (0..tiles).map(|number| (number, length(document, number, key)));
    all.find(|(_, entries)| *entries != 0)
}

/// The first memory of a tile that is main memory.
fn main_memory(document: &DeTable<'_>, number: usize) -> Option<usize> {
    let memories = list(tile(document, number)?, "memory")?;
    memories.iter().position(|memory| match memory.get_ref() {
        DeValue::Table(table) => table
            .get("use")
            .is_none_or(|usage| matches!(usage.get_ref(), DeValue::String(text) if text == "main")),
        _ => false,
    })
}

/// The value with this position in all its parts.
fn moved<'a>(value: DeValue<'a>, at: &Range<usize>) -> Spanned<DeValue<'a>> {
    let value = match value {
        DeValue::Array(list) => DeValue::Array(
            list.into_iter()
                .map(|item| moved(item.into_inner(), at))
                .collect(),
        ),
        DeValue::Table(table) => DeValue::Table(
            table
                .into_iter()
                .map(|(key, value)| {
                    let key = Spanned::new(at.clone(), key.into_inner());
                    (key, moved(value.into_inner(), at))
                })
                .collect(),
        ),
        other => other,
    };
    Spanned::new(at.clone(), value)
}

/// `done`: the path to `table`.
fn put<'a>(
    table: &mut DeTable<'a>,
    path: &[&str],
    value: Spanned<DeValue<'a>>,
    at: &Range<usize>,
    done: &mut String,
) -> Result<(), Wrong> {
    let Some((&word, rest)) = path.split_first() else {
        return Err((
            format!("`{done}` is a table"),
            "name a key of it".to_owned(),
        ));
    };
    if !done.is_empty() {
        done.push('.');
    }
    done.push_str(word);
    let key = Spanned::new(at.clone(), Cow::Owned(word.to_owned()));
    if rest.is_empty() {
        if let Some(DeValue::Array(_) | DeValue::Table(_)) = table.get(word).map(Spanned::get_ref)
            && !matches!(value.get_ref(), DeValue::Array(_) | DeValue::Table(_))
        {
            return Err((
                format!("`{done}` is no single value"),
                format!("name a key of it: {done}.KEY=VALUE"),
            ));
        }
        table.insert(key, value);
        return Ok(());
    }
    if table.get(word).is_none() {
        // The reader says whether there is a table of this name.
        let empty = DeValue::Table(DeTable::new());
        table.insert(key, Spanned::new(at.clone(), empty));
    }
    match table.get_mut(word) {
        Some(inner) => put_in(inner.get_mut(), rest, value, at, done),
        None => Ok(()),
    }
}

fn put_in<'a>(
    inner: &mut DeValue<'a>,
    path: &[&str],
    value: Spanned<DeValue<'a>>,
    at: &Range<usize>,
    done: &mut String,
) -> Result<(), Wrong> {
    let list = match inner {
        DeValue::Table(table) => return put(table, path, value, at, done),
        DeValue::Array(list) => list,
        _ => {
            return Err((
                format!("`{done}` is a single value"),
                "leave the rest of the key away".to_owned(),
            ));
        }
    };
    let (&word, rest) = path.split_first().unwrap_or((&"", &[]));
    let name = |item: &Spanned<DeValue>| match item.get_ref() {
        DeValue::Table(table) => match table.get("name").map(Spanned::get_ref) {
            Some(DeValue::String(name)) => Some(name.to_string()),
            _ => None,
        },
        _ => None,
    };
    let names: Vec<Option<String>> = list.iter().map(name).collect();
    let named = names.iter().position(|name| name.as_deref() == Some(word));
    let number = named.or_else(|| word.parse().ok());
    let (chosen, rest) = match number {
        _ if word == "*" => (0..list.len(), rest),
        Some(number) if number < list.len() => (number..number + 1, rest),
        None if list.len() == 1 => (0..1, path),
        _ => {
            let mut known: Vec<String> = names.iter().flatten().cloned().collect();
            if known.len() < list.len() {
                known = (0..list.len()).map(|number| number.to_string()).collect();
            }
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return Err((
                format!("`{done}` has no item {word}"),
                flick_names::use_one_of(word, &known) + "; or * for all",
            ));
        }
    };
    if chosen.is_empty() {
        return Err((format!("`{done}` has no items"), "name another".to_owned()));
    }
    for item in chosen {
        let mut done = format!("{done}.{word}");
        if let Some(item) = list.get_mut(item) {
            put_in(item.get_mut(), rest, value.clone(), at, &mut done)?;
        }
    }
    Ok(())
}
