//! What repetitions of a measurement say together.

/// The middle of some values, and the quartiles, between which half of them lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The value below which a quarter of them lie.
    pub low: f64,
    /// Half of them.
    pub median: f64,
    /// Three quarters.
    pub high: f64,
}

impl Spread {
    /// Of at least one value.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (sorted.len() - 1) as f64;
            let (below, rest) = (place.floor() as usize, place.fract());
            let above = (below + 1).min(sorted.len() - 1);
            sorted[below] + (sorted[above] - sorted[below]) * rest
        };
        Self {
            low: at(0.25),
            median: at(0.5),
            high: at(0.75),
        }
    }

    /// The same in another unit.
    pub fn times(self, factor: f64) -> Self {
        Self {
            low: self.low * factor,
            median: self.median * factor,
            high: self.high * factor,
        }
    }

    /// How far the quartiles are apart, as a share of the median.
    pub fn width(&self) -> f64 {
        match self.median > 0.0 {
            true => (self.high - self.low) / self.median,
            false => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_between_neighbours() {
        let spread = Spread::of(&[5.0, 1.0, 3.0, 2.0]);
        assert_eq!((spread.low, spread.median, spread.high), (1.75, 2.5, 3.5));
        assert!((spread.width() - 0.7).abs() < 1e-12);
        assert_eq!(Spread::of(&[4.0]).width(), 0.0);
        assert_eq!(Spread::of(&[4.0]).times(0.5).median, 2.0);
    }
}
