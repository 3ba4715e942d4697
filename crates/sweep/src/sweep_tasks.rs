//! Makes a task of each point: its command with values, and its key.
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use flick_image::Error;
use flick_timing::Platform;

use crate::Installed;
use crate::point_key::{Contents, Key};
use crate::result_files;
use crate::sweep_builds::Built;
use crate::sweep_file::SweepFile;
use crate::sweep_plan::Task;
use crate::sweep_points::{self, Point};
use crate::words_in_braces::{self, Values};

/// A task for each point; none where the program is not built.
pub fn all(
    sweep: &SweepFile,
    installed: &Installed,
    built: &[Built],
    points: &[Point],
    contents: &mut Contents,
) -> Result<Vec<Option<Task>>, Error> {
    let mut platforms = HashMap::new();
    let mut programs = HashMap::new();
    let one = |point: &Point| {
        let built = &built[point.placement];
        if !built.there {
            return Ok(None);
        }
        let name = sweep_points::platform_name(sweep, point.platform, point.combination);
        let platform = match platforms.get(&name) {
            Some(known) => known,
            None => {
                // All figures in base units: remarks and the way of writing do not count.
                let text = match Platform::load(&name) {
                    Ok(platform) => format!("{platform:?}"),
                    // It was loaded before; now its file has changed, and the run says so.
                    Err(error) => error.to_string(),
                };
                platforms.entry(name.clone()).or_insert(text)
            }
        };
        let real = values(sweep, point, &built.out.to_string_lossy());
        let named = values(sweep, point, "{out}");
        let command = words_in_braces::command(&sweep.run.command, &real);
        let mut key = Key::new("flick sweep point 1");
        installed.put(&mut key);
        key.put("platform", platform.as_bytes());
        key.put("build", built.key.as_bytes());
        key.put_all(
            "word",
            &words_in_braces::command(&sweep.run.command, &named),
        );
        for (number, word) in command.iter().enumerate() {
            let path = match number {
                0 => programs
                    .entry(word.clone())
                    .or_insert_with(|| program(word, &sweep.run.directory))
                    .clone(),
                _ => Some(sweep.run.directory.join(word)),
            };
            if let Some(path) = path.filter(|path| path.is_file()) {
                key.put("position", &(number as u64).to_le_bytes());
                put_content(&mut key, "file", &path, contents)?;
            }
        }
        let mut environment = Vec::new();
        for (name, value) in &sweep.run.environment {
            key.put("variable", name.as_bytes());
            key.put("value", words_in_braces::filled(value, &named).as_bytes());
            environment.push((name.clone(), words_in_braces::filled(value, &real)));
        }
        let input = &sweep.inputs[point.input];
        if let Some(stdin) = &input.stdin {
            put_content(&mut key, "stdin", stdin, contents)?;
        }
        for file in &input.files {
            put_content(&mut key, "input", file, contents)?;
        }
        Ok(Some(Task {
            key: key.finish(),
            platform: name,
            command,
            environment,
            stdin: input.stdin.clone(),
        }))
    };
    points.iter().map(one).collect()
}

fn put_content(
    key: &mut Key,
    name: &str,
    path: &Path,
    contents: &mut Contents,
) -> Result<(), Error> {
    let content = contents.of(path);
    let content = content.map_err(|error| result_files::unusable(path, &error))?;
    key.put(name, content.as_bytes());
    Ok(())
}

/// Where a shell would find the program.
fn program(word: &str, directory: &Path) -> Option<PathBuf> {
    if word.contains('/') {
        return Some(directory.join(word));
    }
    let path = std::env::var_os("PATH")?;
    let mut all = std::env::split_paths(&path).map(|folder| folder.join(word));
    all.find(|path| path.is_file())
}

fn values(sweep: &SweepFile, point: &Point, out: &str) -> Values {
    let input = &sweep.inputs[point.input];
    let placement = &sweep.placements[point.placement];
    let mut values = Values::from([
        ("out".to_owned(), vec![out.to_owned()]),
        ("placement.name".to_owned(), vec![placement.name.clone()]),
        ("input.name".to_owned(), vec![input.name.clone()]),
    ]);
    for (axis, value) in sweep.input_axes.iter().zip(&point.input_values) {
        values.insert(axis.name.clone(), vec![value.clone()]);
    }
    // Arguments of an input may have the names of axes.
    let args = words_in_braces::command(&input.args, &values);
    values.insert("input".to_owned(), args);
    values
}
