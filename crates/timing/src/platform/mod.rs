//! Platforms: descriptions of hardware in TOML (`docs/timing.md` is the reference of their keys).
pub(crate) mod core_model;
mod crossing_parts;
mod figure_list;
mod included_files;
#[cfg(test)]
mod included_tests;
mod latency_section;
mod library_costs;
pub(crate) mod quantity;
mod shipped;
#[cfg(test)]
mod tests;
mod tile_sections;
pub(crate) mod toml_reader;

use toml::Spanned;
use toml::de::DeTable;

use crate::document_settings;

pub use self::core_model::{
    Cache, Core, HOST_CLASSES, MOST_MISSES, Memory, NXP_CLASSES, NxpClass, REGIONS, Region, Tlb,
    Window,
};
pub use crossing_parts::{Crossing, PARTS, Part, Parts};
pub use figure_list::{Figure, figures};
use included_files::Files;
pub use latency_section::Flow;
pub use library_costs::{Library, Rule};
pub use shipped::names;
pub use toml_reader::Error;
use toml_reader::{Source, Table};

/// The reference of the keys.
const REFERENCE: &str = "docs/timing.md";

/// The hardware for which a timed run is a prediction. Times are femtoseconds.
///
/// ```
/// use flick_timing::Platform;
/// use flick_timing::model::{Access, View};
/// use flick_timing::platform::Region;
///
/// let platform = Platform::load("near-memory").unwrap();
/// let mut nxp = View::new(&platform.nxp);
/// let load = Access { region: Region::Nxp, tile: None, place: 64, bytes: 8, write: false };
/// let (first, second) = (nxp.access(load), nxp.access(load));
/// assert!(first.memory >= second.memory && first.tlb >= second.tlb);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// The name that the file gives the platform.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// The host's cores.
    pub host: Core,
    /// The NxP's cores.
    pub nxp: Core,
    /// The cores of tiles of a card by name, where they are not those of `nxp`. Without any of them all
    /// tiles are one NxP.
    pub tiles: Vec<(String, Core)>,
    /// The number of NxP cores that serve the program's threads.
    pub nxp_cores: usize,
    /// The costs of crossings.
    pub crossing: Crossing,
    /// The costs of code that no compiler has instrumented.
    pub library: Library,
}

impl Platform {
    /// The shipped platform of this name, or the platform in the file of this path. A name that
    /// contains a `/` or ends with `.toml` is a path. Behind it there may be settings, with a comma in front
    /// of each: `near-memory,nxp.clock=2 GHz`.
    pub fn load(name: &str) -> Result<Self, Error> {
        let (name, settings) = document_settings::of_name(name);
        Self::with(name, included_files::text_of(name)?, &settings)
    }

    /// `file` is for messages, and files that this one includes are beside it.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        Self::with(file, text.to_owned(), &[])
    }

    /// The same with settings ([`document_settings`]).
    fn with(file: &str, text: String, settings: &[String]) -> Result<Self, Error> {
        with_document(file, text, settings, Self::read)
    }

    fn read<'a>(source: &'a Source<'a>, document: &'a Spanned<DeTable<'a>>) -> Result<Self, Error> {
        let sections = tile_sections::of_document(document.get_ref());
        let mut root = Table::of_document(source, document);
        let name = root.text("name")?;
        let description = root.text("description")?;
        let pages = core_model::pages(&mut root)?;
        let mut host = root.table("host")?;
        let mut nxp = root.table("nxp")?;
        let nxp_cores = nxp.count_or("cores", (1, 4096), 1)? as usize;
        let nxp = core_model::nxp(nxp, &pages)?;
        let core = core_model::host(&mut host, &pages)?;
        let on_host = host.table_if("library")?;
        host.end()?;
        let crossing = crossing_parts::read(root.table("crossing")?)?;
        let mut library = Library::shipped();
        if let Some(table) = root.table_if("library")? {
            library.add(table)?;
        }
        if let Some(table) = on_host {
            library.add_host(table)?;
        }
        // What `[nxp]` lacks is missing once, and not for each tile.
        source.complete()?;
        let tiles = tile_sections::read(&mut root, &sections, &pages)?;
        root.end()?;
        source.complete()?;
        Ok(Self {
            name,
            description,
            host: core,
            nxp,
            tiles,
            nxp_cores,
            crossing,
            library,
        })
    }
}

/// Reads a document: the file and what it includes, changed by settings.
fn with_document<R>(
    file: &str,
    text: String,
    settings: &[String],
    read: impl for<'a> FnOnce(&'a Source<'a>, &'a Spanned<DeTable<'a>>) -> Result<R, Error>,
) -> Result<R, Error> {
    let files = Files::read(file, text, REFERENCE)?;
    let values = document_settings::values(settings);
    let source = files.source(REFERENCE, settings);
    let mut document = files.document(&source)?;
    let own = source.text();
    document_settings::apply_all(&source, own, (settings, &values), &mut document)?;
    read(&source, &document)
}
