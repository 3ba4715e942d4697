//! Figures beside the bars that the project has set itself.
use crate::markdown::{self, figure};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

pub struct Row {
    pub name: String,
    /// Of each engine; `None`: not measured.
    pub values: Vec<Option<f64>>,
    pub bar: Bar,
}

/// A table of figures, engines beside each other; what misses its bar is in bold.
pub fn table(engines: &[&str], rows: impl Iterator<Item = Row>) -> String {
    let mut lines = vec![vec!["figure".to_owned()]];
    lines[0].extend(engines.iter().map(|&engine| engine.to_owned()));
    lines[0].push("bar".into());
    let mut missed = false;
    for row in rows {
        let mut line = vec![row.name];
        line.extend(row.values.iter().map(|&value| {
            let text = figure(value, 2);
            match value {
                Some(value) if !row.bar.is_held(value) => {
                    missed = true;
                    format!("**{text}**")
                }
                _ => text,
            }
        }));
        line.push(row.bar.text());
        lines.push(line);
    }
    if lines.len() == 1 {
        return markdown::table(&lines);
    }
    let table = markdown::table(&lines);
    let held = match missed {
        true => "what misses it is in bold",
        false => "all are held",
    };
    format!("{table}\n`bar`: what Flick asks of itself on a quiet machine; {held}.\n")
}

impl Bar {
    /// Whether a figure is within the bar, to the two digits that the table shows.
    fn is_held(self, value: f64) -> bool {
        let shown = (value * 100.0).round() / 100.0;
        match self {
            Self::AtMost(most) => shown <= most,
            Self::AtLeast(least) => shown >= least,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(most) => format!("≤ {most}"),
            Self::AtLeast(least) => format!("≥ {least}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(row: Row) -> Row {
        Row {
            values: row.values[..1].to_vec(),
            ..row
        }
    }

    #[test]
    fn what_misses_its_bar_is_bold() {
        let row = |value, bar| Row {
            name: "a".into(),
            values: vec![Some(value), None],
            bar,
        };
        let rows = [
            row(3.501, Bar::AtMost(3.5)),
            row(3.51, Bar::AtMost(3.5)),
            row(0.95, Bar::AtLeast(0.95)),
            row(0.94, Bar::AtLeast(0.95)),
        ];
        assert_eq!(
            table(&["x", "y"], rows.into_iter()),
            "| figure |        x | y |    bar |\n\
             |--------|---------:|--:|-------:|\n\
             | a      |     3.50 | - |  ≤ 3.5 |\n\
             | a      | **3.51** | - |  ≤ 3.5 |\n\
             | a      |     0.95 | - | ≥ 0.95 |\n\
             | a      | **0.94** | - | ≥ 0.95 |\n\
             \n`bar`: what Flick asks of itself on a quiet machine; what misses it is in bold.\n"
        );
        let held = table(&["x"], [row(1.0, Bar::AtMost(2.0))].map(single).into_iter());
        assert!(held.ends_with("; all are held.\n"), "{held}");
    }
}
