//! Where the time goes: a bar and its legend for each world.
use std::collections::HashMap;
use std::fmt::Write as _;

use flick_events::timed::{Share, Timed};
use flick_events::trace::Process;

use super::figures::{percent, time};
use super::overview::Overview;
use super::text::escape;

/// Classes of the style sheet: a colour for each part, crossings in one family.
const CROSSING: [&str; 8] = ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"];
const OTHER: [&str; 8] = ["o1", "o2", "o3", "o4", "o5", "o6", "o7", "o8"];

pub fn write(page: &mut String, process: &Process<'_>, overview: &Overview) {
    *page += "<section>\n<h2>Where the time goes</h2>\n";
    let mut colours = Colours::default();
    match &process.prediction {
        Some(timed) => {
            notes(page, timed);
            *page += "<div class=\"worlds\">\n";
            for (title, shares) in [
                ("With migration", &timed.migrating_shares),
                ("All on the host", &timed.staying_shares),
            ] {
                let _ = writeln!(page, "<div><h3>{title}</h3>");
                bar(page, shares, &mut colours);
                *page += "</div>\n";
            }
            *page += "</div>\n";
        }
        None => {
            *page += "<p class=\"about\">As far as the trace goes, of all threads together.</p>\n";
            bar(page, &overview.shares(), &mut colours);
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
        *page += "<p class=\"about\">Host code has not told of its time: build the program with --flick-timed.</p>\n";
    }
}

fn bar(page: &mut String, shares: &[Share], colours: &mut Colours) {
    let whole = shares
        .iter()
        .fold(0_u64, |sum, share| sum.saturating_add(share.time));
    let shares: Vec<_> = shares
        .iter()
        .map(|share| (colours.class(&share.name), share))
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

/// Which colour a share has: the same in both worlds.
#[derive(Default)]
struct Colours {
    crossings: usize,
    others: usize,
    known: HashMap<String, &'static str>,
}

impl Colours {
    fn class(&mut self, name: &str) -> &'static str {
        // In the staying world all that is not said to be otherwise is the host's.
        let key = name.strip_prefix("host ").unwrap_or(name);
        if let Some(class) = self.known.get(key) {
            return class;
        }
        let next = |count: &mut usize, classes: &[&'static str]| {
            *count += 1;
            classes[(*count - 1) % classes.len()]
        };
        let class = match name {
            "host code" => "host",
            "NxP code" | "NxP instructions" => "nxp",
            name if name.starts_with("crossing") => next(&mut self.crossings, &CROSSING),
            name if name.starts_with("wait") => "wait",
            _ => next(&mut self.others, &OTHER),
        };
        self.known.insert(key.to_owned(), class);
        class
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_worlds_have_looks_the_same() {
        let mut colours = Colours::default();
        let names = [
            "host code",
            "host libraries",
            "NxP instructions",
            "crossings: fault",
            "crossings: link",
            "host code",
            "libraries",
            "TLB",
        ];
        assert_eq!(
            names.map(|name| colours.class(name)),
            ["host", "o1", "nxp", "x1", "x2", "host", "o1", "o2"]
        );
    }
}
