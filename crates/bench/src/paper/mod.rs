//! The paper's tables and figures beside what a platform predicts (`flick bench paper`).
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use flick_image::output;

pub use cited::{DATASETS, Dataset, HOST_NXP_HOST, NXP_HOST_NXP, PAUSE};
pub use paper_bars::{Check, csv as check_csv, table as check_table, within};
pub use paper_tables::off;
pub use plot::{Curves, Plot};
pub use read::{Chase, Null, Search, Times, cells, number};

mod cited;
mod closed;
mod paper_bars;
mod paper_tables;
mod plot;
mod read;
#[cfg(test)]
pub(crate) mod sample_output;

/// Everything that was measured.
pub struct Results {
    /// What it was measured with, for the head of the page.
    pub by: String,
    /// On the paper's own platform.
    pub null: Null,
    /// The curves of Figure 5. The first is the paper's own platform.
    pub lines: Vec<Line>,
    /// The rows of Table IV that were asked for.
    pub graphs: Vec<Graph>,
}

/// A curve of Figure 5.
pub struct Line {
    pub label: String,
    /// Without a pause between calls, and with one.
    pub chases: [Chase; 2],
}

/// A row of Table IV.
pub struct Graph {
    pub dataset: &'static Dataset,
    pub uncalibrated: Search,
    /// With the constant that was fitted on one graph.
    pub fitted: Option<Search>,
}

/// Writes the page, the tables and the plots into `dir`. The error has the path in it.
pub fn write(results: &Results, dir: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut files: Vec<(String, Vec<u8>)> = paper_tables::csv(results)
        .into_iter()
        .map(|(name, text)| (format!("{name}.csv"), text.into_bytes()))
        .collect();
    for (name, plot) in plot::all(results) {
        files.extend(plot_files(name, &plot));
    }
    files.push(("paper.md".into(), page(results).into_bytes()));
    write_files(files, dir)
}

/// A plot in both forms, with the names of the files.
pub fn plot_files(name: &str, plot: &Plot) -> [(String, Vec<u8>); 2] {
    [
        (format!("{name}.svg"), plot.svg().into_bytes()),
        (format!("{name}.png"), plot.png()),
    ]
}

/// Writes files of these names into `dir`. The error has the path in it.
pub fn write_files(
    files: Vec<(String, Vec<u8>)>,
    dir: &Path,
) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut written = Vec::new();
    for (name, content) in files {
        let path = dir.join(name);
        output::write(&path, &content).map_err(|error| (path.clone(), error))?;
        written.push(path);
    }
    Ok(written)
}

/// What the bars say: what is predicted, and whether it is near enough to the paper.
pub fn checks(results: &Results) -> Vec<Check> {
    paper_bars::checks(results)
}

/// The page for people.
pub fn page(results: &Results) -> String {
    let mut text = String::from("# The paper's tables and figures, predicted\n\n");
    let _ = writeln!(
        text,
        "{}. What is input, what is fitted and what is predicted: docs/paper.md.\n\n## Bars\n",
        results.by
    );
    text.push_str(&paper_bars::table(&checks(results)));
    text.push_str("\n## Tables II and III: a migration there and back\n\n");
    text.push_str(&paper_tables::systems(&results.null));
    text.push('\n');
    text.push_str(&paper_tables::crossings(&results.null));
    text.push_str("\n![Migration there and back](migration.svg)\n");
    text.push_str("\n## Figure 5: pointer chasing\n\n");
    text.push_str(&paper_tables::curves(&results.lines));
    text.push_str("\n![Figure 5a](fig5a.svg)\n![Figure 5b](fig5b.svg)\n");
    if !results.graphs.is_empty() {
        text.push_str("\n## Table IV: breadth-first search\n\n");
        text.push_str(&paper_tables::searches(&results.graphs));
        text.push('\n');
        text.push_str(&paper_tables::graphs(&results.graphs));
        text.push_str("\n![Table IV](table4.svg)\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let files = write(&sample_output::results(), dir.path()).unwrap();
        let names: Vec<_> = files
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap())
            .collect();
        for name in [
            "paper.md",
            "table2.csv",
            "table3.csv",
            "fig5a.csv",
            "fig5b.csv",
            "table4.csv",
            "graphs.csv",
            "bars.csv",
            "migration.svg",
            "fig5a.png",
            "fig5b.svg",
            "table4.png",
        ] {
            assert!(names.contains(&name), "{name} is not among {names:?}");
        }
        for path in &files {
            assert!(std::fs::metadata(path).unwrap().len() > 100, "{path:?}");
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (path, error) = write(&sample_output::results(), &dir.path().join("no")).unwrap_err();
        assert!(path.starts_with(dir.path().join("no")));
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_page_has_the_papers_figures_beside_the_predicted() {
        let page = page(&sample_output::results());
        for text in [
            "| Flick, predicted",
            "| host-NxP-host |     18.30 |         18.30 | +0.0 % |",
            "| Pokec",
            "107.4",
            "![Figure 5b](fig5b.svg)",
        ] {
            assert!(page.contains(text), "{text:?} is not in\n{page}");
        }
    }
}
