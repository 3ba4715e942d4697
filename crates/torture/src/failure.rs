//! A failed case, which is made smaller and kept.
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use flick_events::number::counted;
use flick_image::place_lines::Placed;

use crate::count::source_name;
use crate::drawn_placement::{Entry, Side};
use crate::failure_folder::keep;
use crate::session::{Settings, stopped};
use crate::shrink;
use crate::source::Source;
use crate::workshop::{Built, Case, Difference, first_lines};

/// A case that showed something.
pub struct Failure {
    pub case: Case,
    pub difference: Difference,
    /// What the build had placed.
    pub chosen: Vec<Entry>,
}

/// The placement file that says what a build has done.
pub fn entries(source: &Source, built: &Built) -> Vec<Entry> {
    let name = |placed: &Placed| {
        let symbol = placed.function.as_str();
        let Source::Own(program) = source else {
            return symbol.to_owned();
        };
        let name = source_name(symbol);
        match program.functions.iter().find(|f| f.name == name) {
            Some(function) => function.placement_name(),
            // Members of the prelude's classes.
            None if symbol.starts_with("_ZN") => format!("{name}::*"),
            None => name.to_owned(),
        }
    };
    let mut entries: Vec<Entry> = built
        .chosen()
        .map(|placed| Entry {
            side: match placed.placement.as_str() {
                "both" => Side::Both,
                _ => Side::Nxp,
            },
            name: name(placed),
        })
        .collect();
    entries.sort();
    entries.dedup();
    entries
}

pub fn describe(seed: u64, case: &Case) -> String {
    let mut options = case.options.compile_words();
    options.extend(case.options.link_words());
    if case.options.shared {
        options.push("(shared library)".into());
    }
    if let Source::User(user) = &case.source {
        options.clone_from(&user.words);
    }
    format!(
        "seed {seed}, {}, {}, {}, backend {}, trigger {}, engine {}{}",
        case.source.kind(),
        options.join(" "),
        case.placement,
        case.manner.backend,
        case.manner.trigger,
        case.manner.engine,
        if case.manner.counted {
            ", with statistics"
        } else {
            ""
        }
    )
}

/// Makes the failure smaller, keeps it, says what it was.
pub fn report(
    seed: u64,
    settings: &Settings,
    failure: Failure,
    smaller: bool,
) -> io::Result<String> {
    let Failure {
        case,
        difference,
        chosen,
    } = failure;
    let workshop = &settings.workshop;
    let drawn = describe(seed, &case);
    let text = format!("DIFFERENCE: {drawn}\n{}", difference.text.trim_end());
    let name = format!("seed-{seed}");
    let kept = |folder: io::Result<PathBuf>| match folder {
        Ok(folder) => format!("in {}", folder.display()),
        // The findings are reported all the same.
        Err(error) => format!("nowhere, since it cannot be written: {error}"),
    };
    let mut said = format!(
        "DIFFERENCE: {drawn}\n  {}\n  kept {}",
        first_lines(&difference.text),
        kept(keep(&settings.keep, &name, &case, workshop, &text))
    );
    if !smaller || settings.shrink.is_zero() {
        return Ok(said);
    }
    let begin = Instant::now();
    let mut error = None;
    let mut fails = |case: &Case| {
        if begin.elapsed() >= settings.shrink || stopped() {
            return false;
        }
        match workshop.fault(case) {
            Ok(found) => found.is_some_and(|found| found.fault == difference.fault),
            Err(why) => {
                error.get_or_insert(why);
                false
            }
        }
    };
    let mut small = shrink::case(case.clone(), &chosen, &mut fails);
    if let Source::Csmith(_) = small.source {
        // What it finds is tried once more in the time that is left.
        let left = settings.shrink.saturating_sub(begin.elapsed()) * 4 / 5;
        if let Some(reduced) = shrink::reduce_csmith(workshop, &small, left, &mut fails)? {
            small = reduced;
        }
    }
    if let Some(error) = error {
        return Err(error);
    }
    let text = format!("{text}\n\nmade smaller: {}\n", describe(seed, &small));
    let name = format!("{name}-small");
    let folder = keep(&settings.keep, &name, &small, workshop, &text);
    said += &format!("\n  smaller {}", kept(folder));
    if let Source::Own(program) = &small.source {
        said += &format!(
            " ({}, {})",
            counted(program.functions.len() as u64, "function"),
            counted(program.statement_count() as u64, "statement")
        );
    }
    Ok(said)
}
