//! Figure 8: accelerators of requests that make so many steps with each request.
use std::fmt::Write as _;

use crate::markdown;
use crate::paper::{Curves, Plot, cells, number, plot_files};

/// Accelerators, and their names in the paper.
pub const ACCELERATORS: [(&str, &str); 4] = [
    ("stencil", "Stencil-3D"),
    ("md", "MD-KNN"),
    ("fft1d", "FFT-1D"),
    ("spmv", "SPMV"),
];
/// Cycles of the core in a microsecond.
const CLOCK: f64 = 3000.0;

/// Steps with a request, and what they have taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch {
    pub steps: f64,
    /// Microseconds of all steps, of the longest request, and how many requests there were.
    pub all: f64,
    pub longest: f64,
    pub requests: f64,
}

impl Batch {
    /// Microseconds of a request, and of the core's sleep between two of them.
    fn mean(&self) -> f64 {
        self.all / self.requests
    }
}

/// What was measured of an accelerator, in the order of its batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batches {
    pub name: &'static str,
    pub all: Vec<Batch>,
}

impl Batches {
    /// What the program prints.
    pub fn parse(text: &str) -> Result<Vec<Batch>, String> {
        let header = "accelerator,batch,ticks,cycles,invocations,longest,faults";
        let row = |[_, steps, _, cycles, requests, longest, _]: &[&str; 7]| {
            let (all, longest): (f64, f64) = (number(cycles)?, number(longest)?);
            Ok(Batch {
                steps: number(steps)?,
                all: all / CLOCK,
                longest: longest / CLOCK,
                requests: number(requests)?,
            })
        };
        cells::<7>(text.lines(), header)?.iter().map(row).collect()
    }
}

/// The part of the page.
pub fn section(all: &[Batches]) -> String {
    let mut text = String::from(
        "\n## Figure 8: accelerators of requests\n\n\
         So many steps with each request; the last line of each is all of them. Microseconds. The core wakes\n\
         once with each request, so the mean of requests is also the time between two of its turns.\n",
    );
    for batches in all {
        // Writing to a string does not fail.
        let _ = writeln!(text, "\n### {}\n", batches.name);
        let head = [
            "steps a request",
            "runtime",
            "mean request",
            "longest request",
            "wake-ups",
        ];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        for batch in &batches.all {
            lines.push(vec![
                format!("{:.0}", batch.steps),
                markdown::figure(Some(batch.all), 1),
                markdown::figure(Some(batch.mean()), 2),
                markdown::figure(Some(batch.longest), 2),
                format!("{:.0}", batch.requests),
            ]);
        }
        text.push_str(&markdown::table(&lines));
    }
    text.push_str("\n![Figure 8a](fig8a.svg)\n![Figure 8b](fig8b.svg)\n");
    text
}

/// The table, and plots over the logarithm of the steps with a request.
pub fn files(all: &[Batches]) -> Vec<(String, Vec<u8>)> {
    let mut csv = String::from("accelerator,steps,us,mean,longest,requests\n");
    for batches in all {
        for batch in &batches.all {
            let _ = writeln!(
                csv,
                "{},{},{:.2},{:.3},{:.3},{}",
                batches.name,
                batch.steps,
                batch.all,
                batch.mean(),
                batch.longest,
                batch.requests
            );
        }
    }
    let curves = |of: fn(&Batch, &Batch) -> f64| {
        let curve = |batches: &Batches| {
            let last = batches.all.last().copied();
            let points = batches.all.iter().zip(std::iter::repeat(last));
            let points =
                points.filter_map(|(batch, last)| Some((batch.steps.log2(), of(batch, &last?))));
            (batches.name.to_owned(), points.collect())
        };
        all.iter().map(curve).collect::<Vec<_>>()
    };
    let plot = |below: &str, curves| {
        Plot::Curves(Curves::over_counts(
            "Accelerators of requests",
            below,
            "log2 of the steps with a request",
            curves,
        ))
    };
    let times = curves(|batch, last| batch.all / last.all);
    // Those of all steps would leave no room for the others.
    let requests = curves(|batch, _| batch.mean().min(200.0));
    let mut files = vec![("fig8.csv".into(), csv.into_bytes())];
    files.extend(plot_files(
        "fig8a",
        &plot("runtime over that of one request for all steps", times),
    ));
    files.extend(plot_files(
        "fig8b",
        &plot("microseconds of a request, at most 200", requests),
    ));
    files
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn all() -> Vec<Batches> {
        let text = "accelerator,batch,ticks,cycles,invocations,longest,faults\n\
                    md,16,5400,1620000,64,33000,0\nmd,1024,5200,1560000,1,1560000,0\n";
        vec![Batches {
            name: "MD-KNN",
            all: Batches::parse(text).unwrap(),
        }]
    }

    #[test]
    fn a_table_has_times_of_requests() {
        let page = section(&all());
        for text in [
            "| 16              |   540.0 |         8.44 |           11.00 |       64 |",
            "### MD-KNN",
        ] {
            assert!(page.contains(text), "{page}");
        }
        assert_eq!(files(&all()).len(), 5);
    }
}
