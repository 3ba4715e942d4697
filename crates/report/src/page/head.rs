//! The answer: how long the run takes with and without migration.
use std::fmt::Write as _;

use flick_events::trace::Process;

use super::figures::{percent, significant, time};
use super::overview::Overview;
use super::text::{escape, file_name};

pub fn write(page: &mut String, process: &Process<'_>, overview: &Overview) {
    let _ = write!(
        page,
        "<header>\n<h1>{}</h1>\n<p class=\"about\">on <b>{}</b> &#183; {} &#183; process {}</p>\n",
        escape(file_name(&process.program)),
        escape(&process.platform),
        escape(&process.program),
        process.pid,
    );
    match &process.prediction {
        Some(prediction) => {
            *page += &verdict(prediction.migrating, prediction.baseline());
            let mut times = vec![
                ("with migration", "nxp", prediction.migrating),
                ("all on the host", "host", prediction.staying),
            ];
            if prediction.baseline_moves() {
                times.push(("with nothing placed", "host", prediction.before));
            }
            let longest = times.iter().map(|(_, _, time)| *time).max().unwrap_or(0);
            *page += "<table class=\"answer\">\n";
            for (name, class, value) in times {
                let _ = writeln!(
                    page,
                    "<tr><th scope=\"row\">{name}</th><td class=\"number\">{}</td><td class=\"length\">\
                     <span class=\"{class}\" style=\"width:{:.2}%\"></span></td></tr>",
                    time(value),
                    percent(value, longest)
                );
            }
            *page += "</table>\n";
            for about in [prediction.about_baseline(), prediction.about_data()] {
                if !about.is_empty() {
                    let text = escape(&about.join(" "));
                    let _ = writeln!(page, "<p class=\"about\">{text}</p>");
                }
            }
        }
        None => {
            let _ = writeln!(
                page,
                "<p class=\"verdict\">No prediction: the process did not come to its exit. \
                 The trace ends after {}.</p>",
                time(overview.duration())
            );
        }
    }
    *page += "</header>\n";
}

/// One sentence.
fn verdict(migrating: u64, staying: u64) -> String {
    let (class, text) = if migrating == 0 || staying == 0 {
        ("", "The run took no time on this platform.".to_owned())
    } else {
        let ratio = staying as f64 / migrating as f64;
        match ratio {
            r if (0.995..1.005).contains(&r) => {
                ("", "Migration makes no difference to this run.".into())
            }
            r if r > 1.0 => (
                " pays",
                format!(
                    "Migration pays: {}x as fast as the host alone.",
                    significant(r)
                ),
            ),
            r => (
                " loses",
                format!(
                    "Migration does not pay: {}x as long as the host alone.",
                    significant(1.0 / r)
                ),
            ),
        }
    };
    format!("<p class=\"verdict{class}\">{text}</p>\n")
}

#[cfg(test)]
mod tests {
    use super::verdict;

    #[test]
    fn verdicts() {
        assert!(verdict(100, 264).contains("2.64x as fast"));
        assert!(verdict(300, 200).contains("1.50x as long"));
        assert!(verdict(1000, 1001).contains("no difference"));
        assert!(verdict(0, 7).contains("no time"));
    }
}
