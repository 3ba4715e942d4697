//! `flick bench truth`: runs each program of a list as clang has built it, and timed. The first run has the real time,
//! and the second one the predicted one.
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use flick_driver::Error;
use serde_json::Value;

use crate::measure_process::time;
use crate::paper_run::publish;
use crate::truth::{self, Program, Results, Row};
use crate::{file_error, finish, flick, machine, measured, quantile, scratch, unreadable};

/// A program that does nothing, beside those of the list.
const NOTHING: &str = "plain/nothing";

#[derive(Args)]
pub struct Options {
    /// The folder that bench/truth/build.sh has made
    #[arg(long, value_name = "DIR")]
    programs: PathBuf,
    /// The platform of this machine: a name or a TOML file that includes what `flick platform
    /// calibrate` has written
    #[arg(long, value_name = "NAME|FILE")]
    platform: String,
    /// Where table and plot go
    #[arg(short, long, value_name = "DIR", default_value = "bench/truth/results")]
    output: PathBuf,
    /// How often each program runs as clang has built it
    #[arg(short, long, value_name = "N", default_value_t = 7,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// These programs alone
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

pub fn run(options: &Options) -> Result<(), Error> {
    let dir = absolute(&options.programs);
    let mut programs = truth::read(&dir)?;
    if !options.only.is_empty() {
        let is_there = |name: &&String| programs.iter().any(|of| of.name == **name);
        if let Some(name) = options.only.iter().find(|name| !is_there(name)) {
            return Err(truth::no_program(&dir, name));
        }
        programs.retain(|of| options.only.contains(&of.name));
    }
    let made = fs::create_dir_all(&options.output);
    made.map_err(|e| file_error("a directory cannot be made", &options.output, &e))?;
    let folder = scratch()?;
    let nothing = dir.join(NOTHING);
    let start = quantile::median(&real(&nothing, &[], options.repeat, folder.path())?);
    let mut rows = vec![];
    for (n, program) in programs.iter().enumerate() {
        // Where stderr is closed, the text has no reader.
        let _ = write!(
            io::stderr(),
            "[{}/{}] {} ... ",
            n + 1,
            programs.len(),
            program.name
        );
        let row = measure(program, options, start, folder.path())?;
        flick_image::output::message(format_args!("{:.1} ms, {:+.1} %", row.real, row.error()));
        rows.push(row);
    }
    let results = Results {
        by: machine(),
        platform: options.platform.clone(),
        rows,
    };
    let written = truth::write(&results, &options.output);
    publish(written, &results.page(), &options.output)
}

/// Programs run in a scratch folder, because some write files beside them.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A platform's file as an absolute path; a name stays as it is.
fn platform_of(text: &str) -> PathBuf {
    let (name, _) = text.split_once(',').unwrap_or((text, ""));
    match name.contains('/') || name.ends_with(".toml") {
        true => absolute(Path::new(text)),
        false => text.into(),
    }
}

/// What a program takes of a processor each time, in this folder.
fn real(
    program: &Path,
    arguments: &[String],
    repeat: u32,
    folder: &Path,
) -> Result<Vec<f64>, Error> {
    let mut all = vec![];
    // The first time its file is read.
    for n in 0..=repeat {
        let mut command = measured(program);
        command.args(arguments).stdout(Stdio::null());
        command.current_dir(folder);
        let (_, processor) = time(&mut command)?;
        if n > 0 {
            all.push(processor);
        }
    }
    all.sort_by(f64::total_cmp);
    Ok(all)
}

fn measure(program: &Program, options: &Options, start: f64, folder: &Path) -> Result<Row, Error> {
    let all = real(&program.plain, &program.arguments, options.repeat, folder)?;
    let of = |share: f64| (quantile::of_sorted(&all, share) - start).max(0.001);
    let file = folder.join("stat.json");
    let mut command = Command::new(flick()?);
    command.args(["stat", "--json", "--platform"]);
    command
        .arg(platform_of(&options.platform))
        .arg("-o")
        .arg(&file)
        .arg(&program.timed)
        .args(&program.arguments);
    finish(command.current_dir(folder).stdout(Stdio::null()))?;
    let text = fs::read_to_string(&file);
    let text = text.map_err(|e| file_error("a file cannot be read", &file, &e))?;
    let Prediction {
        before,
        shares,
        took,
    } = prediction(&text).map_err(|why| unreadable(&file, why))?;
    let real = of(0.5);
    Ok(Row {
        name: program.name.clone(),
        group: program.group.clone(),
        pair: program.pair.clone(),
        real,
        low: of(0.25),
        high: of(0.75),
        predicted: before,
        shares,
        slowdown: took / (real + start),
    })
}

/// What `flick stat --json` says of a program, in milliseconds.
struct Prediction {
    before: f64,
    /// Its parts by their names.
    shares: Vec<(String, f64)>,
    /// The processor time of the timed run.
    took: f64,
}

fn prediction(text: &str) -> Result<Prediction, String> {
    let all: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let process = all["processes"].get(0).ok_or("no process is there")?;
    let prediction = &process["prediction"];
    let ms = |of: &Value, unit: f64| of.as_f64().map(|value| value / unit);
    let before = prediction.get("before_ps").filter(|of| !of.is_null());
    let before = before.unwrap_or(&prediction["staying_ps"]);
    let before = ms(before, 1e9).ok_or("no predicted time is there")?;
    let shares = prediction["staying_shares"].as_array();
    let shares = shares
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .filter_map(|share| {
            let name = share["name"].as_str()?.to_owned();
            Some((name, ms(&share["ps"], 1e9)?))
        });
    let took =
        ms(&process["user_ns"], 1e6).unwrap_or(0.0) + ms(&process["system_ns"], 1e6).unwrap_or(0.0);
    Ok(Prediction {
        before,
        shares: shares.collect(),
        took,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_is_found_from_another_folder() {
        assert_eq!(
            platform_of("near-memory,nxp.clock=2 GHz"),
            Path::new("near-memory,nxp.clock=2 GHz")
        );
        let here = std::env::current_dir().unwrap();
        assert_eq!(platform_of("mine.toml,a=1"), here.join("mine.toml,a=1"));
        assert_eq!(platform_of("/x/y"), Path::new("/x/y"));
    }

    #[test]
    fn predictions_are_read() {
        let text = r#"{"processes": [{"user_ns": 3000000, "system_ns": 1000000, "prediction": {
            "before_ps": 2000000000, "staying_ps": 1,
            "staying_shares": [{"name": "host code", "ps": 1500000000}]}}]}"#;
        let of = prediction(text).unwrap();
        assert_eq!((of.before, of.took), (2.0, 4.0));
        assert_eq!(of.shares, [("host code".to_owned(), 1.5)]);
        let none = prediction(r#"{"processes": [{"prediction": null}]}"#);
        assert_eq!(none.err().unwrap(), "no predicted time is there");
        assert!(prediction("{}").is_err() && prediction("x").is_err());
    }
}
