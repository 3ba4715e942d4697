//! Where the time goes: a bar and its legend for each world.
use std::fmt::Write as _;

use flick_events::timed::{Share, Timed};
use flick_events::trace::Process;

use super::overview::Overview;
use super::page_figures::{percent, time};
use super::page_names::escape;

/// The class in the style sheet of each part of the time, by name: a family of colours each for the
/// host's time, the NxP's, crossings and waiting, and in it a shade for each part, the same on
/// every page.
const CLASSES: [(&str, &str); 26] = [
    ("host code", "host"),
    ("libraries", "h2"),
    ("accesses to NxP memory", "h3"),
    ("TLB", "h4"),
    ("the NxP's functions", "h5"),
    ("NxP code", "nxp"),
    ("NxP instructions", "nxp"),
    ("NxP data accesses", "n2"),
    ("NxP instruction fetches", "n3"),
    ("NxP TLB", "n4"),
    ("NxP heap", "n5"),
    ("crossings", "x"),
    ("crossings: fault", "x1"),
    ("crossings: handler", "x2"),
    ("crossings: descriptor", "x3"),
    ("crossings: link", "x4"),
    ("crossings: poll", "x5"),
    ("crossings: switch", "x6"),
    ("crossings: interrupt", "x7"),
    ("crossings: wake", "x8"),
    ("waiting", "wait"),
    ("waiting for an NxP core", "wait"),
    ("waiting for threads to end", "w2"),
    // In a run with migration they have the host's name before them.
    ("host libraries", "h2"),
    ("host accesses to NxP memory", "h3"),
    ("host TLB", "h4"),
];

/// Of a part, on whichever tile: what no list has is grey.
fn class(name: &str) -> &'static str {
    let name = name.split_once(" on ").map_or(name, |(part, _)| part);
    let known = CLASSES.iter().find(|(part, _)| *part == name);
    known.map_or("other", |(_, class)| class)
}

pub fn write(page: &mut String, process: &Process<'_>, overview: &Overview) {
    *page += "<section>\n<h2>Where the time goes</h2>\n";
    match &process.prediction {
        Some(timed) => {
            notes(page, timed);
            *page += "<div class=\"worlds\">\n";
            for (title, shares) in [
                ("With migration", &timed.migrating_shares),
                ("All on the host", &timed.staying_shares),
            ] {
                let _ = writeln!(page, "<div><h3>{title}</h3>");
                bar(page, shares);
                *page += "</div>\n";
            }
            *page += "</div>\n";
        }
        None => {
            *page += "<p class=\"about\">As far as the trace goes, of all threads together.</p>\n";
            bar(page, &overview.shares());
        }
    }
    *page += "</section>\n";
}

/// What the reader has to know of the shares.
fn notes(page: &mut String, timed: &Timed) {
    if timed.threads > 1 {
        let _ = writeln!(
            page,
            "<p class=\"about\">Sums over {} threads; the times above are those of the thread that ends last.</p>",
            timed.threads
        );
    }
    if !timed.host_counted {
        *page += "<p class=\"about\">Host code has not recorded its time: build the program with --flick-timed.</p>\n";
    }
}

fn bar(page: &mut String, shares: &[Share]) {
    let whole = shares
        .iter()
        .fold(0_u64, |sum, share| sum.saturating_add(share.time));
    let shares: Vec<_> = shares
        .iter()
        .map(|share| (class(&share.name), share))
        .collect();
    *page += "<div class=\"bar\">\n";
    for (class, share) in shares.iter().filter(|(_, share)| share.time > 0) {
        let part = percent(share.time, whole);
        let _ = writeln!(
            page,
            "<span class=\"{class}\" style=\"width:{part:.3}%\" title=\"{}: {}, {part:.1} %\"></span>",
            escape(&share.name),
            time(share.time),
        );
    }
    *page += "</div>\n<ul class=\"legend\">\n";
    for (class, share) in &shares {
        let _ = writeln!(
            page,
            "<li><i class=\"{class}\"></i><b>{}</b><span>{}</span><span>{:.1} %</span></li>",
            escape(&share.name),
            time(share.time),
            percent(share.time, whole)
        );
    }
    *page += "</ul>\n";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_worlds_have_looks_the_same() {
        for (one, other) in [
            ("host libraries", "libraries"),
            ("host accesses to NxP memory", "accesses to NxP memory"),
            ("host TLB", "TLB"),
        ] {
            assert_eq!(class(one), class(other));
        }
        assert_eq!(class("what is to come"), "other");
    }

    /// The family says whose time it is, whatever the part.
    #[test]
    fn a_colour_has_one_meaning() {
        for (part, class) in CLASSES {
            let family = match part {
                _ if part.starts_with("NxP ") => 'n',
                _ if part.starts_with("crossings") => 'x',
                _ if part.starts_with("waiting") => 'w',
                _ => 'h',
            };
            assert!(class.starts_with(family), "{part}: {class}");
            assert!(
                crate::page::STYLE.contains(&format!(".{class} {{")),
                "{class}"
            );
        }
    }
}
