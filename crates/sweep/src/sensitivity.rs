//! How much a metric changes where one axis does, and all others stay.
use std::collections::BTreeMap;

use crate::result_table::Table;

/// An axis's influence on a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    pub axis: String,
    /// The largest value of the metric by the smallest: the geometric mean over all settings of the
    /// other axes.
    pub mean: f64,
    /// The same for the setting where it is largest.
    pub most: f64,
    /// The geometric mean of the metric for each value of the axis.
    pub by_value: Vec<(String, f64)>,
}

/// The axes with two values or more, the most influential first. Points without the metric, and with
/// none of it, do not count.
pub fn all(table: &Table, metric: &str) -> Vec<Sensitivity> {
    let Some((values, _)) = table.column(metric) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (at, axis) in table.axes.iter().enumerate() {
        if axis.values.len() < 2 {
            continue;
        }
        let mut groups: BTreeMap<Vec<&str>, Vec<f64>> = BTreeMap::new();
        let mut by_value: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (row, value) in table.rows.iter().zip(&values) {
            let Some(value) = value.filter(|value| *value > 0.0) else {
                continue;
            };
            let others = row.labels.iter().enumerate();
            let others = others.filter(|(number, _)| *number != at);
            let others = others.map(|(_, label)| label.as_str()).collect();
            groups.entry(others).or_default().push(value);
            by_value.entry(&row.labels[at]).or_default().push(value);
        }
        let spreads = groups.values().filter(|group| group.len() > 1);
        let spreads: Vec<f64> = spreads.map(|group| spread(group)).collect();
        if spreads.is_empty() {
            continue;
        }
        let of_value = |value: &String| {
            let values = by_value.get(value.as_str())?;
            Some((value.clone(), geometric_mean(values)))
        };
        all.push(Sensitivity {
            axis: axis.name.clone(),
            mean: geometric_mean(&spreads),
            most: spreads.iter().copied().fold(1.0, f64::max),
            by_value: axis.values.iter().filter_map(of_value).collect(),
        });
    }
    all.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    all
}

fn spread(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    most / least
}

fn geometric_mean(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (sum / values.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result_table::sample;

    #[test]
    fn the_axis_that_changes_most_is_first() {
        let all = all(&sample(), "migrating_s");
        let names: Vec<_> = all.iter().map(|one| one.axis.as_str()).collect();
        // An axis of one value is none.
        assert_eq!(names, ["n", "link"]);
        // 1.1, 2 and 11 µs; 11 and 20 µs, without the point that has failed.
        let want = (11.0 / 1.1 * 20.0 / 11.0_f64).sqrt();
        assert!((all[0].mean - want).abs() < 1e-9, "{all:?}");
        assert!((all[0].most - 10.0).abs() < 1e-9, "{all:?}");
        assert_eq!(all[1].by_value.len(), 2);
        assert!((all[1].most - 11.0 / 2.0).abs() < 1e-9, "{all:?}");
    }

    #[test]
    fn without_values_there_is_nothing_to_say() {
        assert_eq!(all(&sample(), "nxp_accesses"), []);
        assert_eq!(all(&sample(), "unknown"), []);
    }
}
