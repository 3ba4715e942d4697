//! The Pareto front: points of which no other one is better in both of two columns.

/// Two values of a point.
pub type Pair = (f64, f64);

/// The numbers of the points on the front, by ascending `x`. `less`: whether less is better in either
/// column. Points without both values are on no front; of equal points the first is.
pub fn of(points: &[Option<Pair>], less: (bool, bool)) -> Vec<usize> {
    let sign = |less: bool| if less { 1.0 } else { -1.0 };
    let mut all: Vec<(f64, f64, usize)> = points
        .iter()
        .enumerate()
        .filter_map(|(number, pair)| pair.map(|(x, y)| (number, x, y)))
        .map(|(number, x, y)| (sign(less.0) * x, sign(less.1) * y, number))
        .collect();
    all.sort_by(|a, b| {
        let by_values = a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
        by_values.then(a.2.cmp(&b.2))
    });
    let mut best = f64::INFINITY;
    let mut front = Vec::new();
    for (_, y, number) in all {
        if y < best {
            best = y;
            front.push(number);
        }
    }
    if !less.0 {
        front.reverse();
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_point_beats_one_of_the_front() {
        let points = [
            Some((1.0, 9.0)),
            Some((2.0, 5.0)),
            None,
            Some((2.0, 6.0)),
            Some((3.0, 5.0)),
            Some((4.0, 1.0)),
            Some((4.0, 1.0)),
        ];
        assert_eq!(of(&points, (true, true)), [0, 1, 5]);
        assert_eq!(of(&points, (false, false)), [0, 3, 4, 5]);
        assert_eq!(of(&points, (true, false)), [0]);
        assert_eq!(of(&[None], (true, true)), [0; 0]);
    }
}
