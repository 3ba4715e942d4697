//! What curves say: sizes of caches and their times, entries of a TLB, misses at a time, the window.
//!
//! All of it works on medians, and needs no knowledge of the machine.
use crate::measuring::Curve;

/// Growth over a doubling of the size below which a curve is level.
const LEVEL: f64 = 1.25;
/// Where a cache ends: so much of the way to the time of what is behind it.
const BEHIND: f64 = 0.1;

/// A cache, or the memory behind the last one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The time of a chained load.
    pub time: f64,
    /// The largest size that it holds and the smallest that it does not. The last level has none.
    pub size: Option<(usize, usize)>,
}

/// Medians of a curve, without the falls that only noise makes.
fn rising(curve: &Curve) -> Vec<(usize, f64)> {
    // Neighbours that fall are joined, with the mean of their logarithms.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for number in 0..curve.len() {
        // One value that was disturbed is none of the middle ones of three.
        let three = &curve[number.saturating_sub(1)..(number + 2).min(curve.len())];
        let value = match three {
            [_, _, _] => median(
                &three
                    .iter()
                    .map(|(_, spread)| spread.median)
                    .collect::<Vec<_>>(),
            ),
            _ => curve[number].1.median,
        };
        blocks.push((value.max(1e-6).ln(), 1));
        while let [.., (a, n), (b, m)] = blocks[..]
            && a > b
        {
            blocks.pop();
            blocks.pop();
            let all = (n + m) as f64;
            blocks.push(((a * n as f64 + b * m as f64) / all, n + m));
        }
    }
    let values = blocks
        .iter()
        .flat_map(|&(value, count)| std::iter::repeat_n(value.exp(), count));
    curve.iter().map(|(size, _)| *size).zip(values).collect()
}

fn median(values: &[f64]) -> f64 {
    crate::statistics::Spread::of(values).median
}

/// The levels of a curve of chained loads over sizes.
pub fn levels(curve: &Curve) -> Vec<Level> {
    let all = rising(curve);
    let Some(&(largest, last)) = all.last() else {
        return Vec::new();
    };
    // Runs of sizes at which the time hardly grows until twice the size.
    let mut runs: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut open = false;
    for (number, &(size, time)) in all.iter().enumerate() {
        let twice = all
            .iter()
            .find(|(other, _)| *other as f64 >= 1.98 * size as f64);
        let Some(&(_, then)) = twice else {
            break;
        };
        let is_level = then < LEVEL * time;
        if is_level && !open {
            runs.push(Vec::new());
        }
        if let Some(run) = runs.last_mut().filter(|_| is_level) {
            run.push(all[number]);
        }
        open = is_level;
    }
    let mut times: Vec<f64> = Vec::new();
    for run in &runs {
        // The middle: a run may begin and end in a slow rise.
        let middle = run[run.len() / 4..(3 * run.len()).div_ceil(4)].iter();
        let time = median(&middle.map(|(_, time)| *time).collect::<Vec<_>>());
        match times.last() {
            Some(before) if time < LEVEL * before => {}
            _ => times.push(time),
        }
    }
    match times.last() {
        Some(time) if last < LEVEL * time => {}
        _ => times.push(last),
    }
    let ends = times.windows(2).map(|pair| {
        let limit = pair[0] + BEHIND * (pair[1] - pair[0]);
        let held = all
            .iter()
            .rposition(|(_, time)| *time <= limit)
            .unwrap_or(0);
        let next = all.get(held + 1).map_or(largest, |(size, _)| *size);
        Some((all[held].0, next))
    });
    let ends: Vec<_> = ends.chain([None]).collect();
    let level = |(&time, size)| Level { time, size };
    times.iter().zip(ends).map(level).collect()
}

/// The value of a curve at a size, from its neighbours.
pub fn at(curve: &Curve, size: usize) -> f64 {
    let after = curve.iter().position(|(other, _)| *other >= size);
    match after {
        None => curve.last().map_or(0.0, |(_, spread)| spread.median),
        Some(0) => curve[0].1.median,
        Some(after) => {
            let ((a, low), (b, high)) = (&curve[after - 1], &curve[after]);
            let share = (size as f64 / *a as f64).ln() / (*b as f64 / *a as f64).ln();
            low.median * (high.median / low.median).powf(share)
        }
    }
}

/// The last level of a TLB, whose misses are walks of page tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tlb {
    /// The largest number of pages that it holds, and the smallest that it does not.
    pub entries: (usize, usize),
    /// The time of a walk.
    pub walk: f64,
    /// The time of a hit there, and not in the level before it.
    pub hit: f64,
}

/// Finds a TLB in the times of chained loads over pages with one line each. `sizes` has the times of as many
/// lines side by side, and `cycle` is the time of one.
pub fn tlb(pages: &Curve, sizes: &Curve, cycle: f64) -> Option<Tlb> {
    /// A hit in a second level takes less, and a walk more.
    const WALK: f64 = 20.0;
    let further: Vec<(usize, f64)> = pages
        .iter()
        .map(|(count, spread)| (*count, (spread.median - at(sizes, count * 64)).max(0.0)))
        .collect();
    let of = |from: usize, to: usize| {
        let inside = further
            .iter()
            .filter(|(count, _)| (from..=to).contains(count));
        let inside: Vec<f64> = inside.map(|(_, time)| *time).collect();
        (!inside.is_empty()).then(|| median(&inside))
    };
    // Noise alone does not last.
    let first = further
        .windows(3)
        .find(|three| three.iter().all(|(_, time)| *time > WALK * cycle))?[0]
        .0;
    let walk = of(first * 3 / 2, first * 4)?;
    let hit = of(first / 8, first / 2).unwrap_or(0.0);
    let limit = (walk + hit) / 2.0;
    let held = further
        .iter()
        .rposition(|(count, time)| *count <= 2 * first && *time <= limit)?;
    Some(Tlb {
        entries: (further[held].0, further.get(held + 1)?.0),
        walk,
        hit,
    })
}

/// The smallest number of chains with which loads are nearly as fast as they get: the misses at a time.
pub fn misses_at_a_time(chains: &Curve) -> usize {
    let best = chains
        .iter()
        .map(|(_, spread)| spread.median)
        .fold(f64::MAX, f64::min);
    let enough = chains
        .iter()
        .find(|(_, spread)| spread.median <= 1.05 * best);
    enough.map_or(1, |(count, _)| *count)
}

/// The smallest distance of two misses at which they do not overlap, in instructions. `None`: no
/// distance that was measured is clearly slower.
pub fn window(apart: &Curve) -> Option<usize> {
    let times: Vec<f64> = apart.iter().map(|(_, spread)| spread.median).collect();
    if times.len() < 8 {
        return None;
    }
    let near = median(&times[..times.len() / 4]);
    let far = median(&times[times.len() - 3..]);
    if far < 1.5 * near {
        return None;
    }
    let held = times.iter().rposition(|time| *time <= (near + far) / 2.0)?;
    Some(apart.get(held + 1)?.0)
}

/// The largest number of streams whose lines come at most half as fast as those of few.
pub fn streams(streams: &Curve) -> usize {
    let few: Vec<f64> = streams
        .iter()
        .take(4)
        .map(|(_, spread)| spread.median)
        .collect();
    if few.is_empty() {
        return 1;
    }
    let limit = 2.0 * median(&few);
    let last = streams.iter().rfind(|(_, spread)| spread.median <= limit);
    last.map_or(1, |(count, _)| *count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Spread;

    fn curve(points: impl Iterator<Item = (usize, f64)>) -> Curve {
        points
            .map(|(size, time)| (size, Spread::of(&[time])))
            .collect()
    }

    /// Sizes from 4 KiB, four to a doubling.
    fn sizes(most: usize) -> impl Iterator<Item = usize> {
        let one = |step| (4096.0 * 2f64.powf(f64::from(step) / 4.0)) as usize / 64 * 64;
        (0..).map(one).take_while(move |size| *size <= most)
    }

    /// A factor that jumps about by `most`.
    fn noise(number: usize, most: f64) -> f64 {
        let jump = (number * 7919 % 101) as f64 / 50.0 - 1.0;
        1.0 + most * jump
    }

    /// Caches of these sizes with these times, and the memory's. `sharp`: the oldest line is replaced; else
    /// any one.
    fn caches(caches: &[(usize, f64)], memory: f64, sharp: bool, shake: f64) -> Vec<Level> {
        let time = |size: usize| {
            let mut time = memory;
            for &(holds, own) in caches.iter().rev() {
                let share = match sharp {
                    _ if size <= holds => 1.0,
                    true => 0.0,
                    false => holds as f64 / size as f64,
                };
                time = own * share + time * (1.0 - share);
            }
            time
        };
        let points = sizes(1 << 30).enumerate();
        let points = points.map(|(number, size)| (size, time(size) * noise(number, shake)));
        levels(&curve(points))
    }

    /// `off`: by how much the times of caches may be wrong.
    fn assert_like(found: &[Level], caches: &[(usize, f64)], memory: f64, off: f64) {
        assert_eq!(found.len(), caches.len() + 1, "{found:?}");
        for (level, (size, time)) in found.iter().zip(caches) {
            let (held, next) = level.size.unwrap();
            let (held, next) = (held as f64 * 0.8, next as f64 * 1.15);
            assert!((held..=next).contains(&(*size as f64)), "{level:?} {size}");
            assert!((level.time / time - 1.0).abs() < off, "{level:?} {time}");
        }
        let last = found.last().unwrap();
        assert!(
            last.size.is_none() && (last.time / memory - 1.0).abs() < 0.2,
            "{last:?}"
        );
    }

    #[test]
    fn caches_are_found_with_their_sizes() {
        let three = [(32 << 10, 1.3), (1 << 20, 4.6), (11 << 20, 20.0)];
        let two = [(64 << 10, 1.0), (512 << 10, 5.0)];
        // Where any line may be replaced, loads hit the cache before for a long way.
        for (sharp, off) in [(true, 0.06), (false, 0.3)] {
            for shake in [0.0, 0.01, 0.03] {
                assert_like(&caches(&three, 90.0, sharp, shake), &three, 90.0, off);
                assert_like(&caches(&two, 120.0, sharp, shake), &two, 120.0, off);
            }
        }
    }

    /// The last cache is as large as what was measured, or its time runs into the memory's.
    #[test]
    fn a_memory_that_was_hardly_reached_is_the_end_of_the_curve() {
        let found = caches(
            &[(48 << 10, 1.3), (2 << 20, 4.4), (300 << 20, 60.0)],
            150.0,
            false,
            0.0,
        );
        assert_eq!(found.len(), 4, "{found:?}");
        let (held, next) = found[2].size.unwrap();
        assert!(held >= 50 << 20 && next <= 500 << 20, "{found:?}");
        assert!(found[3].time > 110.0, "{found:?}");
    }

    #[test]
    fn a_flat_or_short_curve_is_one_level() {
        assert_eq!(levels(&Vec::new()), []);
        let flat = levels(&curve(sizes(1 << 20).map(|size| (size, 2.0))));
        assert!(flat.len() == 1 && flat[0].size.is_none(), "{flat:?}");
        assert_eq!(levels(&curve([(4096, 1.0)].into_iter())).len(), 1);
    }

    #[test]
    fn a_tlb_is_found_behind_a_smaller_one() {
        let lines =
            curve(sizes(64 << 20).map(|size| (size, if size <= 32 << 10 { 1.0 } else { 4.0 })));
        let counts = (0..60).map(|step| (8.0 * 2f64.powf(f64::from(step) / 4.0)) as usize);
        let pages = curve(counts.enumerate().map(|(number, count)| {
            let further = match count {
                0..=64 => 0.0,
                65..=1536 => 2.0,
                1537..=20_000 => 15.0,
                _ => 60.0,
            };
            (
                count,
                (at(&lines, count * 64) + further) * noise(number, 0.01),
            )
        }));
        let found = tlb(&pages, &lines, 0.25).unwrap();
        assert!(
            found.entries.0 <= 1536 && found.entries.1 >= 1536,
            "{found:?}"
        );
        assert!(
            (found.walk - 15.0).abs() < 1.0 && (found.hit - 2.0).abs() < 0.5,
            "{found:?}"
        );
        // Without walks there is nothing to find.
        assert_eq!(tlb(&lines, &lines, 0.25), None);
    }

    #[test]
    fn misses_window_and_streams() {
        let time = |count: usize| 80.0 / count.min(10) as f64 * noise(count, 0.02);
        let counts = [1, 2, 4, 6, 8, 10, 12, 16, 20, 32];
        let chains = curve(counts.into_iter().map(|count| (count, time(count))));
        assert_eq!(misses_at_a_time(&chains), 10);
        let time = |count: usize| if count < 224 { 80.0 } else { 160.0 } + count as f64 / 24.0;
        let mut apart = curve((1..30).map(|count| (count * 16, time(count * 16))));
        assert_eq!(window(&apart), Some(224));
        // One time that was disturbed changes nothing.
        apart[6].1 = Spread::of(&[200.0]);
        assert_eq!(window(&apart), Some(224));
        assert_eq!(
            window(&curve((1..30).map(|count| (count * 16, 80.0)))),
            None
        );
        let time = |count: usize| if count <= 16 { 5.0 } else { 40.0 };
        let counts = [1, 2, 4, 8, 16, 24, 32];
        assert_eq!(
            streams(&curve(counts.into_iter().map(|count| (count, time(count))))),
            16
        );
    }
}
