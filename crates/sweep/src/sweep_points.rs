//! The points of a sweep: each has one value of every axis.
use crate::axis_values::Axis;
use crate::sweep_file::SweepFile;

/// A point, by its numbers in the lists of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The texts of the axes, in the order of [`SweepFile::axes`].
    pub labels: Vec<String>,
    pub platform: usize,
    /// Which values of the platform's axes it has, counted as digits are: the last axis runs fastest.
    pub combination: usize,
    pub placement: usize,
    pub input: usize,
    /// Values of the inputs' axes.
    pub input_values: Vec<String>,
}

/// All points, in the order of the table's rows.
pub fn all(sweep: &SweepFile) -> Vec<Point> {
    let axes = sweep.axes();
    let (platform_axes, input_axes) = (sweep.platform_axes.len(), sweep.input_axes.len());
    let mut points = Vec::with_capacity(sweep.count());
    let mut digits = vec![0; axes.len()];
    for _ in 0..sweep.count() {
        let texts = axes.iter().zip(&digits);
        let labels: Vec<String> = texts
            .map(|(axis, &digit)| axis.values[digit].clone())
            .collect();
        let of_platform = &digits[1..=platform_axes];
        let combination = of_platform
            .iter()
            .zip(&axes[1..])
            .fold(0, |sum, (digit, axis)| sum * axis.values.len() + digit);
        points.push(Point {
            platform: digits[0],
            combination,
            placement: digits[platform_axes + 1],
            input: digits[platform_axes + 2],
            input_values: labels[labels.len() - input_axes..].to_vec(),
            labels,
        });
        count_up(&mut digits, &axes);
    }
    points
}

fn count_up(digits: &mut [usize], axes: &[Axis]) {
    for (digit, axis) in digits.iter_mut().zip(axes).rev() {
        *digit += 1;
        if *digit < axis.values.len() {
            return;
        }
        *digit = 0;
    }
}

/// A platform with settings, as `FLICK_PLATFORM` has it.
pub fn platform_name(sweep: &SweepFile, platform: usize, combination: usize) -> String {
    let found = sweep.platforms.get(platform).map(|one| one.found.as_str());
    let mut rest = combination;
    let mut settings = Vec::new();
    for one in sweep.platform_axes.iter().rev() {
        let count = one.axis.values.len().max(1);
        if let Some(value) = one.axis.values.get(rest % count) {
            let of_axis: String = one.keys.iter().map(|k| format!(",{k}={value}")).collect();
            settings.push(of_axis);
        }
        rest /= count;
    }
    settings.reverse();
    found.unwrap_or_default().to_owned() + &settings.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep_file::PlatformName;
    use crate::sweep_file::{Input, Placement, PlatformAxis};

    fn axis(name: &str, values: &[&str]) -> Axis {
        Axis {
            name: name.into(),
            values: values.iter().map(|v| (*v).to_owned()).collect(),
        }
    }

    #[test]
    fn points_are_the_product_of_the_axes() {
        let of_platform = |name: &str, keys: &[&str], values: &[&str]| PlatformAxis {
            axis: axis(name, values),
            keys: keys.iter().map(|k| (*k).to_owned()).collect(),
        };
        let sweep = SweepFile {
            platforms: vec![PlatformName {
                name: "p".into(),
                found: "/p.toml".into(),
            }],
            platform_axes: vec![
                of_platform("a", &["a", "b.c"], &["1", "2"]),
                of_platform("d", &["d"], &["3", "4", "5"]),
            ],
            placements: vec![Placement::default(), Placement::default()],
            inputs: vec![Input::default()],
            input_axes: vec![axis("n", &["7", "8"])],
            ..SweepFile::default()
        };
        let points = all(&sweep);
        assert_eq!(points.len(), 24);
        let last = &points[23];
        assert_eq!((last.combination, last.placement), (5, 1));
        assert_eq!(last.labels, ["p", "2", "5", "", "", "8"]);
        assert_eq!(last.input_values, ["8"]);
        assert_eq!(
            platform_name(&sweep, 0, last.combination),
            "/p.toml,a=2,b.c=2,d=5"
        );
        assert_eq!(platform_name(&sweep, 0, 0), "/p.toml,a=1,b.c=1,d=3");
        for (number, point) in points.iter().enumerate() {
            let again = points.iter().position(|other| other == point);
            assert_eq!(again, Some(number));
        }
    }
}
