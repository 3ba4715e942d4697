//! The placement file that advice is written to.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use flick_events::timed::{Timed, duration};
use flick_image::place_lines::{OVERRIDE, PROJECT, Reason};

use super::advice::Place;
use super::proposal::Proposal;
use crate::reasons::Reasons;

/// What a placement file says, by the linker's names: where a function belongs, and a remark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// What the placement files have said that this one replaces.
    kept: BTreeMap<String, (Place, String)>,
    /// What moves.
    moved: BTreeMap<String, (Place, String)>,
    /// What goes along.
    small: BTreeMap<String, (Place, String)>,
}

impl Entries {
    /// Those of a proposal for the program that left `timed`.
    pub fn of(proposal: &Proposal, timed: &Timed, placed: &Reasons) -> Self {
        let advice = &proposal.advice;
        let mut entries = Self::default();
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
                entries.kept.insert(name, (place, "as it was".into()));
            }
        }
        let linker = linker_names(placed);
        let functions = &timed.profile.functions;
        let mut written: BTreeSet<String> = BTreeSet::new();
        let mut name_of = |at: usize, place: Place| {
            let name = functions[at].name.as_str();
            let name = linker.get(name).map_or(name, String::as_str).to_owned();
            // One function on both sides: what is there for each moves.
            let place = match written.insert(name.clone()) {
                true => place,
                false => Place::Both,
            };
            (name, place)
        };
        for (small, place) in advice.small() {
            let (name, place) = name_of(small.function, place);
            let remark = "small, and called by what moves".to_owned();
            entries.small.insert(name, (place, remark));
        }
        for group in &advice.groups {
            for &(node, to_nxp) in &group.moves {
                let at = advice.model.nodes[node].function;
                let function = &functions[at];
                let (from, to, place) = match to_nxp {
                    true => (function.host, function.nxp, Place::Nxp),
                    false => (function.nxp, function.host, Place::Host),
                };
                let (name, place) = name_of(at, place);
                let remark = format!("{} of its own become {}", duration(from), duration(to));
                entries.small.remove(&name);
                entries.moved.insert(name, (place, remark));
            }
        }
        entries
    }

    /// The names of what moves, and where to.
    pub fn moves(&self) -> impl Iterator<Item = (&str, Place)> {
        let all = self.moved.iter();
        all.map(|(name, (place, _))| (name.as_str(), *place))
    }

    /// What moves here and is moved elsewhere by `other`.
    pub fn contradicted(&self, other: &Self) -> BTreeSet<String> {
        let all = self.moved.iter();
        let elsewhere = all.filter(|(name, (place, _))| {
            let there = other.moved.get(*name).or_else(|| other.small.get(*name));
            there.is_some_and(|(then, _)| then != place)
        });
        elsewhere.map(|(name, _)| name.clone()).collect()
    }

    /// The same without the moves of `names`; without any move, nothing goes along.
    pub fn without(&self, names: &BTreeSet<String>) -> Self {
        let mut rest = self.clone();
        rest.moved.retain(|name, _| !names.contains(name));
        if rest.moved.is_empty() {
            rest.small.clear();
        }
        rest
    }

    /// The file's text, with these remarks at its begin.
    pub fn text(&self, remarks: &[String]) -> String {
        let mut text = String::new();
        for remark in remarks {
            let _ = writeln!(text, "# {}", remark.replace(['\n', '\r'], " "));
        }
        let _ = writeln!(text, "{PROJECT}\n{OVERRIDE}");
        let mut all = self.kept.clone();
        all.extend(self.small.clone());
        all.extend(self.moved.clone());
        for (name, (place, remark)) in all {
            let _ = writeln!(text, "{:<4} {name}  # {remark}", place.word());
        }
        text
    }
}

/// The remarks of a proposal's file.
pub fn remarks(proposal: &Proposal, timed: &Timed, command: &str) -> Vec<String> {
    vec![
        format!("flick advise --platform {}: {command}", timed.platform),
        format!(
            "{} with nothing placed, {} as it was, {} as advised",
            duration(proposal.before),
            duration(proposal.as_is),
            duration(proposal.advised),
        ),
    ]
}

/// The linker's names of functions, by those that images have for them.
fn linker_names(placed: &Reasons) -> HashMap<String, String> {
    let names = placed.functions().map(|known| {
        let name = flick_names::plain(&known.function);
        (flick_names::demangled(name).into_owned(), name.to_owned())
    });
    names.filter(|(shown, name)| shown != name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_dropped_by_name() {
        let entry = |place| (place, "why".to_owned());
        let mut entries = Entries::default();
        entries.kept.insert("old".into(), entry(Place::Nxp));
        entries.moved.insert("good".into(), entry(Place::Nxp));
        entries.moved.insert("bad".into(), entry(Place::Nxp));
        entries.small.insert("leaf".into(), entry(Place::Both));
        let mut other = Entries::default();
        other.moved.insert("bad".into(), entry(Place::Host));
        other.moved.insert("good".into(), entry(Place::Nxp));
        other.moved.insert("old".into(), entry(Place::Host));
        let drop = entries.contradicted(&other);
        assert_eq!(Vec::from_iter(&drop), ["bad"]);
        let rest = entries.without(&drop);
        assert_eq!(rest.moves().collect::<Vec<_>>(), [("good", Place::Nxp)]);
        let none = rest.without(&["good".to_owned()].into());
        assert_eq!(
            none.text(&["a\nb".into()]),
            "# a b\nproject\noverride\nnxp  old  # why\n"
        );
    }
}
