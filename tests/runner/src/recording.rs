//! The commands that clang's driver has run to build a program, and the IR that its front end made.
//! From these, the program is built under another random placement without driver and front end.
use std::fs;
use std::path::{Path, PathBuf};

use crate::exec::Invocation;
use crate::random::Dice;

/// Each step of the program, with the commands of the driver that it ran: none for a step that is
/// not a command of Flick's.
#[derive(Debug, Default)]
pub struct Recording {
    steps: Vec<Vec<Command>>,
}

#[derive(Debug)]
enum Command {
    /// Makes an object of a unit's IR.
    Compile(Vec<String>),
    /// A link, or the assembler.
    Other(Vec<String>),
}

/// The option of the pass for `--flick-place=random:…`, in front of seed and share.
const RANDOM: &str = "-flick-random=";

impl Recording {
    /// Makes the driver write down its commands in `step`.
    pub fn listen(&self, step: &mut Invocation) {
        let file = self.file(&step.cwd).display().to_string();
        step.env.extend([
            ("CC_PRINT_OPTIONS".into(), "1".into()),
            ("CC_PRINT_OPTIONS_FILE".into(), file),
        ]);
    }

    fn file(&self, dir: &Path) -> PathBuf {
        dir.join(format!("step{}.clang", self.steps.len()))
    }

    /// The step has ended; makes the IR of its units, in `ir`. `tools`: the environment of builds.
    pub fn add(
        &mut self,
        step: &Invocation,
        ir: &Path,
        tools: Option<&(String, String)>,
    ) -> Result<(), String> {
        let text = fs::read_to_string(self.file(&step.cwd)).unwrap_or_default();
        let mut commands = Vec::new();
        for line in text.lines().filter(|line| line.starts_with(" \"")) {
            let words = unquoted(line);
            if words.get(1).is_none_or(|word| word != "-cc1") {
                commands.push(Command::Other(words));
                continue;
            }
            let bitcode = ir.join(format!("{}-{}.bc", self.steps.len(), commands.len()));
            run(front_end(&words, &bitcode), &step.cwd, "ir", tools)?;
            commands.push(Command::Compile(back_end(words, &bitcode)));
        }
        self.steps.push(commands);
        Ok(())
    }

    /// A step of no interest has ended.
    pub fn skip(&mut self) {
        self.steps.push(Vec::new());
    }

    /// Carries out step `number` in `dir` under another throw. False: the step is not Flick's.
    pub fn repeat(
        &self,
        number: usize,
        dice: Dice,
        dir: &Path,
        tools: Option<&(String, String)>,
    ) -> Result<bool, String> {
        let commands = &self.steps[number];
        // The driver's temporary objects, and what they are called here.
        let mut objects: Vec<(&String, String)> = Vec::new();
        for (index, command) in commands.iter().enumerate() {
            let mut words = match command {
                Command::Compile(words) | Command::Other(words) => words.clone(),
            };
            for word in &mut words {
                if word.starts_with(RANDOM) {
                    *word = format!("{RANDOM}{}:{}", dice.seed, dice.percent);
                } else if let Some((_, here)) = objects.iter().find(|(object, _)| *object == word) {
                    word.clone_from(here);
                }
            }
            if let Command::Compile(recorded) = command {
                let at = output(recorded);
                if Path::new(&recorded[at]).is_absolute() {
                    words[at] = format!("unit{number}-{index}.o");
                    objects.push((&recorded[at], words[at].clone()));
                }
            }
            run(words, dir, &format!("step{number}-{index}"), tools)?;
        }
        Ok(!commands.is_empty())
    }
}

fn run(
    argv: Vec<String>,
    dir: &Path,
    tag: &str,
    tools: Option<&(String, String)>,
) -> Result<(), String> {
    let mut invocation = Invocation::new(argv, dir);
    let shell = invocation.shell();
    invocation.env.extend(tools.cloned());
    invocation
        .succeed(tag)
        .map_err(|e| format!("from its IR: {shell}\n{e}"))
}

/// Where in a front end's words its output stands.
fn output(words: &[String]) -> usize {
    let option = words.iter().rposition(|word| word == "-o");
    option.map_or(0, |at| at + 1)
}

/// Makes IR of a unit, before any pass.
fn front_end(words: &[String], bitcode: &Path) -> Vec<String> {
    let mut words = by_name(words.to_vec());
    for word in &mut words {
        if word == "-emit-obj" {
            *word = "-emit-llvm-bc".into();
        }
    }
    let at = output(&words);
    words[at] = bitcode.display().to_string();
    words.insert(2, "-disable-llvm-passes".into());
    words
}

/// Makes the unit's object of its IR.
fn back_end(words: Vec<String>, bitcode: &Path) -> Vec<String> {
    let mut words = by_name(words);
    let at = words.iter().rposition(|word| word == "-x");
    words.truncate(at.unwrap_or(words.len()));
    words.extend(["-x".into(), "ir".into(), bitcode.display().to_string()]);
    words
}

/// The front end under the name that `PATH` knows.
fn by_name(mut words: Vec<String>) -> Vec<String> {
    words[0] = "clang-19".into();
    words
}

/// The words of a command as clang's driver prints it: all in quotes, with backslashes.
fn unquoted(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, &mut word) {
            ('"', Some(_)) => words.extend(word.take()),
            ('"', None) => word = Some(String::new()),
            ('\\', Some(word)) => word.extend(chars.next()),
            (c, Some(word)) => word.push(c),
            (_, None) => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn words_are_as_the_driver_had_them() {
        let line = r#" "/usr/bin/clang" "-D" "X=\"a b\$\\\"" "-o" "x""#;
        let want = ["/usr/bin/clang", "-D", r#"X="a b$\""#, "-o", "x"];
        assert_eq!(unquoted(line), want);
    }

    #[test]
    fn a_compile_is_cut_in_two() {
        let whole = words("/x/clang -cc1 -emit-obj -O2 -o /tmp/a-1.o -x c++ a.cpp");
        let bitcode = Path::new("/ir/0-0.bc");
        let front =
            "clang-19 -cc1 -disable-llvm-passes -emit-llvm-bc -O2 -o /ir/0-0.bc -x c++ a.cpp";
        assert_eq!(front_end(&whole, bitcode), words(front));
        let back = "clang-19 -cc1 -emit-obj -O2 -o /tmp/a-1.o -x ir /ir/0-0.bc";
        assert_eq!(back_end(whole, bitcode), words(back));
    }
}
