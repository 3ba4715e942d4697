//! What the programs of `flick bench` print.

/// A line of `count` numbers with commas between them. The error says what is wrong with it.
pub fn parse(line: &str, count: usize) -> Result<Vec<f64>, String> {
    let values: Vec<f64> = line
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| format!("{line:?} is not a line of numbers"))?;
    if values.len() == count {
        Ok(values)
    } else {
        Err(format!("{line:?} has not {count} columns"))
    }
}
