//! What the programs in bench/paper print.

/// Time of one thing in both worlds of a run, in the unit that the program prints.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// NxP functions run on the NxP.
    pub migrating: f64,
    /// The thread stays on the host: the baseline.
    pub staying: f64,
}

impl Times {
    /// How many times faster the run is with migration.
    pub fn speedup(self) -> f64 {
        self.staying / self.migrating
    }
}

/// Of null.c: microseconds per call.
#[derive(Clone, Debug, PartialEq)]
pub struct Null {
    pub calls: u64,
    pub host_nxp_host: Times,
    pub nxp_host_nxp: Times,
}

/// Of chase.c.
#[derive(Clone, Debug, PartialEq)]
pub struct Chase {
    /// Microseconds between two calls.
    pub pause: f64,
    pub calls: u64,
    /// In ascending order of nodes.
    pub points: Vec<Point>,
}

/// A length of list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub nodes: u64,
    /// Microseconds per call, pause included.
    pub times: Times,
}

/// Of bfs.c.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    pub facts: Facts,
    pub iterations: usize,
    /// The same in every iteration.
    pub reached: u64,
    /// Seconds of an iteration, on average.
    pub mean: Times,
}

/// The graph of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub synthetic: bool,
    pub vertices: u64,
    pub edges: u64,
    /// Neighbours of all vertices together: edges in both directions, loops left out.
    pub entries: u64,
    pub source: u64,
    pub degree_mean: f64,
    /// Of a tenth, a half, ... of the vertices at most.
    pub degree_p10: u64,
    pub degree_p50: u64,
    pub degree_p90: u64,
    pub degree_p99: u64,
    pub degree_max: u64,
}

const NULL: &str = "call,calls,migrating_us,staying_us";
const CHASE: &str = "interval_us,nodes,calls,migrating_us,staying_us";
const SEARCH: &str = "iteration,reached,migrating_s,staying_s";

/// The cells of each line below `header`. Errors, here as below, say what is wrong with the text.
pub fn cells<'a, const N: usize>(
    lines: impl Iterator<Item = &'a str>,
    header: &str,
) -> Result<Vec<[&'a str; N]>, String> {
    let mut lines = lines;
    let first = lines.next().unwrap_or_default();
    if first != header {
        return Err(format!("{first:?} stands where {header:?} should"));
    }
    let rows: Vec<_> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            cells
                .try_into()
                .map_err(|_| format!("{line:?} has not {N} columns"))
        })
        .collect::<Result<_, _>>()?;
    if rows.is_empty() {
        return Err(format!("nothing stands below {header:?}"));
    }
    Ok(rows)
}

/// A number that a program has printed.
pub fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

fn times(migrating: &str, staying: &str) -> Result<Times, String> {
    Ok(Times {
        migrating: number(migrating)?,
        staying: number(staying)?,
    })
}

impl Null {
    pub fn parse(text: &str) -> Result<Self, String> {
        let rows = cells::<4>(text.lines(), NULL)?;
        let row = |name: &str| {
            let row = rows.iter().find(|row| row[0] == name);
            row.ok_or_else(|| format!("it has no line {name:?}"))
        };
        let (outer, inner) = (row("host-nxp-host")?, row("nxp-host-nxp")?);
        Ok(Self {
            calls: number(outer[1])?,
            host_nxp_host: times(outer[2], outer[3])?,
            nxp_host_nxp: times(inner[2], inner[3])?,
        })
    }
}

impl Chase {
    pub fn parse(text: &str) -> Result<Self, String> {
        let rows = cells::<5>(text.lines(), CHASE)?;
        let mut points: Vec<Point> = Vec::new();
        for [pause, nodes, calls, migrating, staying] in &rows {
            if (pause, calls) != (&rows[0][0], &rows[0][2]) {
                return Err("its lines differ in interval or calls".into());
            }
            let point = Point {
                nodes: number(nodes)?,
                times: times(migrating, staying)?,
            };
            if points.last().is_some_and(|last| last.nodes >= point.nodes) {
                return Err("its lists do not grow from line to line".into());
            }
            if point.times.migrating <= 0.0 || point.times.staying <= 0.0 {
                return Err(format!("a list of {nodes} nodes takes no time"));
            }
            points.push(point);
        }
        Ok(Self {
            pause: number(rows[0][0])?,
            calls: number(rows[0][2])?,
            points,
        })
    }

    pub fn at(&self, nodes: u64) -> Option<Times> {
        let point = self.points.iter().find(|point| point.nodes == nodes)?;
        Some(point.times)
    }

    pub fn last(&self) -> Point {
        *self.points.last().expect("there is a point at least")
    }

    /// The number of nodes at which both worlds take the same time, between the two lengths of
    /// which only the longer is faster with migration.
    pub fn break_even(&self) -> Option<f64> {
        let lead = |point: &Point| point.times.staying - point.times.migrating;
        self.points.windows(2).find_map(|pair| {
            let (before, after) = (lead(&pair[0]), lead(&pair[1]));
            (before < 0.0 && after >= 0.0).then(|| {
                let step = (pair[1].nodes - pair[0].nodes) as f64;
                pair[0].nodes as f64 + step * before / (before - after)
            })
        })
    }
}

impl Search {
    pub fn parse(text: &str) -> Result<Self, String> {
        let fact = |name: &str| {
            let line = text.lines().find_map(|line| {
                let (key, value) = line.strip_prefix("# ")?.split_once(' ')?;
                (key == name).then_some(value)
            });
            line.ok_or_else(|| format!("it has no line `# {name}`"))
        };
        let facts = Facts {
            synthetic: fact("graph")? == "synthetic",
            vertices: number(fact("vertices")?)?,
            edges: number(fact("edges")?)?,
            entries: number(fact("entries")?)?,
            source: number(fact("source")?)?,
            degree_mean: number(fact("degree_mean")?)?,
            degree_p10: number(fact("degree_p10")?)?,
            degree_p50: number(fact("degree_p50")?)?,
            degree_p90: number(fact("degree_p90")?)?,
            degree_p99: number(fact("degree_p99")?)?,
            degree_max: number(fact("degree_max")?)?,
        };
        let rows = cells::<4>(text.lines().filter(|line| !line.starts_with('#')), SEARCH)?;
        let mut mean = Times::default();
        for [_, reached, migrating, staying] in &rows {
            if reached != &rows[0][1] {
                return Err("its iterations reach different numbers of vertices".into());
            }
            let one = times(migrating, staying)?;
            mean.migrating += one.migrating / rows.len() as f64;
            mean.staying += one.staying / rows.len() as f64;
        }
        Ok(Self {
            facts,
            iterations: rows.len(),
            reached: number(rows[0][1])?,
            mean,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::sample_output;

    #[test]
    fn what_the_programs_print_is_read() {
        let null = Null::parse(sample_output::NULL).unwrap();
        assert_eq!((null.calls, null.host_nxp_host.migrating), (10_000, 18.3));
        assert_eq!(null.nxp_host_nxp.migrating, 16.9);

        let chase = Chase::parse(&sample_output::chase(18.3, 0.0)).unwrap();
        assert_eq!(chase.points.len(), 256);
        assert_eq!(chase.last().nodes, 1024);
        // 18.3 us at (825 - 297) ns a node.
        let even = chase.break_even().unwrap();
        assert!((even - 18.3 / 0.528).abs() < 0.01, "{even}");

        let search = Search::parse(&sample_output::search("pokec", 90.0, 107.8)).unwrap();
        assert_eq!((search.iterations, search.reached), (2, 1_632_803));
        assert_eq!(search.mean.speedup(), 107.8 / 90.0);
        assert!(search.facts.synthetic);
        assert_eq!(search.facts.degree_p90, 57);
    }

    #[test]
    fn a_line_of_even_times_breaks_even_nowhere() {
        let text = format!("{CHASE}\n0,4,1,30,3\n0,8,1,30,6\n");
        assert_eq!(Chase::parse(&text).unwrap().break_even(), None);
    }

    #[test]
    fn other_text_is_refused() {
        for bad in [
            "",
            "hello\n",
            NULL,
            &format!("{NULL}\nhost-nxp-host,1,2,3\n"),
        ] {
            assert!(Null::parse(bad).is_err(), "{bad:?}");
        }
        for bad in [
            "1,2\n",
            "0,4,1,x,1\n",
            "0,4,1,1,1\n100,8,1,1,1\n",
            "0,8,1,1,1\n0,4,1,1,1\n",
            "0,4,1,0,1\n",
        ] {
            assert!(Chase::parse(&format!("{CHASE}\n{bad}")).is_err(), "{bad:?}");
        }
        let good = sample_output::search("pokec", 1.0, 2.0);
        assert!(Search::parse(&good.replace("# vertices", "# corners")).is_err());
        assert!(Search::parse(&good.replace("\n2,1632803,", "\n2,7,")).is_err());
    }
}
