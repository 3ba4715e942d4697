//! Real times beside predicted ones: errors, bars and tables.
use std::fmt::Write as _;

use crate::bar::Bar;
use crate::{markdown, quantile};

/// What part of the predicted time is what, at least, to be named as the cause of an error.
const MAIN_PART: f64 = 0.4;
/// Errors up to here need no cause.
const WITHIN: f64 = 25.0;

/// A program that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub group: String,
    pub pair: Option<String>,
    /// Milliseconds of a processor: the median, and the quartiles.
    pub real: f64,
    pub low: f64,
    pub high: f64,
    /// Milliseconds, *before*.
    pub predicted: f64,
    /// Parts of the predicted time by their names, in milliseconds.
    pub shares: Vec<(String, f64)>,
    /// How often longer the timed run took.
    pub slowdown: f64,
}

impl Row {
    /// Per cent; above 0 the prediction is too long.
    pub fn error(&self) -> f64 {
        (self.predicted / self.real - 1.0) * 100.0
    }

    /// What most of the predicted time is, or that of the machine was not steady.
    pub fn cause(&self) -> String {
        let spread = (self.high - self.low) / self.real * 100.0;
        if spread > self.error().abs() {
            return format!("the real times spread by {spread:.0} %");
        }
        let most = self.shares.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        match most {
            Some((name, ms)) if *ms >= MAIN_PART * self.predicted => {
                format!("{name}: {:.0} %", ms / self.predicted * 100.0)
            }
            _ => "several".to_owned(),
        }
    }
}

/// All of them, at least one.
pub struct Results {
    /// What they were measured with.
    pub by: String,
    pub platform: String,
    pub rows: Vec<Row>,
}

impl Results {
    /// Pairs of rows: their name, the real ratio, and the predicted one.
    fn pairs(&self) -> Vec<(String, f64, f64)> {
        let mut pairs: Vec<(String, f64, f64)> = vec![];
        for (n, a) in self.rows.iter().enumerate() {
            let Some(name) = &a.pair else { continue };
            let later = self.rows[n + 1..].iter();
            for b in later.filter(|b| b.pair.as_ref() == Some(name)) {
                pairs.push((name.clone(), b.real / a.real, b.predicted / a.predicted));
            }
        }
        pairs
    }

    fn errors(&self) -> Vec<f64> {
        self.rows.iter().map(|row| row.error().abs()).collect()
    }

    /// The project's bars.
    pub fn bars(&self) -> Vec<(String, f64, Bar)> {
        let errors = self.errors();
        let count = errors.len() as f64;
        let within = errors.iter().filter(|&&error| error <= WITHIN).count() as f64;
        let mut bars = vec![
            (
                "median error, %".to_owned(),
                quantile::median(&errors),
                Bar::AtMost(10.0),
            ),
            (
                format!("programs within {WITHIN} %, %"),
                within / count * 100.0,
                Bar::AtLeast(90.0),
            ),
        ];
        let pairs = self.pairs();
        if !pairs.is_empty() {
            let right = pairs
                .iter()
                .filter(|(_, real, predicted)| (*real > 1.0) == (*predicted > 1.0))
                .count();
            bars.push((
                "pairs whose ratio has the right sign, %".to_owned(),
                right as f64 / pairs.len() as f64 * 100.0,
                Bar::AtLeast(100.0),
            ));
        }
        bars
    }

    /// The page.
    pub fn page(&self) -> String {
        let mut text = format!(
            "# Predicted time beside real time\n\n{}; platform {}.\n`docs/guide-calibrate.md` says how it is measured.\n\n## Bars\n\n",
            self.by, self.platform
        );
        let bars = self
            .bars()
            .into_iter()
            .map(|(name, value, bar)| crate::bar::Row {
                name,
                values: vec![Some(value)],
                bar,
            });
        text += &crate::bar::table(&["measured"], bars);
        text += "\n## Programs\n\nMilliseconds of a processor.\n\n";
        let head = [
            "program",
            "from",
            "real",
            "quartiles",
            "predicted",
            "error, %",
            "cause of more than 25 %",
            "timed run, times as long",
        ];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        for row in &self.rows {
            let error = row.error();
            lines.push(vec![
                row.name.clone(),
                row.group.clone(),
                format!("{:.1}", row.real),
                format!("{:.1} to {:.1}", row.low, row.high),
                format!("{:.1}", row.predicted),
                format!("{error:+.1}"),
                if error.abs() > WITHIN {
                    row.cause()
                } else {
                    String::new()
                },
                format!("{:.1}", row.slowdown),
            ]);
        }
        text += &markdown::table(&lines);
        let pairs = self.pairs();
        if !pairs.is_empty() {
            text += "\n## Pairs\n\nThe second version's time over the first one's.\n\n";
            let mut lines = vec![["task", "real", "predicted"].map(str::to_owned).to_vec()];
            for (name, real, predicted) in pairs {
                lines.push(vec![name, format!("{real:.2}"), format!("{predicted:.2}")]);
            }
            text += &markdown::table(&lines);
        }
        text += "\n![Errors of the predicted times](truth.svg)\n";
        text
    }

    /// The same for other programs.
    pub fn csv(&self) -> String {
        let mut csv = String::from(
            "program,group,real_ms,low_ms,high_ms,predicted_ms,error_percent,slowdown,shares\n",
        );
        for row in &self.rows {
            let shares: Vec<String> = row
                .shares
                .iter()
                .map(|(name, ms)| format!("{name}={ms:.3}"))
                .collect();
            let _ = writeln!(
                csv,
                "\"{}\",{},{:.3},{:.3},{:.3},{:.3},{:.2},{:.2},\"{}\"",
                row.name,
                row.group,
                row.real,
                row.low,
                row.high,
                row.predicted,
                row.error(),
                row.slowdown,
                shares.join("; ")
            );
        }
        csv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, pair: Option<&str>, real: f64, predicted: f64) -> Row {
        Row {
            name: name.to_owned(),
            group: "g".to_owned(),
            pair: pair.map(str::to_owned),
            real,
            low: real * 0.99,
            high: real * 1.01,
            predicted,
            shares: vec![
                ("host code".to_owned(), predicted * 0.2),
                ("waiting".to_owned(), predicted * 0.8),
            ],
            slowdown: 4.0,
        }
    }

    #[test]
    fn errors_bars_and_causes() {
        let results = Results {
            by: "by".to_owned(),
            platform: "p".to_owned(),
            rows: vec![
                row("a", Some("x"), 100.0, 90.0),
                row("b", Some("x"), 300.0, 330.0),
                row("c", None, 100.0, 200.0),
                row("d", Some("y"), 100.0, 100.0),
                row("e", Some("y"), 50.0, 120.0),
            ],
        };
        let values: Vec<f64> = results.bars().iter().map(|bar| bar.1).collect();
        assert_eq!(values.len(), 3);
        assert!((values[0] - 10.0).abs() < 0.01, "{values:?}");
        assert_eq!(values[1..], [60.0, 50.0]);
        assert_eq!(results.rows[2].cause(), "waiting: 80 %");
        let unsteady = Row {
            low: 50.0,
            high: 160.0,
            ..results.rows[2].clone()
        };
        assert_eq!(unsteady.cause(), "the real times spread by 110 %");
        let page = results.page();
        assert!(
            page.contains("| **60.00**") && page.contains("+100.0"),
            "{page}"
        );
        assert!(page.contains("| x ") && page.contains("3.67"), "{page}");
        assert_eq!(results.csv().lines().count(), 6);
        assert!(
            results
                .csv()
                .contains("\"c\",g,100.000,99.000,101.000,200.000,100.00,4.00,")
        );
    }
}
