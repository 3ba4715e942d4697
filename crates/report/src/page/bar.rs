//! Where the time goes: one bar and its legend.
use std::fmt::Write as _;

use flick_events::trace::{Part, Process};

use super::figures::{percent, time};
use super::overview::Overview;
use super::text::escape;

/// Classes of the style sheet: a colour for each part, crossings in one family.
const CROSSING: [&str; 8] = ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"];
const OTHER: [&str; 5] = ["o1", "o2", "o3", "o4", "o5"];

pub fn write(page: &mut String, process: &Process<'_>, overview: &Overview) {
    *page += "<section>\n<h2>Where the time goes</h2>\n";
    let parts = match &process.prediction {
        Some(prediction) => prediction.parts.clone(),
        None => {
            *page += "<p class=\"about\">As far as the trace goes, of all threads together.</p>\n";
            overview.parts()
        }
    };
    let parts = classes(parts);
    let whole = parts
        .iter()
        .fold(0_u64, |sum, (_, part)| sum.saturating_add(part.time));
    *page += "<div class=\"bar\">\n";
    for (class, part) in parts.iter().filter(|(_, part)| part.time > 0) {
        let share = percent(part.time, whole);
        let _ = writeln!(
            page,
            "<span class=\"{class}\" style=\"width:{share:.3}%\" title=\"{}: {}, {share:.1} %\"></span>",
            escape(&part.name),
            time(part.time),
        );
    }
    *page += "</div>\n<ul class=\"legend\">\n";
    for (class, part) in &parts {
        let _ = writeln!(
            page,
            "<li><i class=\"{class}\"></i><b>{}</b><span>{}</span><span>{:.1} %</span></li>",
            escape(&part.name),
            time(part.time),
            percent(part.time, whole)
        );
    }
    *page += "</ul>\n</section>\n";
}

/// Each part with its colour.
fn classes(parts: Vec<Part>) -> Vec<(&'static str, Part)> {
    let (mut crossings, mut others) = (CROSSING.iter().cycle(), OTHER.iter().cycle());
    let class = |part: &Part| match part.name.as_str() {
        "host compute" => "host",
        "NxP compute" => "nxp",
        name if name.starts_with("crossing") => crossings.next().unwrap_or(&""),
        name if name.starts_with("wait") => "wait",
        _ => others.next().unwrap_or(&""),
    };
    let classes: Vec<_> = parts.iter().map(class).collect();
    classes.into_iter().zip(parts).collect()
}
