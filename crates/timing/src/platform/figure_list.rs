//! The figures of a platform, each with the place where it is said and the remark beside it.
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::toml_reader::{Error, Source};
use super::{included_files, with_document};
use crate::document_settings;

/// A key of a platform that has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// With dots; entries of a list have numbers.
    pub key: String,
    /// As the file has it.
    pub value: String,
    /// `file:line`, or the setting.
    pub place: String,
    /// The remark on the same line, which says where the figure comes from.
    pub remark: String,
}

/// All figures of the platform of this name, or of a part of one, in the order of their keys. It need
/// not be complete.
pub fn figures(name: &str) -> Result<Vec<Figure>, Error> {
    let (file, settings) = document_settings::of_name(name);
    let text = included_files::text_of(file)?;
    with_document(file, text, &settings, |source, document| {
        let mut all = Vec::new();
        add_table(source, document.get_ref(), "", &mut all);
        Ok(all)
    })
}

fn add_table(source: &Source<'_>, table: &DeTable<'_>, path: &str, all: &mut Vec<Figure>) {
    for (key, value) in table {
        let key = match path {
            "" => key.get_ref().to_string(),
            path => format!("{path}.{}", key.get_ref()),
        };
        add(source, key, value, all);
    }
}

fn add(source: &Source<'_>, key: String, value: &Spanned<DeValue<'_>>, all: &mut Vec<Figure>) {
    match value.get_ref() {
        DeValue::Table(table) if !table.is_empty() => add_table(source, table, &key, all),
        DeValue::Array(list) if list.iter().any(|item| item.get_ref().is_table()) => {
            for (number, item) in list.iter().enumerate() {
                add(source, format!("{key}.{number}"), item, all);
            }
        }
        _ => {
            let at = value.span();
            if let Some(setting) = source.setting(at.clone()) {
                all.push(Figure {
                    key,
                    value: setting
                        .split_once('=')
                        .map_or("", |(_, value)| value)
                        .to_owned(),
                    place: format!("--set {setting}"),
                    remark: String::new(),
                });
                return;
            }
            let line = source.line(at.clone());
            let (file, text, at) = source.place(at);
            let rest = text.get(at.end..).and_then(|rest| rest.lines().next());
            // Behind the value there may be the rest of an inline table, and then the remark.
            let remark = rest.and_then(|rest| rest.split_once('#'));
            all.push(Figure {
                key,
                value: text.get(at).unwrap_or_default().to_owned(),
                place: format!("{file}:{line}"),
                remark: remark.map_or("", |(_, remark)| remark.trim()).to_owned(),
            });
        }
    }
}
