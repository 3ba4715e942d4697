//! Source lines of call sites, from the debug information of the programs that they are in.
use std::collections::HashMap;

use addr2line::Loader;
use flick_events::timed::{Site, Timed};
use flick_names::Demangle;

/// Gives callers their source lines, and adds up the sites of a line: an unrolled loop has several.
/// `is_same`: whether the program or library at a path is still the one that ran; the lines of
/// another would be wrong.
pub fn name(timed: &mut Timed, demangle: Demangle, is_same: impl Fn(&str) -> bool) {
    let mut lines = Lines::default();
    for site in &mut timed.sites {
        if !is_same(&site.module) {
            continue;
        }
        if let Some(place) = lines.of(&site.module, site.offset) {
            // With its line it is no symbol any more.
            site.caller = format!("{} ({place})", demangle.apply(&site.caller));
        }
    }
    let mut merged: Vec<Site> = Vec::new();
    for site in timed.sites.drain(..) {
        let same = |known: &&mut Site| {
            (&known.caller, &known.module, &known.callee)
                == (&site.caller, &site.module, &site.callee)
        };
        match merged.iter_mut().find(same) {
            None => merged.push(site),
            Some(known) => {
                known.calls += site.calls;
                known.migrating += site.migrating;
                known.staying += site.staying;
                known.before += site.before;
                known.crossing += site.crossing;
                known.accesses += site.accesses;
                known.instructions += site.instructions;
            }
        }
    }
    merged.sort_by_key(|site| std::cmp::Reverse(site.migrating));
    timed.sites = merged;
}

/// Source lines of places in several files.
#[derive(Default)]
pub struct Lines {
    files: HashMap<String, Option<Loader>>,
}

impl Lines {
    /// `file.c:12`, if the debug information of `module` says so.
    pub fn of(&mut self, module: &str, offset: u64) -> Option<String> {
        let file = self
            .files
            .entry(module.to_owned())
            .or_insert_with(|| Loader::new(module).ok());
        line(file.as_ref()?, offset)
    }
}

/// `file.c:12`; the file without its folder.
fn line(file: &Loader, offset: u64) -> Option<String> {
    let location = file.find_location(offset).ok()??;
    let path = location.file?;
    let name = path.rsplit('/').next().unwrap_or(path);
    Some(match location.line {
        Some(line) if line > 0 => format!("{name}:{line}"),
        _ => name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_of_one_place_are_added_up() {
        let site = |module: &str, offset, calls| Site {
            caller: "main".into(),
            module: module.into(),
            offset,
            callee: "walk".into(),
            calls,
            migrating: calls * 10,
            ..Site::default()
        };
        let mut timed = Timed {
            sites: vec![
                site("/no/such/file", 1, 1),
                site("/no/such/file", 2, 3),
                site("/other", 1, 5),
            ],
            ..Timed::default()
        };
        name(&mut timed, Demangle::Yes, |_| true);
        let calls: Vec<u64> = timed.sites.iter().map(|site| site.calls).collect();
        assert_eq!(calls, [5, 4]);
    }
}
