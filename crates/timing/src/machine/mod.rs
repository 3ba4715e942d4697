//! Machines: descriptions of simulated machines in TOML (`docs/machine-files.md` is the reference of
//! their keys). The reader, units and messages are those of platform files.
//!
//! | file | subject |
//! |---|---|
//! | `machine_parts.rs` | [`Machine`] and what it consists of |
//! | `core_reader.rs` | models of cores, caches, TLBs |
//! | `tile_reader.rs` | tiles with harts, memories and what else they have |
//! | `device_entries.rs` | devices |
//! | `link_reader.rs` | links |
//! | `whole_checks.rs` | what is wrong between entries that are right by themselves |
//! | `missing_parts.rs` | entries whose behaviour this version lacks |
//! | `shipped_machines.rs` | the files in `machines/` |
mod core_reader;
mod device_entries;
mod link_reader;
mod machine_parts;
#[cfg(test)]
mod machine_tests;
mod missing_parts;
#[cfg(test)]
mod setting_tests;
mod shipped_machines;
mod tile_reader;
mod whole_checks;

use std::path::{Path, PathBuf};

use toml::de::DeTable;

pub use crate::platform::Error;
use crate::platform::toml_reader::{Source, Table};
use crate::{Platform, document_settings};
pub use flick_riscv::Mmu;
pub use machine_parts::{
    Accelerator, Arbitration, Cache, Coherence, CoreModel, Device, DeviceKind, Dtu, Hart,
    HostBridge, Link, Machine, Memory, MemoryUsage, Predictor, Tile, TileKind, Tlb, Topology, Unit,
    VectorCosts, VirtioSlot, Walk, WritePolicy,
};
pub use missing_parts::Missing;
pub use shipped_machines::names;
pub use tile_reader::MOST_HARTS;

/// The reference of the keys.
const REFERENCE: &str = "docs/machine-files.md";

impl Machine {
    /// The shipped machine of this name, or the machine in the file of this path, with `settings`
    /// (`KEY=VALUE`). A name that contains a `/` or ends with `.toml` is a path. Behind the name there may
    /// be more settings, with a comma in front of each.
    ///
    /// ```
    /// use flick_timing::machine::Machine;
    ///
    /// let settings = ["harts=2".to_owned(), "tile.0.memory.main.banks=4".to_owned()];
    /// let machine = Machine::load("virt", &settings).unwrap();
    /// assert_eq!(machine.tiles[0].harts.len(), 2);
    /// ```
    pub fn load(name: &str, settings: &[String]) -> Result<Self, Error> {
        let (name, mut own) = document_settings::of_name(name);
        own.extend_from_slice(settings);
        let settings = &own;
        let path = Path::new(name);
        if !name.contains('/') && !name.ends_with(".toml") {
            let text = shipped_machines::text(name).ok_or_else(|| Error {
                file: name.to_owned(),
                line: 0,
                what: "no machine of this name is shipped with Flick".to_owned(),
                help: flick_names::use_one_of(name, &names())
                    + "; or give the path of a file (./my.toml)",
            })?;
            return Self::parse(name, text, settings);
        }
        let text = std::fs::read_to_string(path).map_err(|error| Error {
            file: name.to_owned(),
            line: 0,
            what: format!("the machine file cannot be read: {error}"),
            help: format!("give a TOML file, or one of: {}", names().join(", ")),
        })?;
        Self::parse(name, &text, settings)
    }

    /// `file` is for messages, and files that this one includes are beside it.
    pub fn parse(file: &str, text: &str, settings: &[String]) -> Result<Self, Error> {
        let source = Source::new(file, text, REFERENCE).with_settings(settings);
        let mut document = DeTable::parse(text).map_err(|error| {
            source.error(
                error.span().unwrap_or(0..0),
                format!("not TOML: {}", error.message()),
                "correct it (https://toml.io)",
            )
        })?;
        let values = document_settings::values(settings);
        document_settings::apply_all(&source, text, (settings, &values), &mut document)?;
        let mut root = Table::of_document(&source, &document);
        let machine = read(file, &mut root)?;
        root.end()?;
        source.complete()?;
        whole_checks::check(file, &machine)?;
        Ok(machine)
    }
}

fn read(file: &str, root: &mut Table<'_>) -> Result<Machine, Error> {
    let name = root.text("name")?;
    let description = root.text("description")?;
    let model = root.text_or("model", &name)?;
    let mut compatible = vec![];
    if root.has("compatible") {
        compatible.extend(root.texts("compatible")?.into_iter().map(|(text, _)| text));
    }
    if compatible.is_empty() {
        compatible.push(format!("flick,{name}"));
    }
    let texts = compatible.iter().chain([&name, &model]);
    if texts.into_iter().any(|text| text.contains('\0')) {
        let why = "a text has a NUL, which no device tree can have";
        return Err(root.error(
            "compatible",
            why,
            "remove it from name, model and compatible",
        ));
    }
    let timebase = root.quantity("timebase", &crate::platform::quantity::FREQUENCY)?;
    if timebase.fract() != 0.0 || timebase > u32::MAX.into() {
        let why = "it is no whole number of hertz, or too large";
        return Err(root.error("timebase", why, "use a frequency such as \"10 MHz\""));
    }
    let platform = platform(file, root)?.map(Box::new);
    let cores = core_reader::cores(root, platform.as_deref())?;
    let tiles = tile_reader::tiles(root, &cores)?;
    let links = link_reader::links(root, &tiles)?;
    Ok(Machine {
        name,
        description,
        model,
        compatible,
        timebase: timebase as u32,
        platform,
        cores,
        tiles,
        links,
    })
}

/// The path of a file that the machine file `file` names. A shipped machine's are in the current directory.
fn beside(file: &str, name: &str) -> PathBuf {
    Path::new(file).parent().unwrap_or(Path::new("")).join(name)
}

/// The platform that the file includes.
fn platform(file: &str, root: &mut Table<'_>) -> Result<Option<Platform>, Error> {
    if !root.has("include") {
        return Ok(None);
    }
    let name = root.text("include")?;
    let beside = beside(file, &name);
    // A name without a folder is of a file, too, if it ends so.
    let path = beside.to_str().filter(|_| name.ends_with(".toml"));
    Platform::load(path.unwrap_or(&name))
        .map(Some)
        .map_err(|error| match error.line {
            0 => root.error(
                "include",
                &format!("\"{name}\": {}", error.what),
                &error.help,
            ),
            _ => error,
        })
}
