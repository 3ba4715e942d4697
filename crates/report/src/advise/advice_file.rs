//! The placement file that advice is written to.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use flick_events::timed::{Timed, duration};
use flick_image::place_lines::{OVERRIDE, PROJECT, Reason};

use super::advice::{Advice, Place};
use crate::reasons::Reasons;

pub struct Placement {
    pub text: String,
    /// Whether it says anything but what is.
    pub changes: bool,
}

/// With what other placement files have placed: this file replaces them.
pub fn placement(advice: &Advice, timed: &Timed, placed: &Reasons, command: &str) -> Placement {
    let mut entries: BTreeMap<String, (Place, String)> = BTreeMap::new();
    for known in placed.functions() {
        let by_file = matches!(
            known.reason,
            Reason::Name(_) | Reason::Glob(_) | Reason::Random
        );
        let place = match known.placement.as_str() {
            "nxp" => Place::Nxp,
            "both" => Place::Both,
            _ => Place::Host,
        };
        if by_file {
            let name = flick_names::plain(&known.function).to_owned();
            entries.insert(name, (place, "as it was".into()));
        }
    }
    let linker = linker_names(placed);
    let functions = &timed.profile.functions;
    let mut written: BTreeSet<String> = BTreeSet::new();
    let mut add = |name: &str, place: Place, remark: String| {
        let name = linker.get(name).map_or(name, String::as_str).to_owned();
        // One function on both sides: what is there for each moves.
        let place = match written.insert(name.clone()) {
            true => place,
            false => Place::Both,
        };
        entries.insert(name, (place, remark));
    };
    for (small, place) in advice.small() {
        let remark = "small, and called by what moves".to_owned();
        add(&functions[small.function].name, place, remark);
    }
    let mut changes = false;
    for group in &advice.groups {
        for &(node, to_nxp) in &group.moves {
            let function = &functions[advice.model.nodes[node].function];
            let (from, to, place) = match to_nxp {
                true => (function.host, function.nxp, Place::Nxp),
                false => (function.nxp, function.host, Place::Host),
            };
            let remark = format!("{} of its own become {}", duration(from), duration(to));
            add(&function.name, place, remark);
            changes = true;
        }
    }
    let one_line = command.replace(['\n', '\r'], " ");
    let mut text = format!(
        "# flick advise --platform {}: {one_line}\n# {} as it was, {} as advised\n{PROJECT}\n{OVERRIDE}\n",
        timed.platform,
        duration(advice.now as u64),
        duration(advice.then as u64),
    );
    for (name, (place, remark)) in entries {
        let _ = writeln!(text, "{:<4} {name}  # {remark}", place.word());
    }
    Placement { text, changes }
}

/// The linker's names of functions, by those that images have for them.
fn linker_names(placed: &Reasons) -> HashMap<String, String> {
    let names = placed.functions().map(|known| {
        let name = flick_names::plain(&known.function);
        (flick_names::demangled(name).into_owned(), name.to_owned())
    });
    names.filter(|(shown, name)| shown != name).collect()
}
