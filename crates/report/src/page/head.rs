//! The answer: how long the run takes with and without migration.
use std::fmt::Write as _;

use flick_events::trace::Process;

use super::overview::Overview;
use super::page_figures::{percent, significant, time};
use super::page_names::{escape, file_name};

/// The header's begin: the names of the process, and how it was started.
pub fn title(page: &mut String, process: &Process<'_>) {
    let _ = write!(
        page,
        "<header>\n<h1>{}</h1>\n<p class=\"about\">on <b>{}</b> &#183; {} &#183; process {}</p>\n",
        escape(file_name(&process.program)),
        escape(&process.platform),
        escape(&process.program),
        process.pid,
    );
    if let Some(run) = &process.run {
        let words: Vec<String> = run.command.iter().map(|word| quoted(word)).collect();
        let _ = writeln!(
            page,
            "<p class=\"about\">{} &#183; <code>{}</code></p>",
            date(run.date),
            escape(&words.join(" "))
        );
    }
}

pub fn write(page: &mut String, process: &Process<'_>, overview: &Overview) {
    title(page, process);
    match &process.prediction {
        Some(prediction) => {
            let without = match prediction.baseline_moves() {
                true => "with nothing placed",
                false => "the host alone",
            };
            *page += &verdict(prediction.migrating, prediction.baseline(), without);
            let mut times = vec![
                ("with migration", prediction.migrating),
                ("all on the host", prediction.staying),
            ];
            if prediction.baseline_moves() {
                // It comes first where it is an answer of its own.
                let place = match prediction.has_own_memory() {
                    true => 0,
                    false => times.len(),
                };
                times.insert(place, ("with nothing placed", prediction.before));
            }
            let longest = times.iter().map(|(_, time)| *time).max().unwrap_or(0);
            *page += "<table class=\"answer\">\n";
            for (name, value) in times {
                let _ = writeln!(
                    page,
                    "<tr><th scope=\"row\">{name}</th><td class=\"number\">{}</td><td class=\"length\">\
                     <span class=\"whole\" style=\"width:{:.2}%\"></span></td></tr>",
                    time(value),
                    percent(value, longest)
                );
            }
            *page += "</table>\n";
            for about in [
                prediction.about_order(),
                prediction.about_baseline(),
                prediction.about_own_memory(),
                prediction.about_data(),
            ] {
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

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// `2026-01-31 12:00 UTC`
fn date(seconds: u64) -> String {
    let time = libc::time_t::try_from(seconds).unwrap_or(0);
    // SAFETY: all zeroes is a valid `tm`, which the call fills.
    let civil = unsafe {
        let mut civil: libc::tm = std::mem::zeroed();
        libc::gmtime_r(&time, &mut civil);
        civil
    };
    format!(
        "{}-{:02}-{:02} {:02}:{:02} UTC",
        i64::from(civil.tm_year) + 1900,
        civil.tm_mon + 1,
        civil.tm_mday,
        civil.tm_hour,
        civil.tm_min
    )
}

/// One sentence. The run takes the time `baseline` as `without` says.
fn verdict(migrating: u64, baseline: u64, without: &str) -> String {
    let (class, text) = if migrating == 0 || baseline == 0 {
        ("", "The run took no time on this platform.".to_owned())
    } else {
        let ratio = baseline as f64 / migrating as f64;
        match ratio {
            r if (0.995..1.005).contains(&r) => {
                ("", "Migration makes no difference to this run.".into())
            }
            r if r > 1.0 => (
                " pays",
                format!("Migration pays: {}x as fast as {without}.", significant(r)),
            ),
            r => (
                " loses",
                format!(
                    "Migration does not pay: {}x as long as {without}.",
                    significant(1.0 / r)
                ),
            ),
        }
    };
    format!("<p class=\"verdict{class}\">{text}</p>\n")
}

#[cfg(test)]
mod tests {
    use super::{date, quoted, verdict};

    #[test]
    fn dates_and_words() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(1_769_860_799), "2026-01-31 11:59 UTC");
        assert!(date(u64::MAX).ends_with("UTC"));
        assert_eq!(quoted("./in-1.txt"), "./in-1.txt");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn verdicts() {
        let host = "the host alone";
        assert!(verdict(100, 264, host).contains("2.64x as fast as the host alone."));
        assert!(verdict(300, 200, host).contains("1.50x as long as the host alone."));
        let moved = verdict(7120, 100, "with nothing placed");
        assert!(moved.contains("71.2x as long as with nothing placed."));
        assert!(verdict(1000, 1001, host).contains("no difference"));
        assert!(verdict(0, 7, host).contains("no time"));
    }
}
