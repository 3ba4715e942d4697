//! The placement file that advice is written to.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flick_events::timed::{Timed, duration};
use flick_image::place::{OVERRIDE, PROJECT, Reason};

use super::advice::Advice;
use crate::reasons::Reasons;

pub struct Placement {
    pub text: String,
    /// Whether it says anything but what is.
    pub changes: bool,
}

/// With what other placement files have placed: this file replaces them.
pub fn placement(advice: &Advice, timed: &Timed, placed: &Reasons, command: &str) -> Placement {
    let mut entries: BTreeMap<&str, (&str, String)> = BTreeMap::new();
    for known in placed.functions() {
        let by_file = matches!(
            known.reason,
            Reason::Name(_) | Reason::Glob(_) | Reason::Random
        );
        if by_file && known.placement != "host" {
            let name = flick_names::plain(&known.function);
            entries.insert(name, (&known.placement, "as it was".into()));
        }
    }
    let functions = &timed.profile.functions;
    let mut changes = false;
    for small in advice.both() {
        let name = &functions[small.function].name;
        entries.insert(name, ("both", "small, and called by what moves".into()));
    }
    for group in &advice.groups {
        for &(node, to_nxp) in &group.moves {
            let function = &functions[advice.model.nodes[node].function];
            let side = if to_nxp { "nxp" } else { "host" };
            let (from, to) = match to_nxp {
                true => (function.host, function.nxp),
                false => (function.nxp, function.host),
            };
            let remark = format!("{} of its own become {}", duration(from), duration(to));
            entries.insert(&function.name, (side, remark));
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
    for (name, (side, remark)) in entries {
        let _ = writeln!(text, "{side:<4} {name}  # {remark}");
    }
    Placement { text, changes }
}
