//! `[tile.NAME]`: the cores of a card's tile, where they are not those of `[nxp]`.
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::core_model::{self, Core, REGIONS};
use super::toml_reader::{Error, Table};

/// What `[nxp]` and the section of a tile say together.
pub struct Section<'a> {
    name: String,
    /// The section's own keys win.
    whole: Spanned<DeTable<'a>>,
    /// Whether the section names the tile as another one.
    names_itself: bool,
}

fn table<'t, 'a>(within: &'t DeTable<'a>, key: &str) -> Option<&'t DeTable<'a>> {
    match within.get(key)?.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// All sections of a document.
pub fn of_document<'a>(document: &DeTable<'a>) -> Vec<Section<'a>> {
    let mut sections = Vec::new();
    for (key, value) in table(document, "tile").into_iter().flatten() {
        let DeValue::Table(own) = value.get_ref() else {
            continue;
        };
        let name = key.get_ref().to_string();
        let mut whole = table(document, "nxp").cloned().unwrap_or_default();
        // A machine says how many harts it has.
        whole.remove("cores");
        put(&mut whole, own);
        let others = table(own, "memory").and_then(|memory| table(memory, "tile"));
        sections.push(Section {
            names_itself: others.is_some_and(|others| others.contains_key(name.as_str())),
            name,
            whole: Spanned::new(value.span(), whole),
        });
    }
    sections
}

/// Puts all values into a table, and those of its tables into the tables that are there. What both have
/// gets the position in `values`.
pub(super) fn put<'a>(into: &mut DeTable<'a>, values: &DeTable<'a>) {
    for (key, value) in values {
        let mut value = value.clone();
        let there = into.remove(key.get_ref().as_ref());
        if let (Some(DeValue::Table(mut there)), DeValue::Table(own)) =
            (there.map(Spanned::into_inner), value.get_ref())
        {
            put(&mut there, own);
            value = Spanned::new(value.span(), DeValue::Table(there));
        }
        into.insert(key.clone(), value);
    }
}

/// Reads them, for the document's table `root`.
pub fn read<'a>(
    root: &mut Table<'a>,
    sections: &'a [Section<'a>],
    page: &[u32; REGIONS.len()],
) -> Result<Vec<(String, Core)>, Error> {
    if let Some(mut all) = root.table_if("tile")? {
        // Each is a table.
        all.entries()?;
    }
    let mut cores = Vec::new();
    for section in sections {
        let table = root.of_parts(format!("tile.{}", section.name), &section.whole);
        if section.names_itself {
            let key = format!("memory.tile.{}", section.name);
            let help = "use `memory.nxp`, or name another tile";
            return Err(table.error(&key, "this is the tile's own memory", help));
        }
        cores.push((section.name.clone(), core_model::nxp(table, page)?));
    }
    Ok(cores)
}
