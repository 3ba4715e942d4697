//! Numbers with units, as platform files have them: `"825 ns"`, `"2.4 GHz"`, `"4 KiB"`,
//! `"7.9 GB/s"`.
use std::fmt;

/// Femtoseconds in a second.
pub const FS_PER_S: f64 = 1e15;

/// A dimension: its units and the range of its values. Messages use the first unit.
#[derive(Debug)]
pub struct Dimension {
    pub name: &'static str,
    pub example: &'static str,
    /// Suffix and factor to the base unit.
    units: &'static [(&'static str, f64)],
    /// In the base unit.
    range: (f64, f64),
    /// The range as people read it.
    range_text: &'static str,
}

/// Base unit: femtoseconds.
pub static TIME: Dimension = Dimension {
    name: "a time",
    example: "825 ns",
    units: &[
        ("ps", 1e3),
        ("ns", 1e6),
        ("us", 1e9),
        ("µs", 1e9),
        ("ms", 1e12),
        ("s", 1e15),
    ],
    range: (0.0, 1e15),
    range_text: "0 s to 1 s",
};

/// A virtual time of a run. Base unit: femtoseconds.
pub static LONG_TIME: Dimension = Dimension {
    name: "a time",
    example: "2 ms",
    units: TIME.units,
    range: (0.0, 1e18),
    range_text: "0 s to 1000 s",
};

/// Base unit: hertz.
pub static FREQUENCY: Dimension = Dimension {
    name: "a frequency",
    example: "200 MHz",
    units: &[("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)],
    range: (1e5, 2e10),
    range_text: "100 kHz to 20 GHz",
};

/// Base unit: bytes.
pub static SIZE: Dimension = Dimension {
    name: "a size",
    example: "32 KiB",
    units: &[
        ("B", 1.0),
        ("KiB", 1024.0),
        ("MiB", 1048576.0),
        ("GiB", 1073741824.0),
    ],
    range: (1.0, 1099511627776.0),
    range_text: "1 B to 1024 GiB",
};

/// Base unit: bytes a second.
pub static BANDWIDTH: Dimension = Dimension {
    name: "a bandwidth",
    example: "7.9 GB/s",
    units: &[("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)],
    range: (1e5, 1e14),
    range_text: "0.1 MB/s to 100 TB/s",
};

/// Why a text is no quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wrong {
    Number,
    Unit,
    Range,
}

impl Dimension {
    /// The value in the base unit.
    pub fn parse(&self, text: &str) -> Result<f64, Wrong> {
        let text = text.trim();
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_')))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let number: f64 = number.replace('_', "").parse().map_err(|_| Wrong::Number)?;
        let unit = unit.trim();
        let (_, factor) = self
            .units
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or(Wrong::Unit)?;
        let value = number * factor;
        if value < self.range.0 || value > self.range.1 {
            return Err(Wrong::Range);
        }
        Ok(value)
    }

    /// The reason why `text` is wrong, for people.
    pub fn explain(&self, wrong: Wrong, text: &str) -> String {
        let units: Vec<&str> = self.units.iter().map(|(name, _)| *name).collect();
        match wrong {
            Wrong::Number => format!("\"{text}\" does not begin with a number"),
            Wrong::Unit => format!("\"{text}\" has none of the units {}", units.join(", ")),
            Wrong::Range => format!("\"{text}\" is not in the range {}", self.range_text),
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} such as \"{}\", {}",
            self.name, self.example, self.range_text
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!(TIME.parse("825 ns"), Ok(825e6));
        assert_eq!(TIME.parse("0.7us"), Ok(0.7e9));
        assert_eq!(TIME.parse("18.3 µs"), Ok(18.3e9));
        assert_eq!(FREQUENCY.parse("2.4 GHz"), Ok(2.4e9));
        assert_eq!(SIZE.parse("4 KiB"), Ok(4096.0));
        assert_eq!(BANDWIDTH.parse("7.9 GB/s"), Ok(7.9e9));
    }

    #[test]
    fn mistakes() {
        assert_eq!(TIME.parse("825"), Err(Wrong::Unit));
        assert_eq!(TIME.parse("825 MHz"), Err(Wrong::Unit));
        assert_eq!(TIME.parse("fast"), Err(Wrong::Number));
        assert_eq!(TIME.parse("-1 ns"), Err(Wrong::Range));
        assert_eq!(TIME.parse("2 s"), Err(Wrong::Range));
        assert_eq!(FREQUENCY.parse("1 kHz"), Err(Wrong::Range));
        assert_eq!(SIZE.parse(""), Err(Wrong::Number));
        assert_eq!(SIZE.parse("1e3 B"), Err(Wrong::Unit));
    }
}
