//! The table of call sites: what each costs, and whether it pays.
use std::fmt::Write as _;

use flick_events::timed::{self, Site};
use flick_names::Demangle;

use super::page_figures::{count, percent, significant, time, time_of};
use super::page_names::{caller, escape, function};

pub fn write(page: &mut String, sites: &[Site], demangle: Demangle) {
    *page += "<section>\n<h2>Call sites</h2>\n";
    if sites.is_empty() {
        *page += "<p>The host called no function on the NxP.</p>\n</section>\n";
        return;
    }
    *page += "<p class=\"about\">Those that take most time first; work and times are of one call on average, with what it calls.</p>\n\
        <table class=\"sites\">\n<thead><tr><th scope=\"col\">Call</th><th scope=\"col\">Calls</th>\
        <th scope=\"col\">NxP instructions</th><th scope=\"col\">NxP-memory accesses</th>\
        <th scope=\"col\">On the NxP</th><th scope=\"col\">Crossing and waiting</th><th scope=\"col\">If it stays</th>\
        <th scope=\"col\">Migrated</th></tr></thead>\n";
    let mut sites: Vec<&Site> = sites.iter().collect();
    sites.sort_by_key(|site| std::cmp::Reverse(site.migrating));
    for site in sites {
        row(page, site, demangle);
    }
    *page += "</table>\n</section>\n";
}

fn row(page: &mut String, site: &Site, demangle: Demangle) {
    let each = |sum: u64| sum as f64 / site.calls.max(1) as f64;
    let _ = writeln!(
        page,
        "<tbody><tr><th scope=\"row\"><b>{}</b> <span class=\"caller\">from {}</span></th>",
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
