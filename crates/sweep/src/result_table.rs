//! The table of results: a row for each point, a column for each axis and metric.
use crate::axis_values::{Axis, Dimension, number};
use crate::result_files::Measured;

pub const MIGRATING: &str = "migrating_s";
pub const RATIO: &str = "ratio";
pub const CROSSINGS: &str = "crossings";
/// The last column: `ok` or `failed`.
pub const STATUS: &str = "status";

/// A column of numbers that a run gives.
pub struct Metric {
    pub name: &'static str,
    /// Whether less of it is better.
    pub less_is_better: bool,
    /// Whether it is a whole number.
    pub whole: bool,
    pub of: fn(&Measured) -> Option<f64>,
}

const fn count(name: &'static str, of: fn(&Measured) -> Option<f64>) -> Metric {
    Metric {
        name,
        less_is_better: true,
        whole: true,
        of,
    }
}

const fn time(name: &'static str, of: fn(&Measured) -> Option<f64>) -> Metric {
    Metric {
        name,
        less_is_better: true,
        whole: false,
        of,
    }
}

/// All metrics, in the order of the columns.
pub const METRICS: [Metric; 12] = [
    time("before_s", |m| seconds(m.before_ps)),
    time("staying_s", |m| seconds(m.staying_ps)),
    time(MIGRATING, |m| seconds(m.migrating_ps)),
    Metric {
        name: RATIO,
        less_is_better: false,
        whole: false,
        of: ratio,
    },
    // Each call goes there and back.
    count(CROSSINGS, |m| {
        Some(2.0 * (m.host_to_nxp as f64 + m.nxp_to_host as f64))
    }),
    count("host_to_nxp", |m| Some(m.host_to_nxp as f64)),
    count("nxp_to_host", |m| Some(m.nxp_to_host as f64)),
    count("nxp_instructions", |m| Some(m.nxp_instructions as f64)),
    count("host_accesses", |m| Some(m.host_accesses as f64)),
    count("nxp_accesses", |m| Some(m.nxp_accesses as f64)),
    count("heap_peak_bytes", |m| Some(m.heap_peak_bytes as f64)),
    count("threads", |m| Some(m.threads as f64)),
];

fn seconds(ps: u64) -> Option<f64> {
    Some(ps as f64 / 1e12)
}

/// How many times as fast the run is with migration as with nothing placed.
pub fn ratio(measured: &Measured) -> Option<f64> {
    (measured.migrating_ps > 0).then(|| measured.before_ps as f64 / measured.migrating_ps as f64)
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// A text for each axis.
    pub labels: Vec<String>,
    /// `None`: the point has failed.
    pub measured: Option<Measured>,
}

/// The table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub axes: Vec<Axis>,
    pub rows: Vec<Row>,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    Text(Vec<String>),
    Real(Vec<Option<f64>>),
    Whole(Vec<Option<i64>>),
    Truth(Vec<Option<bool>>),
}

impl Table {
    /// The columns with their names.
    pub fn columns(&self) -> Vec<(String, Cells)> {
        let mut columns = Vec::new();
        for (at, axis) in self.axes.iter().enumerate() {
            let texts = || self.rows.iter().map(|row| row.labels[at].clone());
            match axis.numbers() {
                Some((_, Dimension::Plain)) => {
                    columns.push((axis.name.clone(), Cells::Real(self.numbers_of_axis(at))));
                }
                Some((_, dimension)) => {
                    columns.push((axis.name.clone(), Cells::Text(texts().collect())));
                    let name = format!("{}{}", axis.name, dimension.suffix());
                    columns.push((name, Cells::Real(self.numbers_of_axis(at))));
                }
                None => columns.push((axis.name.clone(), Cells::Text(texts().collect()))),
            }
        }
        for metric in &METRICS {
            let values = self.rows.iter().map(|row| self.metric(row, metric));
            let cells = match metric.whole {
                true => Cells::Whole(values.map(|value| value.map(|v| v as i64)).collect()),
                false => Cells::Real(values.collect()),
            };
            columns.push((metric.name.to_owned(), cells));
        }
        let exact = self.rows.iter();
        let exact = exact.map(|row| row.measured.as_ref().map(|m| m.exact));
        columns.push(("exact".to_owned(), Cells::Truth(exact.collect())));
        let status = |row: &Row| match row.measured {
            Some(_) => "ok".to_owned(),
            None => "failed".to_owned(),
        };
        let status = self.rows.iter().map(status).collect();
        columns.push((STATUS.to_owned(), Cells::Text(status)));
        columns
    }

    fn numbers_of_axis(&self, at: usize) -> Vec<Option<f64>> {
        let rows = self.rows.iter();
        rows.map(|row| number(&row.labels[at]).map(|(value, _)| value))
            .collect()
    }

    fn metric(&self, row: &Row, metric: &Metric) -> Option<f64> {
        (metric.of)(row.measured.as_ref()?)
    }

    /// The values of a metric or of an axis of numbers, and whether less is better. Less of an axis
    /// is: it is a cost of hardware, or of work.
    pub fn column(&self, name: &str) -> Option<(Vec<Option<f64>>, bool)> {
        if let Some(metric) = METRICS.iter().find(|metric| metric.name == name) {
            let values = self.rows.iter().map(|row| self.metric(row, metric));
            return Some((values.collect(), metric.less_is_better));
        }
        let at = self.axes.iter().position(|axis| axis.name == name)?;
        Some((self.numbers_of_axis(at), true))
    }

    /// The labels of a row that differ between rows: `placement marks, batch 10`.
    pub fn short_name(&self, row: &Row) -> String {
        let varied = self.axes.iter().zip(&row.labels);
        let varied = varied.filter(|(axis, _)| axis.values.len() > 1);
        let all: Vec<_> = varied
            .map(|(axis, label)| format!("{} {label}", axis.name))
            .collect();
        all.join(", ")
    }

    /// As comma-separated values (RFC 4180, with line feeds).
    pub fn csv(&self) -> String {
        let columns = self.columns();
        let names: Vec<_> = columns.iter().map(|(name, _)| quoted(name)).collect();
        let mut text = names.join(",") + "\n";
        for row in 0..self.rows.len() {
            let cells: Vec<_> = columns.iter().map(|(_, cells)| cells.text(row)).collect();
            text += &cells.join(",");
            text.push('\n');
        }
        text
    }
}

impl Cells {
    fn text(&self, row: usize) -> String {
        match self {
            Self::Text(all) => quoted(&all[row]),
            Self::Real(all) => all[row].map_or(String::new(), |value| value.to_string()),
            Self::Whole(all) => all[row].map_or(String::new(), |value| value.to_string()),
            Self::Truth(all) => all[row].map_or(String::new(), |value| value.to_string()),
        }
    }
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// A table for tests: ratios by two axes, with one point that has failed.
#[cfg(test)]
pub fn sample() -> Table {
    let axis = |name: &str, values: &[&str]| Axis {
        name: name.into(),
        values: values.iter().map(|v| (*v).to_owned()).collect(),
    };
    let axes = vec![
        axis("platform", &["a,b"]),
        axis("link", &["1 us", "10 us"]),
        axis("n", &["1", "10", "100"]),
    ];
    let mut rows = Vec::new();
    for (link, cost) in [("1 us", 1_000_000), ("10 us", 10_000_000)] {
        for n in [1_u64, 10, 100] {
            let measured = Measured {
                before_ps: 500_000 * n,
                staying_ps: 500_000 * n,
                migrating_ps: cost + 100_000 * n,
                host_to_nxp: 1,
                exact: true,
                ..Measured::default()
            };
            rows.push(Row {
                labels: vec!["a,b".into(), link.into(), n.to_string()],
                measured: (cost, n).ne(&(10_000_000, 1)).then_some(measured),
            });
        }
    }
    Table { axes, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_for_each_point() {
        let csv = sample().csv();
        let lines: Vec<_> = csv.lines().collect();
        assert_eq!(
            lines[0],
            "platform,link,link_s,n,before_s,staying_s,migrating_s,ratio,crossings,host_to_nxp,\
             nxp_to_host,nxp_instructions,host_accesses,nxp_accesses,heap_peak_bytes,threads,exact,status"
        );
        assert_eq!(
            lines[2],
            "\"a,b\",1 us,0.000001,10,0.000005,0.000005,0.000002,2.5,2,1,0,0,0,0,0,0,true,ok"
        );
        assert_eq!(lines[4], "\"a,b\",10 us,0.00001,1,,,,,,,,,,,,,,failed");
        assert_eq!(lines.len(), 7);
    }

    #[test]
    fn columns_by_name() {
        let table = sample();
        let (ratio, less) = table.column(RATIO).unwrap();
        assert!(!less && ratio[1] == Some(2.5) && ratio[3].is_none());
        let (link, less) = table.column("link").unwrap();
        assert!(less && link[5] == Some(1e-5));
        assert_eq!(table.column("other"), None);
        assert_eq!(table.short_name(&table.rows[1]), "link 1 us, n 10");
    }
}
