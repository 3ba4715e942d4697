//! The call sites: what each costs, and whether it pays. Many are folded, by source file and function.
use std::fmt::Write as _;

use flick_events::number::{counted, grouped};
use flick_events::timed::{self, Site};
use flick_events::trace::Process;
use flick_names::Demangle;

use super::flame::shown;
use super::folds::{self, SourceFiles};
use super::function_colours::square;
use super::page_figures::{count, percent, significant, time, time_of};
use super::page_names::{caller, escape, function};

/// Call sites that are one table.
const MOST_IN_ONE: usize = 12;

/// Writes the section.
pub fn write(page: &mut String, process: &Process<'_>, sites: &[Site], demangle: Demangle) {
    *page += "<section>\n<h2>Call sites</h2>\n";
    if sites.is_empty() {
        *page += "<p>The host called no function on the NxP.</p>\n</section>\n";
        return;
    }
    *page += "<p class=\"about\">Those that take most time first; work and times are of one call on average, with what it calls.</p>\n";
    let mut sites: Vec<&Site> = sites.iter().collect();
    if sites.len() <= MOST_IN_ONE {
        sites.sort_by_key(|site| std::cmp::Reverse(site.migrating));
        table(page, &sites, demangle);
    } else {
        fold(page, process, sites, demangle);
    }
    *page += "</section>\n";
}

fn table(page: &mut String, sites: &[&Site], demangle: Demangle) {
    *page += "<table class=\"sites\">\n<thead><tr><th scope=\"col\">Call</th><th scope=\"col\">Calls</th>\
        <th scope=\"col\">NxP instructions</th><th scope=\"col\">NxP-memory accesses</th>\
        <th scope=\"col\">On the NxP</th><th scope=\"col\">Crossing and waiting</th><th scope=\"col\">If it stays</th>\
        <th scope=\"col\">Migrated</th></tr></thead>\n";
    for site in sites {
        row(page, site, demangle);
    }
    *page += "</table>\n";
}

/// By the source file of the function that is called, and by function.
fn fold(page: &mut String, process: &Process<'_>, sites: Vec<&Site>, demangle: Demangle) {
    let files = SourceFiles::of(process);
    let all = Tally::of(&sites);
    let by_file = folds::grouped_by(
        sites,
        |site| files.file(&site.callee),
        |site| site.migrating,
    );
    let _ = writeln!(
        page,
        "<p class=\"about\">{} in {}; of their calls {} faster on the NxP, and {} not. \
         Lengths are times: <i class=\"nxp\"></i>with migration, <i class=\"host\"></i>if all stays.</p>\n<div class=\"folds\">",
        counted(all.sites, "call site"),
        counted(by_file.len() as u64, "source file"),
        grouped(all.pay),
        grouped(all.calls.saturating_sub(all.pay)),
    );
    let times = by_file.iter().map(|(_, sites)| Tally::of(sites));
    let longest = times
        .map(|of| of.migrating.max(of.before))
        .max()
        .unwrap_or(0);
    folds::each(
        page,
        &by_file,
        "more source file",
        |page, index, (file, sites)| {
            let by_function = folds::grouped_by(
                sites.clone(),
                |site| site.callee.as_str(),
                |site| site.migrating,
            );
            let tally = Tally::of(sites);
            let about = format!(
                "<b>{}</b><span>{}, {}</span>",
                escape(file),
                counted(by_function.len() as u64, "function"),
                counted(tally.sites, "call site"),
            );
            folds::open(page, "file", index == 0, &tally.line(&about, longest));
            folds::each(
                page,
                &by_function,
                "more function",
                |page, _, (symbol, sites)| {
                    let name = shown(symbol, demangle);
                    let tally = Tally::of(sites);
                    let about = format!(
                        "<b>{}{}</b><span>{}</span>",
                        square(&name),
                        escape(&name),
                        counted(tally.sites, "call site"),
                    );
                    folds::open(page, "function", false, &tally.line(&about, longest));
                    table(page, sites, demangle);
                    folds::close(page);
                },
            );
            folds::close(page);
        },
    );
    *page += "</div>\n";
}

/// Sums of several call sites.
#[derive(Default)]
struct Tally {
    sites: u64,
    calls: u64,
    /// Calls of sites where migration pays.
    pay: u64,
    migrating: u64,
    before: u64,
}

impl Tally {
    fn of(sites: &[&Site]) -> Self {
        let mut tally = Self::default();
        for site in sites {
            tally.sites += 1;
            tally.calls = tally.calls.saturating_add(site.calls);
            if site.migrating < site.before {
                tally.pay = tally.pay.saturating_add(site.calls);
            }
            tally.migrating = tally.migrating.saturating_add(site.migrating);
            tally.before = tally.before.saturating_add(site.before);
        }
        tally
    }

    /// The line of a fold. Its bars are as long as they can be for the time `longest`.
    fn line(&self, about: &str, longest: u64) -> String {
        let (class, ratio) = ratio(self.before, self.migrating);
        format!(
            "<span class=\"about-fold\">{about}</span><span class=\"number\">{}</span>\
             <span class=\"number\">{} <small>instead of {}</small></span><span class=\"number {class}\">{ratio}</span>\
             <span class=\"bars\"><span class=\"nxp\" style=\"width:{:.2}%\"></span><span class=\"host\" style=\"width:{:.2}%\"></span></span>",
            counted(self.calls, "call"),
            time(self.migrating),
            time(self.before),
            percent(self.migrating, longest),
            percent(self.before, longest),
        )
    }
}

fn row(page: &mut String, site: &Site, demangle: Demangle) {
    let each = |sum: u64| sum as f64 / site.calls.max(1) as f64;
    let _ = writeln!(
        page,
        "<tbody><tr><th scope=\"row\"><b>{}{}</b> <span class=\"caller\">from {}</span></th>",
        square(&shown(&site.callee, demangle)),
        escape(&function(&site.callee, demangle)),
        escape(&caller(&site.caller, demangle)),
    );
    let nxp = site.migrating.saturating_sub(site.crossing);
    for (label, value) in [
        ("Calls", count(site.calls as f64)),
        ("NxP instructions", count(each(site.instructions))),
        ("NxP-memory accesses", count(each(site.accesses))),
        ("On the NxP", time_of(each(nxp))),
        ("Crossing and waiting", time_of(each(site.crossing))),
        ("If it stays", time_of(each(site.before))),
    ] {
        let _ = writeln!(page, "<td data-label=\"{label}\">{value}</td>");
    }
    let (class, ratio) = ratio(site.before, site.migrating);
    let longest = site.migrating.max(site.before);
    let width = |value| percent(value, longest);
    let _ = writeln!(
        page,
        "<td data-label=\"Migrated\"><span class=\"{class}\">{ratio}</span><span class=\"pair\" title=\"all calls: {} if they stay; \
         {} on the NxP, {} crossing and waiting\"><span class=\"host\" style=\"width:{:.2}%\"></span>\
         <span class=\"both\"><span class=\"nxp\" style=\"width:{:.2}%\"></span>\
         <span class=\"x\" style=\"width:{:.2}%\"></span></span></span></td></tr>",
        time(site.before),
        time(nxp),
        time(site.crossing),
        width(site.before),
        width(nxp),
        width(site.crossing),
    );
    let _ = writeln!(
        page,
        "<tr class=\"words\"><td colspan=\"8\">{}</td></tr></tbody>",
        escape(&timed::verdict(site))
    );
}

/// What migrating makes of the time, and how that is shown.
fn ratio(staying: u64, migrating: u64) -> (&'static str, String) {
    let (staying, migrating) = (staying as f64, migrating as f64);
    match staying / migrating {
        r if r.is_nan() => ("even", "-".into()),
        r if r.is_infinite() => ("pays", "free".into()),
        r if (0.995..1.005).contains(&r) => ("even", "as fast".into()),
        r if r >= 1.0 => ("pays", format!("{}x faster", significant(r))),
        0.0 => ("loses", "free if it stays".into()),
        r => ("loses", format!("{}x slower", significant(1.0 / r))),
    }
}

#[cfg(test)]
mod tests {
    use super::ratio;

    #[test]
    fn ratios() {
        for (staying, migrating, text) in [
            (0, 0, "-"),
            (1, 0, "free"),
            (0, 1, "free if it stays"),
            (100, 100, "as fast"),
            (1004, 1000, "as fast"),
            (264, 100, "2.64x faster"),
            (100, 188_000, "1,880x slower"),
            (u64::MAX, 1, "18,446,744,073,709,551,615x faster"),
        ] {
            assert_eq!(ratio(staying, migrating).1, text);
        }
        assert_eq!(ratio(7, 7).0, "even", "neither green nor red");
    }
}
