//! Builds the program once for each placement.
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flick_exec::{Caps, Run, Status};
use flick_image::{Error, output};

use crate::point_key::{Contents, Key};
use crate::result_files::{self, Store};
use crate::sweep_file::{Build, Placement, SweepFile};
use crate::sweep_worker;
use crate::words_in_braces::{self, Values};
use crate::{Installed, Settings};

/// A file of a build's folder that is there when the build is whole.
const WHOLE: &str = ".whole";
const LIMIT: Duration = Duration::from_secs(24 * 3600);

/// The build of a placement.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// `{out}`.
    pub out: PathBuf,
    /// Over what the build reads, as far as the file says it.
    pub key: String,
    /// Whether the folder has what the build makes.
    pub there: bool,
    /// Why there is none.
    pub failure: Option<(String, String)>,
}

/// The build of each placement, and whether it is there.
pub fn planned(
    sweep: &SweepFile,
    installed: &Installed,
    store: &Store,
    contents: &mut Contents,
) -> Result<Vec<Built>, Error> {
    let one = |placement: &Placement| {
        let key = key(sweep, installed, placement, contents)?;
        let out = store.build(&key);
        let there = sweep.build.is_none() || out.join(WHOLE).exists();
        Ok(Built {
            out,
            key,
            there,
            failure: None,
        })
    };
    sweep.placements.iter().map(one).collect()
}

fn key(
    sweep: &SweepFile,
    installed: &Installed,
    placement: &Placement,
    contents: &mut Contents,
) -> Result<String, Error> {
    let mut key = Key::new("flick sweep build 1");
    installed.put(&mut key);
    let mut content = |key: &mut Key, path: &Path| {
        let of = contents.of(path);
        key.put(
            "content",
            of.map_err(|e| result_files::unusable(path, &e))?.as_bytes(),
        );
        Ok(())
    };
    for place in &placement.places {
        match place.starts_with("random:") {
            true => key.put("place", place.as_bytes()),
            false => content(&mut key, &sweep.folder.join(place))?,
        }
    }
    if let Some(build) = &sweep.build {
        let values = values(sweep, build, placement, "{out}");
        key.put_all("word", &words_in_braces::command(&build.command, &values));
        for (name, value) in &build.environment {
            key.put(name, words_in_braces::filled(value, &values).as_bytes());
        }
        for input in &build.inputs {
            key.put("input", input.display().to_string().as_bytes());
            content(&mut key, input)?;
        }
    }
    Ok(key.finish())
}

fn values(sweep: &SweepFile, build: &Build, placement: &Placement, out: &str) -> Values {
    // As the file has it where the build begins in the same folder: a program keeps that text.
    let here = build.directory == sweep.folder;
    let place = |place: &String| match here || place.starts_with("random:") {
        true => format!("--flick-place={place}"),
        false => format!("--flick-place={}", sweep.folder.join(place).display()),
    };
    Values::from([
        ("out".to_owned(), vec![out.to_owned()]),
        (
            "placement".to_owned(),
            placement.places.iter().map(place).collect(),
        ),
        ("placement.name".to_owned(), vec![placement.name.clone()]),
    ])
}

/// Builds what is not there, several at a time; a failure is the placement's.
pub fn make(
    sweep: &SweepFile,
    settings: &Settings,
    store: &Store,
    built: &mut [Built],
) -> Result<(), Error> {
    let Some(build) = &sweep.build else {
        return Ok(());
    };
    // Without inputs nobody knows whether they have changed.
    let again = build.inputs.is_empty();
    let mut todo: Vec<_> = sweep.placements.iter().zip(built.iter_mut()).collect();
    todo.retain(|(_, one)| again || !one.there);
    let todo: Vec<_> = todo.into_iter().map(Mutex::new).collect();
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.min(todo.len()) {
            scope.spawn(|| {
                while let Some(one) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut one = one.lock().unwrap_or_else(|e| e.into_inner());
                    let (placement, built) = &mut *one;
                    let done = make_one(sweep, build, settings, placement, built);
                    if let Err(error) = done {
                        *failed.lock().unwrap_or_else(|e| e.into_inner()) =
                            Some(result_files::unusable(store.dir(), &error));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(|e| e.into_inner());
    failed.map_or(Ok(()), Err)
}

fn make_one(
    sweep: &SweepFile,
    build: &Build,
    settings: &Settings,
    placement: &Placement,
    built: &mut Built,
) -> io::Result<()> {
    output::message(format!("sweep: building {}", placement.name));
    fs::create_dir_all(&built.out)?;
    let whole = built.out.join(WHOLE);
    let _ = fs::remove_file(&whole);
    let values = values(sweep, build, placement, &built.out.to_string_lossy());
    let mut command = words_in_braces::command(&build.command, &values);
    if let Some(program) = command.first_mut()
        && program.contains('/')
    {
        *program = build.directory.join(&program).display().to_string();
    }
    // The compiler of this flick, and not another one of the path.
    let mut environment = Vec::new();
    if let Some(bin) = settings.executable.parent() {
        let path = std::env::var("PATH").unwrap_or_default();
        environment.push(("PATH".to_owned(), format!("{}:{path}", bin.display())));
    }
    if let Ok(root) = std::env::var("FLICK_ROOT") {
        environment.push(("FLICK_ROOT".to_owned(), root));
    }
    for (name, value) in &build.environment {
        environment.push((name.clone(), words_in_braces::filled(value, &values)));
    }
    let scratch = tempfile::Builder::new().prefix("flick-sweep").tempdir()?;
    let run = Run {
        argv: &command,
        cwd: &build.directory,
        scratch: scratch.path(),
        tag: "build",
        env: &environment,
        stdin: None,
        limit: LIMIT,
        processor_limit: None,
        caps: Caps::default(),
    };
    built.there = false;
    built.failure = match run.finish() {
        Ok(finished) if finished.status == Status::Code(0) => {
            fs::write(whole, "")?;
            built.there = true;
            None
        }
        Ok(finished) => Some((
            format!("the build of {}: {}", placement.name, finished.status),
            sweep_worker::tail(&finished.stderr),
        )),
        Err(error) => Some((
            format!("the build of {} cannot be started: {error}", placement.name),
            String::new(),
        )),
    };
    Ok(())
}
