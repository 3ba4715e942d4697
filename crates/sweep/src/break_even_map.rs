//! Break-even maps: over two axes of numbers, where migrating is faster than nothing placed.
use std::collections::HashMap;

use crate::axis_values::Axis;
use crate::result_table::{Table, ratio};

/// A map for one setting of the other axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The setting, where other axes have several values.
    pub others: String,
    pub x: Axis,
    pub y: Axis,
    /// By `y`, then `x`, both ascending: how many times as fast.
    pub ratios: Vec<Vec<Option<f64>>>,
}

/// The maps of two axes.
pub fn of_axes(table: &Table, x: usize, y: usize) -> Vec<Map> {
    let (Some(across), Some(up)) = (ascending(&table.axes[x]), ascending(&table.axes[y])) else {
        return Vec::new();
    };
    let mut maps = Vec::new();
    let mut known = HashMap::new();
    for row in &table.rows {
        let others = row.labels.iter().enumerate();
        let others: Vec<(usize, &str)> = others
            .filter(|(number, _)| *number != x && *number != y)
            .map(|(number, label)| (number, label.as_str()))
            .collect();
        let labels: Vec<&str> = others.iter().map(|(_, label)| *label).collect();
        let at = *known.entry(labels).or_insert_with(|| {
            let varied = others.iter();
            let varied = varied.filter(|(number, _)| table.axes[*number].values.len() > 1);
            let words: Vec<_> = varied
                .map(|(number, label)| format!("{} {label}", table.axes[*number].name))
                .collect();
            maps.push(Map {
                others: words.join(", "),
                x: across.clone(),
                y: up.clone(),
                ratios: vec![vec![None; across.values.len()]; up.values.len()],
            });
            maps.len() - 1
        });
        let column = across.values.iter().position(|v| *v == row.labels[x]);
        let line = up.values.iter().position(|v| *v == row.labels[y]);
        if let (Some(column), Some(line)) = (column, line) {
            maps[at].ratios[line][column] = row.measured.as_ref().and_then(ratio);
        }
    }
    maps
}

/// The maps of all pairs of axes of numbers that have two values or more, or of the pair of these
/// names.
pub fn all(table: &Table, names: Option<&[String; 2]>) -> Vec<Map> {
    if let Some([x, y]) = names {
        let position = |name: &String| table.axes.iter().position(|axis| axis.name == *name);
        return match (position(x), position(y)) {
            (Some(x), Some(y)) if x != y => of_axes(table, x, y),
            _ => Vec::new(),
        };
    }
    let numeric: Vec<usize> = (0..table.axes.len())
        .filter(|&at| table.axes[at].values.len() > 1 && table.axes[at].numbers().is_some())
        .collect();
    let mut maps = Vec::new();
    for (number, &y) in numeric.iter().enumerate() {
        for &x in &numeric[number + 1..] {
            maps.extend(of_axes(table, x, y));
        }
    }
    maps
}

fn ascending(axis: &Axis) -> Option<Axis> {
    let (numbers, _) = axis.numbers()?;
    let mut all: Vec<_> = numbers.into_iter().zip(axis.values.clone()).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(Axis {
        name: axis.name.clone(),
        values: all.into_iter().map(|(_, text)| text).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result_table::sample;

    #[test]
    fn migrating_pays_with_much_work_and_a_fast_link() {
        let maps = all(&sample(), None);
        assert_eq!(maps.len(), 1);
        let map = &maps[0];
        assert_eq!((map.x.name.as_str(), map.y.name.as_str()), ("n", "link"));
        let pays = |line: usize| -> Vec<Option<bool>> {
            let ratios = map.ratios[line].iter();
            ratios.map(|ratio| ratio.map(|r| r > 1.0)).collect()
        };
        assert_eq!(pays(0), [Some(false), Some(true), Some(true)]);
        assert_eq!(pays(1), [None, Some(false), Some(true)]);
    }

    #[test]
    fn a_map_for_each_setting_of_the_others_and_values_in_order() {
        let mut table = sample();
        table.axes[2].values.reverse();
        table.axes[0].values.push("c".into());
        let mut others = table.rows.clone();
        others.iter_mut().for_each(|row| row.labels[0] = "c".into());
        table.rows.extend(others);
        let names = ["link", "n"].map(String::from);
        let maps = all(&table, Some(&names));
        assert_eq!(maps.len(), 2);
        assert_eq!(maps[1].others, "platform c");
        assert_eq!(maps[1].y.values, ["1", "10", "100"]);
        assert_eq!(all(&table, Some(&["n", "n"].map(String::from))), []);
    }
}
