//! Objects that several builds of a program share, because these differ in the link only. The first
//! is built as a user builds it, and its objects get second names; the others begin at these.
use std::fs;
use std::path::{Path, PathBuf};

use crate::exec::Invocation;

/// The objects of each step, in the order of its sources. None: the step has no such objects.
#[derive(Debug)]
pub struct KeptObjects {
    folder: PathBuf,
    steps: Vec<Vec<PathBuf>>,
}

impl KeptObjects {
    /// `folder`: an empty one.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            steps: Vec::new(),
        }
    }

    /// Makes the next step keep the objects that its driver would remove: `runner/warm/server.c`
    /// gives them second names. These are links, so that the driver has its own files here, too.
    pub fn listen(&self, step: &mut Invocation) {
        let folder = self.folder.display().to_string();
        let prefix = format!("{folder}/{}-", self.steps.len());
        step.env
            .extend([("WARM_OBJECTS".into(), prefix), ("TMPDIR".into(), folder)]);
    }

    /// The step has ended.
    pub fn add(&mut self, step: &Invocation) -> Result<(), String> {
        let name = |index: usize| format!("{}-{index}.o", self.steps.len());
        let objects = (0..sources(step).count()).map(|index| self.folder.join(name(index)));
        let objects: Vec<PathBuf> = objects.collect();
        if let (Some(made), [object]) = (object_of(step), &objects[..]) {
            copy(&made, object)?;
        }
        let all = objects.iter().all(|object| object.is_file());
        self.steps.push(if all { objects } else { Vec::new() });
        Ok(())
    }

    /// A step of no interest has ended.
    pub fn skip(&mut self) {
        self.steps.push(Vec::new());
    }

    /// What is left to do of step `number` of another build: the whole step if it has no kept
    /// objects, and nothing if its object is its result.
    pub fn rest(&self, number: usize, mut step: Invocation) -> Result<Option<Invocation>, String> {
        let objects = &self.steps[number];
        if let (Some(wanted), [object]) = (object_of(&step), &objects[..]) {
            copy(object, &wanted)?;
            return Ok(None);
        }
        if !objects.is_empty() {
            let words = step.argv.iter_mut().filter(|word| is_source(word));
            for (word, object) in words.zip(objects) {
                *word = object.display().to_string();
            }
        }
        Ok(Some(step))
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let error = |e| format!("{}: {e}", from.display());
    fs::copy(from, to).map(|_| ()).map_err(error)
}

/// Sources are named by their whole paths ([`crate::build`]).
fn is_source(word: &str) -> bool {
    word.starts_with('/') && (word.ends_with(".c") || word.ends_with(".cpp"))
}

fn sources(step: &Invocation) -> impl Iterator<Item = &String> {
    step.argv.iter().filter(|word| is_source(word))
}

/// The object that is the result of a step.
fn object_of(step: &Invocation) -> Option<PathBuf> {
    step.argv.iter().find(|word| *word == "-c")?;
    let option = step.argv.iter().position(|word| word == "-o")?;
    Some(step.cwd.join(step.argv.get(option + 1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(dir: &Path, words: &str) -> Invocation {
        let argv = words.split(' ').map(String::from).collect();
        Invocation::new(argv, dir)
    }

    #[test]
    fn a_step_begins_at_its_objects() {
        let dir = tempfile::tempdir().unwrap();
        let [first, other, folder] = ["first", "other", "kept"].map(|name| dir.path().join(name));
        for made in [&first, &other, &folder] {
            fs::create_dir(made).unwrap();
        }
        let mut kept = KeptObjects::new(&folder);
        fs::write(first.join("a.o"), "a").unwrap();
        kept.add(&step(&first, "cc -O2 -c /s/a.c -o a.o")).unwrap();
        kept.skip();
        for name in ["2-0.o", "2-1.o", "3-0.o"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let link = |dir| step(dir, "cc /s/b.c a.o -pie /s/c.cpp -o prog");
        kept.add(&link(&first)).unwrap();
        // One of its two objects was not kept.
        kept.add(&link(&first)).unwrap();

        let rest = |number, step| kept.rest(number, step).unwrap().map(|step| step.argv);
        assert_eq!(rest(0, step(&other, "cc -O2 -c /s/a.c -o x.o")), None);
        assert_eq!(fs::read(other.join("x.o")).unwrap(), b"a");
        let ar = step(&other, "ar rcs lib.a a.o");
        assert_eq!(rest(1, ar.clone()), Some(ar.argv));
        let words = format!("cc {0}/2-0.o a.o -pie {0}/2-1.o -o prog", folder.display());
        assert_eq!(rest(2, link(&other)), Some(step(&other, &words).argv));
        assert_eq!(rest(3, link(&other)), Some(link(&other).argv));
    }
}
