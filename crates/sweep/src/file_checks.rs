//! Checks of a sweep's file as a whole: names in commands, platforms with their settings, columns.
use std::ops::Range;

use flick_timing::Platform;

use crate::axis_values::Axis;
use crate::file_sections::{Command, Places};
use crate::result_table;
use crate::sweep_file::SweepFile;
use crate::sweep_points;
use crate::sweep_reader::Document;
use crate::words_in_braces;

/// More points than anybody has asked for on purpose.
const MOST_POINTS: usize = 1_000_000;
/// More platforms than that are checked when they run.
const MOST_CHECKED: usize = 10_000;

pub fn check(document: &Document<'_>, sweep: &SweepFile, places: &Places) {
    words(document, sweep, places);
    axis_names(document, sweep, places);
    columns(document, sweep, places);
    if sweep.build.is_none() && sweep.placements.iter().any(|one| !one.places.is_empty()) {
        document.wrong(
            &places.run,
            "there are placement files, and no build that would use them",
            "add a table [build] whose command has the word \"{placement}\"",
        );
    }
    if sweep.count() > MOST_POINTS {
        document.wrong(
            &places.run,
            format!("the axes have {} points", sweep.count()),
            format!("leave values out; a sweep has {MOST_POINTS} points at most"),
        );
        return;
    }
    platforms(document, sweep, places);
}

/// Names that the words of a command may have.
fn known_names(sweep: &SweepFile, of: Command) -> Vec<&str> {
    let mut known = vec!["placement.name"];
    if sweep.build.is_some() {
        known.push("out");
    }
    match of {
        Command::Build => known.push("placement"),
        Command::Run | Command::Input => {
            if of == Command::Run {
                known.push("input");
            }
            known.push("input.name");
            known.extend(sweep.input_axes.iter().map(|axis| axis.name.as_str()));
        }
    }
    known
}

fn words(document: &Document<'_>, sweep: &SweepFile, places: &Places) {
    let mut used = Vec::new();
    for (word, of) in &places.words {
        let names = match words_in_braces::names(&word.text) {
            Ok(names) => names,
            Err(why) => {
                document.wrong(&word.at, why, "write {{ or }} for a brace");
                continue;
            }
        };
        let known = known_names(sweep, *of);
        for name in names {
            if !known.contains(&name) {
                document.wrong(
                    &word.at,
                    format!("{{{name}}} has no value here"),
                    flick_names::use_one_of(name, &known),
                );
            }
            used.push((name, *of));
        }
    }
    let uses = |name: &str, of| used.contains(&(name, of));
    let unused = |at: &Range<usize>, what: String, name: &str| {
        document.wrong(
            at,
            format!("no command uses {what}"),
            format!("put \"{{{name}}}\" into the command"),
        );
    };
    if let Some(build) = &sweep.build
        && !build.command.is_empty()
        && sweep.placements.iter().any(|one| !one.places.is_empty())
        && !uses("placement", Command::Build)
    {
        unused(&places.build, "the placement files".to_owned(), "placement");
    }
    if sweep.run.command.is_empty() {
        return;
    }
    if sweep.inputs.iter().any(|one| !one.args.is_empty()) && !uses("input", Command::Run) {
        unused(&places.run, "the arguments of inputs".to_owned(), "input");
    }
    for axis in &sweep.input_axes {
        if !uses(&axis.name, Command::Run) && !uses(&axis.name, Command::Input) {
            let at = places.axes.get(&axis.name).unwrap_or(&places.run);
            unused(at, format!("the axis {}", axis.name), &axis.name);
        }
    }
}

fn axis_names(document: &Document<'_>, sweep: &SweepFile, places: &Places) {
    let axes = sweep.axes();
    let taken: Vec<&str> = result_table::METRICS.iter().map(|one| one.name).collect();
    let others = ["input.name", "placement.name", "out", result_table::STATUS];
    for (number, axis) in axes.iter().enumerate() {
        let name = axis.name.as_str();
        let again = axes.iter().take(number).any(|one| one.name == name);
        if again || taken.contains(&name) || others.contains(&name) {
            let at = places.axes.get(name).unwrap_or(&places.run);
            document.wrong(
                at,
                format!("the name {name} is taken"),
                "give the axis another name",
            );
        }
    }
}

fn columns(document: &Document<'_>, sweep: &SweepFile, places: &Places) {
    let axes = sweep.axes();
    let numeric = axes.iter().filter(|axis| axis.numbers().is_some());
    let numeric: Vec<&str> = numeric.map(|axis: &Axis| axis.name.as_str()).collect();
    let metrics: Vec<&str> = result_table::METRICS.iter().map(|one| one.name).collect();
    let both: Vec<&str> = metrics.iter().chain(&numeric).copied().collect();
    let of = |name: &str, known: &[&str], what: &str| {
        if known.contains(&name) {
            return;
        }
        let at = places.columns.iter().find(|text| text.text == name);
        let at = at.map_or(0..0, |text| text.at.clone());
        let help = match known {
            [] => "add an axis whose values are numbers or quantities".to_owned(),
            known => flick_names::use_one_of(name, known),
        };
        document.wrong(&at, format!("{name} is {what}"), help);
    };
    let metric = &sweep.metrics.sensitivity;
    of(metric, &metrics, "no metric");
    for name in &sweep.metrics.pareto {
        of(name, &both, "no metric, and no axis of numbers");
    }
    for name in sweep.metrics.map.iter().flatten() {
        of(name, &numeric, "no axis of numbers");
    }
}

/// Each platform with each combination of settings can be loaded.
fn platforms(document: &Document<'_>, sweep: &SweepFile, places: &Places) {
    let axes = sweep.platform_axes.iter();
    let lengths = axes.map(|one| one.axis.values.len());
    let combinations = lengths.fold(1, usize::saturating_mul);
    for (number, platform) in sweep.platforms.iter().enumerate() {
        for combination in 0..combinations.min(MOST_CHECKED) {
            let name = sweep_points::platform_name(sweep, number, combination);
            let Err(error) = Platform::load(&name) else {
                continue;
            };
            // A setting's fault is its axis's.
            let setting = error.file.strip_prefix("--set ");
            let key = setting.and_then(|setting| setting.split('=').next());
            let axis = sweep
                .platform_axes
                .iter()
                .find(|one| key.is_some_and(|key| one.keys.iter().any(|k| k == key)));
            let at = axis.and_then(|one| places.axes.get(&one.axis.name));
            let at = at.or(places.platforms.get(number)).unwrap_or(&places.run);
            let why = format!("{} with {}: {}", platform.name, error.place(), error.what);
            document.wrong(at, why, error.help);
        }
    }
}
