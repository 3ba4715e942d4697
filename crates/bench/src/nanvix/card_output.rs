//! What the programs in bench/paper/nanvix print.
use std::collections::BTreeMap;

use crate::paper::{cells, number};

/// Cycles over the repetitions of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Of all repetitions and threads.
    pub least: f64,
    pub mean: f64,
    pub most: f64,
    /// The repetitions' standard deviation, as a share of the mean.
    pub variation: f64,
}

/// Least, mean and most cycles of the threads in a repetition.
type Repetition = [f64; 3];

impl Spread {
    fn of(repetitions: &[Repetition]) -> Self {
        let count = repetitions.len() as f64;
        let mean = repetitions.iter().map(|[_, mean, _]| mean).sum::<f64>() / count;
        let squares = repetitions
            .iter()
            .map(|[_, value, _]| (value - mean).powi(2));
        let deviation = (squares.sum::<f64>() / count).sqrt();
        Self {
            least: repetitions
                .iter()
                .map(|row| row[0])
                .fold(f64::INFINITY, f64::min),
            mean,
            most: repetitions.iter().map(|row| row[2]).fold(0.0, f64::max),
            variation: if mean > 0.0 { deviation / mean } else { 0.0 },
        }
    }
}

/// Configurations: a name and a number of threads or clusters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples(BTreeMap<(String, u32), Spread>);

impl Samples {
    fn of(rows: impl IntoIterator<Item = (String, u32, Repetition)>) -> Self {
        let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (name, count, repetition) in rows {
            all.entry((name, count)).or_default().push(repetition);
        }
        Self(
            all.into_iter()
                .map(|(key, rows)| (key, Spread::of(&rows)))
                .collect(),
        )
    }

    fn parse(text: &str, header: &str) -> Result<Self, String> {
        let rows = cells::<6>(text.lines(), header)?;
        let rows: Result<Vec<_>, String> = rows
            .iter()
            .map(|[name, count, _, least, mean, most]| {
                let values = [number(least)?, number(mean)?, number(most)?];
                Ok(((*name).to_owned(), number(count)?, values))
            })
            .collect();
        Ok(Self::of(rows?))
    }

    /// Of calls.c.
    pub fn calls(text: &str) -> Result<Self, String> {
        Self::parse(text, "call,callers,repetition,least,mean,most")
    }

    /// Of noise.c.
    pub fn noise(text: &str) -> Result<Self, String> {
        Self::parse(text, "beside,workers,repetition,least,mean,most")
    }

    /// Of refill.c: `data` or `code`, and the call.
    pub fn refill(text: &str) -> Result<Self, String> {
        let rows = cells::<4>(text.lines(), "call,repetition,data,code")?;
        let mut all = Vec::new();
        for [call, _, data, code] in rows {
            all.push((format!("data, {call}"), 1, [number(data)?; 3]));
            all.push((format!("code, {call}"), 1, [number(code)?; 3]));
        }
        Ok(Self::of(all))
    }

    /// Of mailbox.c and portal.c.
    pub fn mailbox(text: &str) -> Result<Self, String> {
        Self::measures(text, "measure,clusters,repetition,cycles")
    }

    /// Of migration.c.
    pub fn migration(text: &str) -> Result<Self, String> {
        Self::measures(text, "measure,threads,repetition,cycles")
    }

    fn measures(text: &str, header: &str) -> Result<Self, String> {
        let rows = cells::<4>(text.lines(), header)?;
        let rows: Result<Vec<_>, String> = rows
            .iter()
            .map(|[name, count, _, cycles]| {
                Ok(((*name).to_owned(), number(count)?, [number(cycles)?; 3]))
            })
            .collect();
        Ok(Self::of(rows?))
    }

    pub fn get(&self, name: &str, count: u32) -> Option<Spread> {
        self.0.get(&(name.to_owned(), count)).copied()
    }

    /// The configurations of a name, in ascending order of their numbers.
    pub fn named(&self, name: &str) -> Vec<(u32, Spread)> {
        let all = self.0.iter().filter(|((of, _), _)| of == name);
        all.map(|((_, count), spread)| (*count, *spread)).collect()
    }

    /// All configurations.
    pub fn all(&self) -> impl Iterator<Item = (&str, u32, Spread)> {
        self.0
            .iter()
            .map(|((name, count), spread)| (&**name, *count, *spread))
    }
}

/// Of fork_join.c, by recycling (`on`, `off`) and threads.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkJoin {
    pub fork: Samples,
    pub join: Samples,
    pub both: Samples,
}

impl ForkJoin {
    pub fn parse(text: &str) -> Result<Self, String> {
        let rows = cells::<5>(text.lines(), "recycling,threads,repetition,fork,join")?;
        let rows: Result<Vec<(String, u32, f64, f64)>, String> = rows
            .iter()
            .map(|[name, count, _, fork, join]| {
                Ok((
                    (*name).to_owned(),
                    number(count)?,
                    number(fork)?,
                    number(join)?,
                ))
            })
            .collect();
        let rows = rows?;
        let part = |of: fn(f64, f64) -> f64| {
            let rows = rows.iter().cloned();
            Samples::of(rows.map(|(name, count, fork, join)| (name, count, [of(fork, join); 3])))
        };
        Ok(Self {
            fork: part(|fork, _| fork),
            join: part(|_, join| join),
            both: part(|fork, join| fork + join),
        })
    }
}

/// Of service.c: the calls of each caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Service(pub Vec<f64>);

impl Service {
    pub fn parse(text: &str) -> Result<Self, String> {
        let rows = cells::<2>(text.lines(), "caller,calls")?;
        let calls: Result<_, String> = rows.iter().map(|[_, calls]| number(calls)).collect();
        Ok(Self(calls?))
    }

    /// The shares that the callers with the fewest and the most calls are off an equal part.
    pub fn off(&self) -> (f64, f64) {
        let equal = self.0.iter().sum::<f64>() / self.0.len() as f64;
        let least = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.0.iter().copied().fold(0.0, f64::max);
        (least / equal - 1.0, most / equal - 1.0)
    }
}

/// Of boot.c.
pub fn boot_cycles(text: &str) -> Result<f64, String> {
    let rows = cells::<1>(text.lines(), "cycles")?;
    number(rows[0][0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_summed_up() {
        let text = "call,callers,repetition,least,mean,most\n\
                    local,2,0,60,70,80\nlocal,2,1,65,90,99\nremote,1,0,500,500,500\n";
        let calls = Samples::calls(text).unwrap();
        let spread = calls.get("local", 2).unwrap();
        assert_eq!((spread.least, spread.mean, spread.most), (60.0, 80.0, 99.0));
        assert_eq!(spread.variation, 10.0 / 80.0);
        assert_eq!(calls.named("remote").len(), 1);
        assert_eq!(calls.get("remote", 2), None);
    }

    #[test]
    fn forks_and_joins_are_parts_of_a_whole() {
        let text = "recycling,threads,repetition,fork,join\non,1,0,10,5\non,1,1,20,5\n";
        let all = ForkJoin::parse(text).unwrap();
        let mean = |samples: &Samples| samples.get("on", 1).unwrap().mean;
        assert_eq!(
            (mean(&all.fork), mean(&all.join), mean(&all.both)),
            (15.0, 5.0, 20.0)
        );
    }

    #[test]
    fn a_caller_with_less_than_its_part_shows() {
        let service = Service::parse("caller,calls\n0,90\n1,110\n2,100\n").unwrap();
        let (least, most) = service.off();
        assert!((least + 0.1).abs() < 1e-9 && (most - 0.1).abs() < 1e-9);
    }

    #[test]
    fn other_text_is_refused() {
        assert!(Samples::calls("local,1\n").is_err());
        assert!(Samples::refill("call,repetition,data,code\nnone,0,1\n").is_err());
        assert!(Samples::mailbox("measure,clusters,repetition,cycles\nx,1,0,much\n").is_err());
        assert!(Service::parse("caller,calls\n").is_err());
        assert!(boot_cycles("kernel: out of memory\n").is_err());
    }
}
