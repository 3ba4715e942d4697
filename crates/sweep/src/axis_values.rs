//! Values of an axis: texts, of which some are numbers with a unit.

/// Units, with their factors to the base unit and the dimension.
const UNITS: [(&str, f64, Dimension); 21] = [
    ("ps", 1e-12, Dimension::Time),
    ("ns", 1e-9, Dimension::Time),
    ("us", 1e-6, Dimension::Time),
    ("µs", 1e-6, Dimension::Time),
    ("ms", 1e-3, Dimension::Time),
    ("s", 1.0, Dimension::Time),
    ("min", 60.0, Dimension::Time),
    ("h", 3600.0, Dimension::Time),
    ("Hz", 1.0, Dimension::Frequency),
    ("kHz", 1e3, Dimension::Frequency),
    ("MHz", 1e6, Dimension::Frequency),
    ("GHz", 1e9, Dimension::Frequency),
    ("B", 1.0, Dimension::Size),
    ("KiB", 1024.0, Dimension::Size),
    ("MiB", 1048576.0, Dimension::Size),
    ("GiB", 1073741824.0, Dimension::Size),
    ("B/s", 1.0, Dimension::Bandwidth),
    ("MB/s", 1e6, Dimension::Bandwidth),
    ("GB/s", 1e9, Dimension::Bandwidth),
    ("TB/s", 1e12, Dimension::Bandwidth),
    ("", 1.0, Dimension::Plain),
];

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    Plain,
    Time,
    Frequency,
    Size,
    Bandwidth,
}

impl Dimension {
    /// The end of a column's name: the base unit.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Time => "_s",
            Self::Frequency => "_hz",
            Self::Size => "_bytes",
            Self::Bandwidth => "_bytes_per_s",
        }
    }
}

/// The number of a text such as `0.3 us`, in the base unit.
pub fn number(text: &str) -> Option<(f64, Dimension)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_')))
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let value: f64 = digits.replace('_', "").parse().ok()?;
    let unit = unit.trim();
    let (_, factor, dimension) = UNITS.iter().find(|(name, ..)| *name == unit)?;
    // A quotient by a power of ten is rounded once, and a product with its inverse twice.
    let value = match *factor < 1.0 {
        true => value / (1.0 / factor).round(),
        false => value * factor,
    };
    Some((value, *dimension))
}

/// A dimension of the sweep: a row of the table has one of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The name of the column.
    pub name: String,
    /// As the file has them, each once.
    pub values: Vec<String>,
}

impl Axis {
    /// The values as numbers of one dimension, where all are.
    pub fn numbers(&self) -> Option<(Vec<f64>, Dimension)> {
        let all: Option<Vec<_>> = self.values.iter().map(|text| number(text)).collect();
        let all = all?;
        let (_, dimension) = *all.first()?;
        let same = all.iter().all(|(_, other)| *other == dimension);
        same.then(|| (all.into_iter().map(|(value, _)| value).collect(), dimension))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_numbers_in_the_base_unit() {
        assert_eq!(number("0.5 us"), Some((0.5e-6, Dimension::Time)));
        assert_eq!(number("10 us"), Some((1e-5, Dimension::Time)));
        assert_eq!(number("4 KiB"), Some((4096.0, Dimension::Size)));
        assert_eq!(number("1_000"), Some((1000.0, Dimension::Plain)));
        for text in ["", "fast", "3 parsec", "1.2.3 us", "-"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn an_axis_of_two_dimensions_has_no_numbers() {
        let axis = |values: &[&str]| Axis {
            name: "a".into(),
            values: values.iter().map(|v| (*v).to_owned()).collect(),
        };
        let numbers = axis(&["1 us", "2 ms"]).numbers();
        assert_eq!(numbers, Some((vec![1e-6, 2e-3], Dimension::Time)));
        assert_eq!(axis(&["1 us", "2 MHz"]).numbers(), None);
        assert_eq!(axis(&["1 us", "none"]).numbers(), None);
        assert_eq!(axis(&[]).numbers(), None);
    }
}
