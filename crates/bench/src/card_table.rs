//! The tables of `flick bench card`, from what bench/card_threads.c prints.
use std::fmt::Write as _;

use crate::bar::{self, Bar};
use crate::markdown::{self, figure};
use crate::numbers;
use crate::quantile::median;

/// Backends and numbers of threads, in the order of the table. The first is what the others are compared
/// with.
pub const CONFIGURATIONS: [(&str, u32); 4] =
    [("inline", 1), ("card", 1), ("card", 4), ("card", 64)];

/// Kernels that compute: the others cross.
const COMPUTE: usize = 5;

/// What a configuration has taken.
pub struct Run {
    /// The backend.
    pub backend: &'static str,
    /// How many threads share the work.
    pub threads: u32,
    kernels: Vec<String>,
    /// Nanoseconds of each kernel, by round.
    rounds: Vec<Vec<f64>>,
}

impl Run {
    /// Nothing yet.
    pub fn new((backend, threads): (&'static str, u32)) -> Self {
        Self {
            backend,
            threads,
            kernels: vec![],
            rounds: vec![],
        }
    }

    /// With the rounds that a process has printed. The error says what is wrong with its output.
    pub fn add(&mut self, output: &str) -> Result<(), String> {
        let mut lines = output.lines();
        let names = lines.next().ok_or("it is empty")?;
        self.kernels = names.split(',').map(Into::into).collect();
        if self.kernels.len() <= COMPUTE {
            return Err(format!("{names:?} has too few columns"));
        }
        for line in lines.filter(|line| !line.is_empty()) {
            self.rounds.push(numbers::parse(line, self.kernels.len())?);
        }
        Ok(())
    }

    fn name(&self) -> String {
        format!("{}, {}", self.backend, self.threads)
    }

    fn median(&self, kernel: usize) -> Option<f64> {
        let all: Vec<f64> = self.rounds.iter().map(|round| round[kernel]).collect();
        (!all.is_empty()).then(|| median(&all))
    }

    /// Its speed in that of another.
    fn speed(&self, other: &Self, kernel: usize) -> Option<f64> {
        Some(other.median(kernel)? / self.median(kernel)?)
    }

    /// The geometric mean over the kernels that compute.
    fn mean(&self, other: &Self) -> Option<f64> {
        let all: Option<Vec<f64>> = (0..COMPUTE).map(|k| self.speed(other, k)).collect();
        let logarithms = all?.into_iter().map(f64::ln).sum::<f64>();
        Some((logarithms / COMPUTE as f64).exp())
    }
}

/// Times, speeds, and what is compared with bars.
pub fn table(runs: &[Run]) -> String {
    let Some(first) = runs.first() else {
        return String::new();
    };
    let mut head = vec!["backend, threads".to_owned()];
    head.extend(first.kernels.iter().cloned());
    let row = |run: &Run, value: &dyn Fn(usize) -> Option<f64>, digits| {
        let values = (0..first.kernels.len()).map(|kernel| figure(value(kernel), digits));
        std::iter::once(run.name()).chain(values).collect()
    };
    let mut times: Vec<Vec<String>> = vec![head.clone()];
    let mut speeds: Vec<Vec<String>> = vec![head];
    for run in runs {
        let milliseconds = |kernel| run.median(kernel).map(|time| time / 1e6);
        times.push(row(run, &milliseconds, 1));
        speeds.push(row(run, &|kernel| run.speed(first, kernel), 2));
    }
    let mut text = format!(
        "Milliseconds, medians of {} rounds:\n\n{}\nSpeed in that of `{}`:\n\n{}\n",
        first.rounds.len(),
        markdown::table(&times),
        first.name(),
        markdown::table(&speeds),
    );
    if let [inline, _, few, many] = runs {
        let rows = [
            (
                "4 threads on the card / inline",
                few.mean(inline),
                Bar::AtLeast(0.8),
            ),
            (
                "64 threads / 4 threads, both on the card",
                many.mean(few),
                Bar::AtLeast(0.9),
            ),
        ];
        let rows = rows.map(|(name, value, bar)| bar::Row {
            name: format!("speed: {name}"),
            values: vec![value],
            bar,
        });
        let _ = write!(
            text,
            "Geometric means over the first {COMPUTE} kernels:\n\n{}",
            bar::table(&["mean"], rows.into_iter())
        );
    }
    text
}

/// A line for each round.
pub fn csv(runs: &[Run]) -> String {
    let names = runs
        .first()
        .map_or(String::new(), |run| run.kernels.join(","));
    let mut text = format!("backend,threads,{names}\n");
    for run in runs {
        for round in &run.rounds {
            let times: Vec<String> = round.iter().map(|time| format!("{time:.0}")).collect();
            let _ = writeln!(text, "{},{},{}", run.backend, run.threads, times.join(","));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(times: [f64; 4]) -> Vec<Run> {
        let mut runs: Vec<Run> = CONFIGURATIONS.map(Run::new).into();
        for (run, time) in runs.iter_mut().zip(times) {
            let line = [time; COMPUTE + 1].map(|time| format!("{time}")).join(",");
            run.add(&format!("a,b,c,d,e,calls\n{line}\n\n{line}\n"))
                .unwrap();
        }
        runs
    }

    #[test]
    fn speeds_are_compared_with_their_bars() {
        let text = table(&runs([8e6, 8e6, 1e7, 1e7]));
        assert!(text.contains("medians of 2 rounds"), "{text}");
        assert!(text.contains("| card, 4          | 0.80 |"), "{text}");
        assert!(text.ends_with("all are held.\n"), "{text}");
        let text = table(&runs([8e6, 8e6, 1e7, 2e7]));
        assert!(text.contains("**0.50**"), "{text}");
    }

    #[test]
    fn other_output_is_refused() {
        let mut run = Run::new(CONFIGURATIONS[0]);
        assert!(run.add("").is_err());
        assert!(run.add("a,b\n1,2\n").is_err());
        assert!(run.add("a,b,c,d,e,f\n1,2\n").is_err());
        assert!(run.add("a,b,c,d,e,f\n1,2,3,4,5,x\n").is_err());
    }

    #[test]
    fn each_round_has_a_line() {
        let text = csv(&runs([1.0, 2.0, 3.0, 4.0]));
        assert_eq!(text.lines().count(), 1 + 2 * CONFIGURATIONS.len());
        assert!(text.contains("\ncard,64,4,4,4,4,4,4\n"), "{text}");
    }
}
