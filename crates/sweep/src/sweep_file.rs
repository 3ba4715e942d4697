//! `sweep.toml`: platforms, placements and inputs, and the commands that build and run a program
//! (docs/sweep.md is the reference of the keys).
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flick_diagnostics::Code;
use flick_image::Error;
use toml::de::DeTable;

use crate::axis_values::Axis;
use crate::file_checks;
use crate::file_sections;
use crate::sweep_reader::{Document, Section};

/// The sections of the file.
pub const INPUT: &str = "input";
/// The column of the platform's name.
pub const PLATFORM: &str = "platform";
/// The column of the placement's name.
pub const PLACEMENT: &str = "placement";

/// A sweep as its file describes it.
#[derive(Clone, Debug, Default)]
pub struct SweepFile {
    /// As it was named.
    pub file: String,
    /// Where paths of the file begin.
    pub folder: PathBuf,
    pub build: Option<Build>,
    pub run: RunCommand,
    pub platforms: Vec<PlatformName>,
    pub platform_axes: Vec<PlatformAxis>,
    /// One at least.
    pub placements: Vec<Placement>,
    /// One at least.
    pub inputs: Vec<Input>,
    pub input_axes: Vec<Axis>,
    pub metrics: Metrics,
    /// Options of `sbatch`.
    pub slurm_options: Vec<String>,
    pub ray: Ray,
}

/// `[build]`.
#[derive(Clone, Debug, Default)]
pub struct Build {
    pub command: Vec<String>,
    pub directory: PathBuf,
    /// Files that the build reads. Without any the program is built each time.
    pub inputs: Vec<PathBuf>,
    pub environment: Vec<(String, String)>,
}

/// `[run]`.
#[derive(Clone, Debug, Default)]
pub struct RunCommand {
    pub command: Vec<String>,
    pub directory: PathBuf,
    pub environment: Vec<(String, String)>,
    pub limit: Duration,
}

/// An entry of `platforms.names`.
#[derive(Clone, Debug, Default)]
pub struct PlatformName {
    /// As the file has it.
    pub name: String,
    /// The same, with an absolute path.
    pub found: String,
}

/// A key of `[platforms.axes]`.
#[derive(Clone, Debug)]
pub struct PlatformAxis {
    pub axis: Axis,
    /// The keys of a platform file that have the axis's value.
    pub keys: Vec<String>,
}

/// A key of `[placements]`.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    pub name: String,
    /// Files, or `random:SEED:PERCENT`.
    pub places: Vec<String>,
}

/// A key of `[inputs]`.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub name: String,
    pub args: Vec<String>,
    pub stdin: Option<PathBuf>,
    /// Files that the program reads without having their names.
    pub files: Vec<PathBuf>,
}

/// `[metrics]`: columns of the table.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    pub sensitivity: String,
    pub pareto: [String; 2],
    /// Two axes; without them all pairs.
    pub map: Option<[String; 2]>,
}

/// `[ray]`.
#[derive(Clone, Debug, Default)]
pub struct Ray {
    /// The interpreter that has the package `ray`.
    pub python: String,
    pub address: Option<String>,
}

impl SweepFile {
    /// Reads the file. The errors are all that are found.
    pub fn load(path: &Path) -> Result<Self, Vec<Error>> {
        let text = fs::read_to_string(path).map_err(|error| {
            vec![Error::new(
                Code::FileAccess,
                "a file cannot be read",
                path.display().to_string(),
                error.to_string(),
                "give the file of a sweep (docs/sweep.md)",
            )]
        })?;
        let path_of = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = path_of.parent().unwrap_or(Path::new("/"));
        Self::parse(&path.display().to_string(), folder, &text)
    }

    /// The same for a text; `file` is for messages, and paths begin at `folder`.
    pub fn parse(file: &str, folder: &Path, text: &str) -> Result<Self, Vec<Error>> {
        let document = Document::new(file, text);
        let table = match DeTable::parse(text) {
            Ok(table) => table,
            Err(error) => {
                document.wrong(
                    &error.span().unwrap_or(0..0),
                    format!("it is not TOML: {}", error.message()),
                    "correct it (https://toml.io)",
                );
                return Err(document.into_problems());
            }
        };
        let mut sweep = Self {
            file: file.to_owned(),
            folder: folder.to_owned(),
            ..Self::default()
        };
        let whole = Section::whole(&document, &table);
        let places = file_sections::read(&document, whole, &mut sweep);
        file_checks::check(&document, &sweep, &places);
        let problems = document.into_problems();
        match problems.is_empty() {
            true => Ok(sweep),
            false => Err(problems),
        }
    }

    /// The axes of the table, in the order of its columns.
    pub fn axes(&self) -> Vec<Axis> {
        let named = |name: &str, values: Vec<&String>| Axis {
            name: name.to_owned(),
            values: values.into_iter().cloned().collect(),
        };
        let platforms = self.platforms.iter().map(|one| &one.name).collect();
        let placements = self.placements.iter().map(|one| &one.name).collect();
        let inputs = self.inputs.iter().map(|one| &one.name).collect();
        let mut axes = vec![named(PLATFORM, platforms)];
        axes.extend(self.platform_axes.iter().map(|one| one.axis.clone()));
        axes.push(named(PLACEMENT, placements));
        axes.push(named(INPUT, inputs));
        axes.extend(self.input_axes.iter().cloned());
        axes
    }

    /// The name of the file without its end: `sweep` of `sweep.toml`.
    pub fn stem(&self) -> String {
        let stem = Path::new(&self.file).file_stem();
        stem.map_or("sweep".to_owned(), |stem| {
            stem.to_string_lossy().into_owned()
        })
    }

    /// How many points the axes have.
    pub fn count(&self) -> usize {
        let lengths = self.axes().into_iter().map(|axis| axis.values.len());
        lengths.fold(1, usize::saturating_mul)
    }
}
