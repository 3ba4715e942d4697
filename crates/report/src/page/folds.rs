//! Rows that are folded: by source file, and in it by function. Folds are the browser's own, so that
//! they need no script, and a printed page has them as they are.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flick_events::number::counted;
use flick_events::trace::{Name, Process};

use super::page_names::escape;

/// Rows of a list that are seen at once; what comes behind is in a fold of its own.
pub const MOST_SEEN: usize = 25;

/// What is known of no source.
const UNKNOWN: &str = "source file unknown";

/// Source files by the linker's names of their functions.
pub struct SourceFiles<'p>(BTreeMap<&'p str, &'p str>);

impl<'p> SourceFiles<'p> {
    pub fn of(process: &'p Process<'_>) -> Self {
        let known = |name: &&Name| !name.file.is_empty();
        let names = process.names().filter(known);
        // The least one where several functions have a name: the same on each page.
        let mut files: BTreeMap<&str, &str> = BTreeMap::new();
        for name in names {
            let file = files.entry(&name.text).or_insert(&name.file);
            *file = (*file).min(&name.file);
        }
        Self(files)
    }

    pub fn file(&self, function: &str) -> &'p str {
        self.0.get(function).copied().unwrap_or(UNKNOWN)
    }
}

/// Groups `all` by `key`. The groups with most `time` come first, and so do the items of each.
pub fn grouped_by<T, K: Ord>(
    all: Vec<T>,
    key: impl Fn(&T) -> K,
    time: impl Fn(&T) -> u64 + Copy,
) -> Vec<(K, Vec<T>)> {
    let mut groups: BTreeMap<K, Vec<T>> = BTreeMap::new();
    for item in all {
        groups.entry(key(&item)).or_default().push(item);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    for (_, items) in &mut groups {
        items.sort_by_key(|item| std::cmp::Reverse(time(item)));
    }
    let total = |items: &[T]| {
        let times = items.iter().map(time);
        times.fold(0, u64::saturating_add)
    };
    groups.sort_by_key(|(_, items)| std::cmp::Reverse(total(items)));
    groups
}

/// Opens a fold with this line, which is HTML.
pub fn open(page: &mut String, class: &str, is_open: bool, line: &str) {
    let is_open = if is_open { " open=\"open\"" } else { "" };
    let _ = writeln!(
        page,
        "<details class=\"fold {class}\"{is_open}><summary>{line}</summary>"
    );
}

pub fn close(page: &mut String) {
    *page += "</details>\n";
}

/// Writes each of `all`, those behind [`MOST_SEEN`] in a fold. `what` names one of them.
pub fn each<T>(
    page: &mut String,
    all: &[T],
    what: &str,
    mut write: impl FnMut(&mut String, usize, &T),
) {
    let (seen, more) = all.split_at(all.len().min(MOST_SEEN));
    for (index, item) in seen.iter().enumerate() {
        write(page, index, item);
    }
    if more.is_empty() {
        return;
    }
    let line = escape(&format!("and {}", counted(more.len() as u64, what)));
    open(page, "more", false, &line);
    for (index, item) in more.iter().enumerate() {
        write(page, MOST_SEEN + index, item);
    }
    close(page);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_with_most_time_come_first() {
        let all = vec![("a", 1_u64), ("b", 5), ("a", 7), ("c", 6), ("b", u64::MAX)];
        let groups = grouped_by(all, |item| item.0, |item| item.1);
        let seen: Vec<_> = groups
            .iter()
            .map(|(key, items)| (*key, items[0].1))
            .collect();
        assert_eq!(seen, [("b", u64::MAX), ("a", 7), ("c", 6)]);
    }

    #[test]
    fn what_is_behind_the_first_is_folded() {
        let mut page = String::new();
        let all: Vec<usize> = (0..MOST_SEEN + 3).collect();
        each(&mut page, &all, "more file", |page, index, item| {
            assert_eq!(index, *item);
            page.push('.');
        });
        assert!(page.starts_with(&".".repeat(MOST_SEEN)));
        assert!(page.ends_with(
            "<details class=\"fold more\"><summary>and 3 more files</summary>\n...</details>\n"
        ));
        let mut page = String::new();
        each(&mut page, &all[..MOST_SEEN], "more file", |page, _, _| {
            page.push('.')
        });
        assert_eq!(page, ".".repeat(MOST_SEEN));
    }
}
