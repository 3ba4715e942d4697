//! Reads the sections of a sweep's file. `file_checks.rs` then looks at the whole.
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::axis_values::{Axis, Dimension, number};
use crate::result_table;
use crate::sweep_file::{
    Build, Input, Metrics, Placement, PlatformAxis, PlatformName, Ray, RunCommand, SweepFile,
};
use crate::sweep_reader::{Document, Section, Text};

/// Positions of texts that are checked later, by the name of their place.
#[derive(Debug, Default)]
pub struct Places {
    pub run: Range<usize>,
    pub build: Range<usize>,
    pub words: Vec<(Text, Command)>,
    pub axes: BTreeMap<String, Range<usize>>,
    pub platforms: Vec<Range<usize>>,
    pub columns: Vec<Text>,
}

/// The command that a text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Build,
    Run,
    /// Arguments of an input, which become a part of the run's.
    Input,
}

const COMMAND: &str = "a list of words, such as command = [\"{out}/prog\", \"{input}\"]";
const DEFAULT_LIMIT: Duration = Duration::from_secs(3600);

pub fn read<'a>(
    document: &'a Document<'a>,
    mut whole: Section<'a>,
    sweep: &mut SweepFile,
) -> Places {
    let mut places = Places::default();
    if let Some(section) = whole.section("build") {
        sweep.build = Some(build(document, section, &sweep.folder, &mut places));
    }
    match whole.section("run") {
        Some(section) => sweep.run = run(document, section, &sweep.folder, &mut places),
        None => whole.missing("run", "a table [run] with the command of the program"),
    }
    match whole.section("platforms") {
        Some(section) => platforms(document, section, sweep, &mut places),
        None => whole.missing(
            "platforms",
            "a table [platforms] with names = [\"near-memory\"]",
        ),
    }
    match whole.section("placements") {
        Some(section) => placements(document, section, sweep),
        None => sweep.placements = vec![named("marks")],
    }
    match whole.section("inputs") {
        Some(section) => inputs(document, section, sweep, &mut places),
        None => sweep.inputs = vec![only_input()],
    }
    let section = whole.section("metrics");
    sweep.metrics = metrics(document, section, &mut places);
    if let Some(mut section) = whole.section("slurm") {
        let options = section.texts("options", "a list of options of sbatch");
        sweep.slurm_options = texts(options);
        for option in &sweep.slurm_options {
            if !option.starts_with('-') || option.contains('\n') {
                document.wrong(
                    &section.at,
                    format!("`slurm.options`: {option:?} is no option"),
                    "write options as sbatch has them, such as \"--partition=long\"",
                );
            }
        }
        section.end();
    }
    sweep.ray = ray(whole.section("ray"));
    whole.end();
    places
}

fn named(name: &str) -> Placement {
    Placement {
        name: name.to_owned(),
        places: Vec::new(),
    }
}

fn only_input() -> Input {
    Input {
        name: "only".to_owned(),
        ..Input::default()
    }
}

fn texts(all: Option<Vec<Text>>) -> Vec<String> {
    let all = all.unwrap_or_default().into_iter();
    all.map(|text| text.text).collect()
}

/// A file that must be there.
fn file(document: &Document<'_>, folder: &Path, text: &Text) -> PathBuf {
    let path = folder.join(&text.text);
    if !path.is_file() {
        let why = format!("there is no file {}", path.display());
        document.wrong(
            &text.at,
            why,
            "correct the path, which begins at the folder of this file",
        );
    }
    path
}

fn directory(document: &Document<'_>, section: &mut Section<'_>, folder: &Path) -> PathBuf {
    let Some(text) = section.text("directory", "a path in quotes") else {
        return folder.to_owned();
    };
    let path = folder.join(&text.text);
    if !path.is_dir() {
        let why = format!("there is no folder {}", path.display());
        document.wrong(
            &text.at,
            why,
            "correct the path, which begins at the folder of this file",
        );
    }
    path
}

fn command(section: &mut Section<'_>, of: Command, places: &mut Places) -> Vec<String> {
    if !section.has("command") {
        section.missing("command", COMMAND);
    }
    let words = section.texts("command", COMMAND).unwrap_or_default();
    places
        .words
        .extend(words.iter().map(|word| (word.clone(), of)));
    texts(Some(words))
}

fn environment(
    document: &Document<'_>,
    section: &mut Section<'_>,
    of: Command,
    places: &mut Places,
) -> Vec<(String, String)> {
    let Some(table) = section.section("environment") else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for name in table.names() {
        let value = table.texts_or_one(&name.text, "a text in quotes");
        match value.as_deref() {
            Some([value]) => {
                let own = ["FLICK_PLATFORM", "FLICK_STATS"];
                if own.contains(&name.text.as_str()) {
                    document.wrong(
                        &name.at,
                        format!("the sweep sets {} itself", name.text),
                        "remove it; [platforms] has the platforms",
                    );
                }
                places.words.push((value.clone(), of));
                all.push((name.text, value.text.clone()));
            }
            Some(_) => document.wrong(&name.at, "it is no single value", "write one text"),
            None => {}
        }
    }
    all
}

fn build(
    document: &Document<'_>,
    mut section: Section<'_>,
    folder: &Path,
    places: &mut Places,
) -> Build {
    places.build = section.at.clone();
    let command = command(&mut section, Command::Build, places);
    let directory = directory(document, &mut section, folder);
    let inputs = section.texts("inputs", "a list of the files that the build reads");
    let inputs = inputs.unwrap_or_default();
    let build = Build {
        command,
        directory,
        inputs: inputs
            .iter()
            .map(|text| file(document, folder, text))
            .collect(),
        environment: environment(document, &mut section, Command::Build, places),
    };
    section.end();
    build
}

fn run(
    document: &Document<'_>,
    mut section: Section<'_>,
    folder: &Path,
    places: &mut Places,
) -> RunCommand {
    places.run = section.at.clone();
    let command = command(&mut section, Command::Run, places);
    let directory = directory(document, &mut section, folder);
    let environment = environment(document, &mut section, Command::Run, places);
    let wanted = "a time such as \"10 s\"";
    let mut limit = DEFAULT_LIMIT;
    if let Some(text) = section.text("limit", wanted) {
        match number(&text.text) {
            Some((seconds, Dimension::Time)) if seconds > 0.0 && seconds < 1e9 => {
                limit = Duration::from_secs_f64(seconds);
            }
            _ => document.wrong(
                &text.at,
                format!("`run.limit`: {:?} is no time", text.text),
                format!("write {wanted}"),
            ),
        }
    }
    section.end();
    RunCommand {
        command,
        directory,
        environment,
        limit,
    }
}

fn platforms(
    document: &Document<'_>,
    mut section: Section<'_>,
    sweep: &mut SweepFile,
    places: &mut Places,
) {
    let wanted = "a list of platforms, such as [\"near-memory\", \"./mine.toml\"]";
    match section.texts("names", wanted) {
        None if !section.has("names") => section.missing("names", wanted),
        names => {
            for text in names.unwrap_or_default() {
                let name = text.text;
                let is_path = name.contains('/') || name.ends_with(".toml");
                let found = match is_path {
                    true => sweep.folder.join(&name).to_string_lossy().into_owned(),
                    false => name.clone(),
                };
                if found.contains(',') {
                    document.wrong(
                        &text.at,
                        "a comma divides a platform from its settings",
                        "put settings into [platforms.axes]; rename a path with a comma",
                    );
                }
                if sweep.platforms.iter().any(|one| one.name == name) {
                    let why = format!("{name} is there twice");
                    document.wrong(&text.at, why, "remove one of them");
                    continue;
                }
                sweep.platforms.push(PlatformName { name, found });
                places.platforms.push(text.at);
            }
        }
    }
    if let Some(axes) = section.section("axes") {
        for name in axes.names() {
            let (mut values, table) = axes.values_or_section(&name.text);
            let mut keys = vec![name.text.clone()];
            if let Some(mut table) = table {
                let wanted = "a list of keys of a platform file";
                if table.has("keys") {
                    keys = texts(table.texts("keys", wanted));
                } else {
                    table.missing("keys", wanted);
                }
                if table.has("values") {
                    values = table
                        .texts("values", "a list of values")
                        .unwrap_or_default();
                } else {
                    table.missing("values", "a list of values");
                }
                table.end();
            }
            for value in values.iter().filter(|value| value.text.contains(',')) {
                document.wrong(
                    &value.at,
                    "a value of a platform's key has a comma",
                    "put such values into platform files",
                );
            }
            let axis = axis(document, &name, &values);
            places.axes.insert(name.text, name.at);
            sweep.platform_axes.push(PlatformAxis { axis, keys });
        }
    }
    section.end();
}

fn axis(document: &Document<'_>, name: &Text, values: &[Text]) -> Axis {
    let mut axis = Axis {
        name: name.text.clone(),
        values: Vec::new(),
    };
    for value in values {
        if axis.values.contains(&value.text) {
            let why = format!("`{}` has {:?} twice", name.text, value.text);
            document.wrong(&value.at, why, "remove one of them");
        } else {
            axis.values.push(value.text.clone());
        }
    }
    axis
}

fn placements(document: &Document<'_>, section: Section<'_>, sweep: &mut SweepFile) {
    let wanted = "a placement file, a list of them, or [] for the marks of the source alone";
    for name in section.names() {
        let all = section.texts_or_one(&name.text, wanted).unwrap_or_default();
        for text in all.iter().filter(|text| !text.text.starts_with("random:")) {
            file(document, &sweep.folder, text);
        }
        sweep.placements.push(Placement {
            name: name.text,
            places: texts(Some(all)),
        });
    }
    if sweep.placements.is_empty() {
        document.wrong(
            &section.at,
            "`placements` is empty",
            "add a placement, such as marks = []; or remove [placements]",
        );
    }
}

fn inputs(
    document: &Document<'_>,
    mut section: Section<'_>,
    sweep: &mut SweepFile,
    places: &mut Places,
) {
    if let Some(axes) = section.section("axes") {
        for name in axes.names() {
            let (values, table) = axes.values_or_section(&name.text);
            if table.is_some() {
                document.wrong(&name.at, "an axis of inputs is a list", "write its values");
            }
            sweep.input_axes.push(axis(document, &name, &values));
            places.axes.insert(name.text, name.at);
        }
    }
    for name in section.names() {
        let table = section.section_of(&name.text);
        let mut input = Input {
            name: name.text.clone(),
            ..Input::default()
        };
        match table {
            None => {
                let wanted =
                    "arguments, such as [\"-n\", \"100\"], or a table with args, stdin, files";
                let args = section.texts_or_one(&name.text, wanted);
                input.args = input_words(args, places);
            }
            Some(mut table) => {
                let args = table.texts("args", "a list of arguments");
                input.args = input_words(args, places);
                let stdin = table.text("stdin", "a path in quotes");
                input.stdin = stdin.map(|text| file(document, &sweep.folder, &text));
                let files = table.texts("files", "a list of files that the program reads");
                let files = files.unwrap_or_default();
                input.files = files
                    .iter()
                    .map(|text| file(document, &sweep.folder, text))
                    .collect();
                table.end();
            }
        }
        sweep.inputs.push(input);
    }
    if sweep.inputs.is_empty() {
        match sweep.input_axes.is_empty() {
            true => document.wrong(
                &section.at,
                "`inputs` is empty",
                "add an input, such as small = [\"100\"]; or remove [inputs]",
            ),
            false => sweep.inputs.push(only_input()),
        }
    }
}

fn input_words(words: Option<Vec<Text>>, places: &mut Places) -> Vec<String> {
    let words = words.unwrap_or_default();
    let of_input = words.iter().map(|word| (word.clone(), Command::Input));
    places.words.extend(of_input);
    texts(Some(words))
}

fn metrics(document: &Document<'_>, section: Option<Section<'_>>, places: &mut Places) -> Metrics {
    let mut metrics = Metrics {
        sensitivity: result_table::RATIO.to_owned(),
        pareto: [result_table::MIGRATING, result_table::CROSSINGS].map(String::from),
        map: None,
    };
    let Some(mut section) = section else {
        return metrics;
    };
    if let Some(text) = section.text("sensitivity", "the name of a metric") {
        metrics.sensitivity = text.text.clone();
        places.columns.push(text);
    }
    if let Some(two) = pair(document, &mut section, "pareto", places) {
        metrics.pareto = two;
    }
    metrics.map = pair(document, &mut section, "map", places);
    section.end();
    metrics
}

fn pair(
    document: &Document<'_>,
    section: &mut Section<'_>,
    key: &'static str,
    places: &mut Places,
) -> Option<[String; 2]> {
    let wanted = "a list of two names";
    let all = section.texts(key, wanted)?;
    match all.as_slice() {
        [x, y] => {
            let two = [x.text.clone(), y.text.clone()];
            places.columns.extend(all);
            Some(two)
        }
        [first, ..] => {
            document.wrong(
                &first.at,
                format!("`metrics.{key}` has {} names", all.len()),
                format!("write {wanted}"),
            );
            None
        }
        [] => None,
    }
}

fn ray(section: Option<Section<'_>>) -> Ray {
    let mut ray = Ray {
        python: "python3".to_owned(),
        address: None,
    };
    if let Some(mut section) = section {
        if let Some(text) = section.text("python", "the path of an interpreter in quotes") {
            ray.python = text.text;
        }
        let address = section.text("address", "an address in quotes, such as \"auto\"");
        ray.address = address.map(|text| text.text);
        section.end();
    }
    ray
}
