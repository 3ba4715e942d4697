//! After the link: inline functions that are placed in one unit and not in another. The host linker
//! keeps one of the two; if that is the one without a gate, host code never migrates there, though
//! the program is right.
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use flick_abi::names::HOST_CLONE_PREFIX;
use flick_diagnostics::Code;
use flick_image::Placements;
use flick_image::elf_kind::read_file;
use flick_image::place_lines::Placed;
use flick_names::demangled;
use object::{Object, ObjectSymbol};

use crate::line::Line;
use crate::link_inputs::each_own_object;
use crate::search::LinkInput;
use crate::{Error, Result};

/// Words that make the linker drop the symbols by which this is seen.
const STRIPS: [&str; 4] = ["-s", "--strip-all", "-x", "--discard-all"];

/// The FLK0309 that the output deserves. `unstripped` links again with the words that it gets, and
/// says where the output is.
pub fn check(
    line: &Line,
    files: &[LinkInput],
    unstripped: impl FnOnce(&dyn Fn(&OsString) -> bool) -> Result<Option<PathBuf>>,
) -> Result<Option<Error>> {
    let output = if !line.has(&STRIPS) {
        line.output().map(PathBuf::from)
    } else if is_possible(files)? {
        unstripped(&|word| !STRIPS.iter().any(|strip| word == strip))?
    } else {
        None
    };
    let Some(output) = output else {
        return Ok(None);
    };
    let ungated = of_output(&output)?;
    if ungated.is_empty() {
        return Ok(None);
    }
    // Where each is host code alone; a static function of that name is another function.
    let mut kept = BTreeMap::new();
    each_own_object(files, |file, place| {
        for name in host_only(file, &ungated)? {
            kept.entry(name).or_insert_with(|| place.to_owned());
        }
        Ok(())
    })?;
    let Some((name, place)) = kept.first_key_value() else {
        return Ok(None);
    };
    let placed = &ungated[name];
    let others = match kept.len() - 1 {
        0 => String::new(),
        1 => " (and one more function)".to_owned(),
        n => format!(" (and {n} more functions)"),
    };
    let name = demangled(name);
    Ok(Some(Error::new(
        Code::InconsistentInline,
        "an inline function is placed on the NxP in one unit and not in another",
        place.as_str(),
        format!(
            "the linker has kept the other unit's '{name}', so that host code does not migrate there; \
             {placed} places it{others}"
        ),
        "compile every unit that uses it with flick, the same marks and the same placement files",
    )))
}

/// Whether a function that one object places on the NxP is host code in another one.
fn is_possible(files: &[LinkInput]) -> Result<bool> {
    let (mut placed, mut host) = (BTreeSet::new(), BTreeSet::new());
    each_own_object(files, |file, _| {
        let here: BTreeSet<String> = placed_in(file)?.map(|row| row.function).collect();
        let weak = file.symbols().filter(|s| s.is_weak() && s.is_definition());
        let weak = weak.filter_map(|s| s.name().ok().map(str::to_owned));
        host.extend(weak.filter(|name| !here.contains(name)));
        placed.extend(here);
        Ok(())
    })?;
    Ok(!placed.is_disjoint(&host))
}

/// Rows of functions that a file's units place on the NxP.
fn placed_in(file: &object::File) -> Result<impl Iterator<Item = Placed> + use<>> {
    let rows = Placements::of_file(file)?.functions.into_iter();
    Ok(rows.filter(|row| row.placement == "nxp"))
}

/// Functions that have a definition and no host clone, though a unit of the output places them on
/// the NxP; with the unit.
fn of_output(path: &Path) -> Result<BTreeMap<String, String>> {
    let data = read_file(path)?;
    // A linker that makes something else speaks for itself.
    let Ok(file) = object::File::parse(&*data) else {
        return Ok(BTreeMap::new());
    };
    let mut placed: BTreeMap<String, String> = placed_in(&file)?
        .map(|row| (row.function, row.unit))
        .collect();
    let mut defined = BTreeSet::new();
    for symbol in file.symbols().filter(|symbol| symbol.is_definition()) {
        let Ok(name) = symbol.name() else { continue };
        match name.strip_prefix(HOST_CLONE_PREFIX) {
            Some(function) => drop(placed.remove(flick_names::plain(function))),
            None if placed.contains_key(name) => drop(defined.insert(name.to_owned())),
            None => {}
        }
    }
    placed.retain(|name, _| defined.contains(name));
    Ok(placed)
}

/// Those of `names` that an object has in a form that others may replace, and as host code alone.
fn host_only(file: &object::File, names: &BTreeMap<String, String>) -> Result<BTreeSet<String>> {
    let mut found: BTreeSet<String> = file
        .symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_weak())
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| names.contains_key(*name))
        .map(str::to_owned)
        .collect();
    if !found.is_empty() {
        for row in placed_in(file)? {
            found.remove(&row.function);
        }
    }
    Ok(found)
}
