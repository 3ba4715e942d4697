//! `flick bench truth`: the programs, and their real times beside predicted ones.
use std::io;
use std::path::{Path, PathBuf};

use crate::paper::{Curves, Plot, plot_files, write_files};

pub use list::{Program, no_program, read};
pub use real_times::{Results, Row};

mod list;
mod real_times;

/// Errors above are as far as the plot goes. Per cent.
const MOST_SHOWN: f64 = 100.0;

/// The curve of errors: so many per cent of the programs have this error or less.
fn plot(results: &Results) -> Plot {
    let mut groups: Vec<&str> = results.rows.iter().map(|row| row.group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    let curve = |label: &str, is_of: &dyn Fn(&Row) -> bool| {
        let rows = results.rows.iter().filter(|row| is_of(row));
        let mut errors: Vec<f64> = rows.map(|row| row.error().abs()).collect();
        errors.sort_by(f64::total_cmp);
        let count = errors.len() as f64;
        let points = (1..).zip(&errors);
        let points = points.map(|(n, error)| (f64::from(n) / count * 100.0, error.min(MOST_SHOWN)));
        (label.to_owned(), points.collect::<Vec<_>>())
    };
    let mut curves = vec![curve("all programs", &|_| true)];
    curves.extend(
        groups
            .into_iter()
            .map(|group| curve(group, &|row| row.group == group)),
    );
    curves.truncate(5);
    Plot::Curves(Curves::over_shares(
        "Error of the predicted time of programs, per cent",
        "of a processor's time; errors above 100 % are shown as 100",
        "per cent of the programs that have this error or less",
        MOST_SHOWN,
        curves,
    ))
}

/// Writes page, table and plot into a folder. The error has the path in it.
pub fn write(results: &Results, dir: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut files = vec![
        ("truth.md".to_owned(), results.page().into_bytes()),
        ("truth.csv".to_owned(), results.csv().into_bytes()),
    ];
    files.extend(plot_files("truth", &plot(results)));
    write_files(files, dir)
}
