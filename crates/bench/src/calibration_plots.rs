//! Plots of what `flick platform calibrate` has measured: medians, and the quartiles as dashed lines.
use flick_calibration::{Curve, Measured};

use crate::paper::{Curves, Plot, plot_files};

fn bytes(power: f64) -> String {
    let (unit, less) = match power {
        30.0.. => ("GiB", 30.0),
        20.0.. => ("MiB", 20.0),
        10.0.. => ("KiB", 10.0),
        _ => ("B", 0.0),
    };
    format!("{} {unit}", 2f64.powf(power - less))
}

fn number(power: f64) -> String {
    format!("{}", 2f64.powf(power).round())
}

fn plot(
    (title, name): (&str, &'static str),
    marks: fn(f64) -> String,
    curve: &Curve,
    below: &str,
) -> Plot {
    let of = |label: &str, value: fn(&flick_calibration::Spread) -> f64| {
        let points = curve.iter().map(|(at, spread)| (*at as f64, value(spread)));
        (label.to_owned(), points.collect())
    };
    let curves = vec![
        of("median", |spread| spread.median),
        of("a quarter is below", |spread| spread.low),
        of("a quarter is above", |spread| spread.high),
    ];
    Plot::Curves(Curves::over_powers(title, below, name, marks, curves))
}

/// The files of all plots: names without a folder, and content. `below` says what was measured when.
pub fn files(measured: &Measured, below: &str) -> Vec<(String, Vec<u8>)> {
    let all = [
        (
            "sizes",
            (
                "A load that waits for the one before",
                "bytes over which loads are spread",
            ),
            bytes as fn(f64) -> String,
            &measured.sizes,
        ),
        (
            "pages",
            (
                "A load that waits for the one before, one line of each page",
                "pages of 4 KiB",
            ),
            number,
            &measured.pages,
        ),
        (
            "window",
            (
                "Two misses that do not wait for each other",
                "instructions from one to the next",
            ),
            number,
            &measured.apart,
        ),
        (
            "misses",
            (
                "A load of the whole memory, several chains at a time",
                "chains",
            ),
            number,
            &measured.chains,
        ),
        (
            "streams",
            (
                "A line of the whole memory, several streams in turn",
                "streams",
            ),
            number,
            &measured.streams,
        ),
    ];
    let drawn = all.into_iter().filter(|(.., curve)| !curve.is_empty());
    drawn
        .flat_map(|(file, words, marks, curve)| plot_files(file, &plot(words, marks, curve, below)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_sizes_and_numbers() {
        let sizes = [6.0, 12.0, 21.0, 30.0].map(bytes);
        assert_eq!(sizes, ["64 B", "4 KiB", "2 MiB", "1 GiB"]);
        assert_eq!(number(5.0), "32");
    }
}
