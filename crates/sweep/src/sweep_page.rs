//! The page of a sweep: one HTML file that needs nothing but itself. It is also well-formed XML.
use std::fmt::Write as _;

use crate::break_even_map;
use crate::page_plots::{self, figure};
use crate::pareto_front;
use crate::result_files::Failure;
use crate::result_table::{RATIO, Table};
use crate::sensitivity;
use crate::sweep_file::SweepFile;

const STYLE: &str = include_str!("sweep_page.css");
/// The table has the rest.
const MOST_MAPS: usize = 12;
const MOST_ROWS: usize = 30;

/// The page. `failures`: names of points, and why they have failed.
pub fn html(sweep: &SweepFile, table: &Table, failures: &[(String, Failure)]) -> String {
    let title = format!("Sweep {}", sweep.stem());
    let mut page = format!(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n\
         <meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n",
        title = escaped(&title)
    );
    head(&mut page, table, failures);
    sensitivities(&mut page, table, &sweep.metrics.sensitivity);
    front(&mut page, table, &sweep.metrics.pareto);
    maps(&mut page, table, sweep.metrics.map.as_ref());
    failed(&mut page, failures);
    let _ = write!(
        page,
        "<p class=\"note\">Times are virtual: those of the named platform, whatever machine the runs \
         were on. Made by flick {}.</p>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    page
}

fn head(page: &mut String, table: &Table, failures: &[(String, Failure)]) {
    let done = table.rows.iter().filter(|row| row.measured.is_some());
    let _ = writeln!(
        page,
        "<p>{} points, of which {} have results and {} have failed.</p>\n\
         <div class=\"wide\"><table>\n<tr><th>axis</th><th>values</th></tr>",
        table.rows.len(),
        done.count(),
        failures.len()
    );
    for axis in &table.axes {
        let values: Vec<_> = axis.values.iter().map(|v| escaped(v)).collect();
        let name = escaped(&axis.name);
        let _ = writeln!(
            page,
            "<tr><td>{name}</td><td>{}</td></tr>",
            values.join(", ")
        );
    }
    *page += "</table></div>\n";
    let Some((ratios, _)) = table.column(RATIO) else {
        return;
    };
    let pays = ratios.iter().flatten().filter(|ratio| **ratio > 1.0);
    let best = ratios.iter().enumerate();
    let best = best.filter_map(|(row, ratio)| ratio.map(|ratio| (ratio, row)));
    if let Some((ratio, row)) = best.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let _ = writeln!(
            page,
            "<p>Migrating is faster than nothing placed in {} points. The best is {} times as fast: \
             {}.</p>",
            pays.count(),
            figure(ratio),
            escaped(&table.short_name(&table.rows[row]))
        );
    }
}

fn sensitivities(page: &mut String, table: &Table, metric: &str) {
    let all = sensitivity::all(table, metric);
    let _ = writeln!(page, "<h2>Sensitivities of {}</h2>", escaped(metric));
    if all.is_empty() {
        *page += "<p>No axis has two values with results.</p>\n";
        return;
    }
    *page += "<p>For each setting of the other axes, the largest value of the metric is divided by the \
              smallest. A bar is the geometric mean of these quotients.</p>\n";
    *page += &page_plots::bars(&all);
    *page += "\n<div class=\"wide\"><table>\n<tr><th>axis</th><th class=\"number\">mean</th>\
              <th class=\"number\">most</th><th>mean of the metric by value</th></tr>\n";
    for one in &all {
        let by_value = one.by_value.iter();
        let by_value: Vec<_> = by_value
            .map(|(value, mean)| format!("{}: {}", escaped(value), figure(*mean)))
            .collect();
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td></tr>",
            escaped(&one.axis),
            figure(one.mean),
            figure(one.most),
            by_value.join(", ")
        );
    }
    *page += "</table></div>\n";
}

fn front(page: &mut String, table: &Table, names: &[String; 2]) {
    let [x, y] = names;
    let (Some((xs, less_x)), Some((ys, less_y))) = (table.column(x), table.column(y)) else {
        return;
    };
    let _ = writeln!(
        page,
        "<h2>Pareto front of {} and {}</h2>",
        escaped(x),
        escaped(y)
    );
    // An axis has values where a point has failed, too.
    let with_result = table.rows.iter().zip(xs.iter().zip(&ys));
    let pairs: Vec<_> = with_result
        .map(|(row, (x, y))| row.measured.as_ref().and(x.zip(*y)))
        .collect();
    let front = pareto_front::of(&pairs, (less_x, less_y));
    if front.is_empty() {
        *page += "<p>No point has both values.</p>\n";
        return;
    }
    let word = |less: bool| if less { "less" } else { "more" };
    let _ = writeln!(
        page,
        "<p>No other point is better than these in both: {} of {} is better, and {} of {}.</p>",
        word(less_x),
        escaped(x),
        word(less_y),
        escaped(y)
    );
    let all: Vec<_> = pairs.iter().flatten().copied().collect();
    let on_it: Vec<_> = front.iter().filter_map(|&row| pairs[row]).collect();
    *page += &page_plots::points(&all, &on_it, (x, y));
    let _ = writeln!(
        page,
        "\n<div class=\"wide\"><table>\n<tr><th>point</th><th class=\"number\">{}</th>\
         <th class=\"number\">{}</th></tr>",
        escaped(x),
        escaped(y)
    );
    for &row in front.iter().take(MOST_ROWS) {
        if let Some((x, y)) = pairs[row] {
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
                escaped(&table.short_name(&table.rows[row])),
                figure(x),
                figure(y)
            );
        }
    }
    *page += "</table></div>\n";
    if front.len() > MOST_ROWS {
        let _ = writeln!(page, "<p>{} more are on it.</p>", front.len() - MOST_ROWS);
    }
}

fn maps(page: &mut String, table: &Table, names: Option<&[String; 2]>) {
    *page += "<h2>Break-even maps</h2>\n";
    let maps = break_even_map::all(table, names);
    if maps.is_empty() {
        *page += "<p>A map needs two axes of numbers with two values or more.</p>\n";
        return;
    }
    *page += "<p>A cell has the time with nothing placed divided by the time with migration. Migrating \
              is faster in blue cells, and slower in orange ones. The black line is between \
              them.</p>\n";
    for map in maps.iter().take(MOST_MAPS) {
        if !map.others.is_empty() {
            let _ = writeln!(page, "<h3>{}</h3>", escaped(&map.others));
        }
        *page += &page_plots::map(map);
        page.push('\n');
    }
    if maps.len() > MOST_MAPS {
        let _ = writeln!(
            page,
            "<p>{} maps more are not drawn. The table has all results.</p>",
            maps.len() - MOST_MAPS
        );
    }
}

fn failed(page: &mut String, failures: &[(String, Failure)]) {
    if failures.is_empty() {
        return;
    }
    *page += "<h2>Points that have failed</h2>\n";
    for (name, failure) in failures.iter().take(MOST_ROWS) {
        let _ = writeln!(
            page,
            "<h3>{}</h3>\n<p>{}</p>",
            escaped(name),
            escaped(&failure.why)
        );
        if !failure.stderr.is_empty() {
            let _ = writeln!(page, "<pre>{}</pre>", escaped(&failure.stderr));
        }
    }
    if failures.len() > MOST_ROWS {
        let _ = writeln!(
            page,
            "<p>{} more have failed.</p>",
            failures.len() - MOST_ROWS
        );
    }
}

/// Text of XML. Characters that XML does not have become others.
fn escaped(text: &str) -> String {
    let mut all = String::new();
    for c in text.chars() {
        match c {
            '&' => all += "&amp;",
            '<' => all += "&lt;",
            '>' => all += "&gt;",
            '"' => all += "&quot;",
            '\n' | '\t' => all.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => all.push('\u{fffd}'),
            c => all.push(c),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result_table::sample;
    use crate::sweep_file::Metrics;

    #[test]
    fn the_page_has_all_parts_and_no_text_of_a_program_as_markup() {
        let sweep = SweepFile {
            file: "a/my.toml".into(),
            metrics: Metrics {
                sensitivity: "ratio".into(),
                pareto: ["migrating_s", "link"].map(String::from),
                map: None,
            },
            ..SweepFile::default()
        };
        let failure = Failure {
            key: "k".into(),
            platform: "p".into(),
            command: Vec::new(),
            why: "signal 6".into(),
            stderr: "<script>\u{1}".into(),
        };
        let page = html(&sweep, &sample(), &[("n 1".into(), failure)]);
        for part in [
            "Sensitivities of ratio",
            "Pareto front of migrating_s and link",
            "Break-even maps",
            "Points that have failed",
            "&lt;script&gt;\u{fffd}",
            "in 3 points",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(page.matches("<svg").count(), 3);
        // No address but those of names of XML.
        assert_eq!(page.matches("http").count(), page.matches("xmlns").count());
    }

    #[test]
    fn a_sweep_without_results_has_a_page() {
        let mut table = sample();
        table.rows.iter_mut().for_each(|row| row.measured = None);
        let sweep = SweepFile::default();
        assert!(html(&sweep, &table, &[]).contains("have results"));
    }
}
