//! Figures as people read them.

/// Picoseconds, with three significant digits.
pub fn time(picoseconds: u64) -> String {
    time_of(picoseconds as f64)
}

/// The same for an average.
pub fn time_of(picoseconds: f64) -> String {
    const UNITS: [&str; 5] = ["ps", "ns", "µs", "ms", "s"];
    let mut value = picoseconds;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if value == 0.0 {
        return "0 s".into();
    }
    if unit == 0 && value.fract() == 0.0 {
        return format!("{value:.0} ps");
    }
    format!("{} {}", significant(value), UNITS[unit])
}

/// Three significant digits, or all before the point.
pub fn significant(value: f64) -> String {
    if value >= 999.5 {
        return flick_events::number::grouped(value.round() as u64);
    }
    let decimals = match value.abs() {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A count that may be an average.
pub fn count(value: f64) -> String {
    if value.fract() == 0.0 {
        flick_events::number::grouped(value.round() as u64)
    } else {
        significant(value)
    }
}

/// `part` of `whole`; 0 of nothing.
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (picoseconds, text) in [
            (0, "0 s"),
            (999, "999 ps"),
            (1_000, "1.00 ns"),
            (18_301_000, "18.3 µs"),
            (999_499_999, "999 µs"),
            (999_500_000, "1.00 ms"),
            (u64::MAX, "18,446,744 s"),
        ] {
            assert_eq!(time(picoseconds), text);
        }
    }

    #[test]
    fn counts() {
        for (value, text) in [
            (0.0, "0"),
            (1.5, "1.50"),
            (812.0, "812"),
            (40_000.4, "40,000"),
        ] {
            assert_eq!(count(value), text);
        }
        assert_eq!(percent(1, 0), 0.0);
        assert_eq!(percent(1, 4), 25.0);
    }
}
