//! The words that Flick adds to clang's command line.
use std::ffi::OsString;
use std::path::Path;

use flick_abi::ABI_VERSION;

use crate::args::{Args, Stop};
use crate::root::Root;
use crate::run::Runner;
use crate::{Result, command_line_record, line, linker_choice};

/// Between these, clang does not complain about options that nothing needs.
const QUIET: [&str; 2] = ["--start-no-unused-arguments", "--end-no-unused-arguments"];

/// Flick's words, which stand before and behind the user's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    pub before: Vec<OsString>,
    pub after: Vec<OsString>,
}

impl Extra {
    /// clang's whole command line. The user's words stand in it as they are; clang decides what
    /// they mean, which sources there are and how the files beside the outputs are called.
    pub fn around(&self, words: &[OsString]) -> Vec<OsString> {
        let mut all = quiet(&self.before);
        all.extend_from_slice(words);
        all.extend(quiet(&self.after));
        all
    }
}

fn quiet(words: &[OsString]) -> Vec<OsString> {
    if words.is_empty() {
        return Vec::new();
    }
    let mut all = vec![QUIET[0].into()];
    all.extend_from_slice(words);
    all.push(QUIET[1].into());
    all
}

/// What Flick adds to a command with inputs. FLK0102 where the pass is missing.
pub fn extra_words(args: &Args, root: &Root, clang: &Path, runner: Runner) -> Result<Extra> {
    let mut extra = Extra::default();
    if args.links()
        && let Some(linker) = linker_choice::linker(args, clang, runner)?
    {
        extra = line::words(args, root, &linker)?;
    }
    if !args.sources.is_empty() {
        extra.after.extend(source_words(args, root)?);
        if args.placement.replay.is_on() {
            extra.after.extend(args.placement.replay.words(&args.words));
        }
        extra
            .after
            .extend(command_line_record::words(args, clang, runner)?);
    }
    Ok(extra)
}

fn source_words(args: &Args, root: &Root) -> Result<Vec<OsString>> {
    let mut words: Vec<OsString> = vec!["-D__FLICK__=1".into()];
    // After every directory of the user's: another flick.h of theirs comes first.
    words.extend(["-idirafter".into(), root.include().into()]);
    // A rule for make names the placement files, so that a change of one compiles again. clang's
    // driver takes the option too, and does not pass it on.
    for file in &args.placement.files {
        words.extend(["-Xclang".into(), format!("-fdepfile-entry={file}").into()]);
    }
    if matches!(args.stop, None | Some(Stop::Code)) {
        words.extend(pass_words(args, root)?);
    }
    Ok(words)
}

/// To the front end only: assembler and linker have other ideas of these options.
fn pass_words(args: &Args, root: &Root) -> Result<Vec<OsString>> {
    let pass = root.require(root.pass())?;
    let mut words = Vec::new();
    let mut front_end = |word: OsString| words.extend(["-Xclang".into(), word]);
    let mut plugin = OsString::from("-fpass-plugin=");
    plugin.push(&pass);
    front_end(plugin);
    // Loaded a second time for its options, which must exist when -mllvm is read.
    front_end("-load".into());
    front_end(pass.into());
    let refused = args.not_with_nxp.at_compile();
    let refused = refused.map(|option| format!("-flick-refuse={option}").into());
    let check = args.check_device.then(|| "-flick-check-device".into());
    let timed = args.timed.then(|| "-flick-timed".into());
    let no_leaves = args.instruments_host.then(|| "-flick-no-leaves".into());
    let replay = &args.placement.replay;
    let root = format!("-flick-root={}", replay.tree().display());
    let root = replay.is_on().then(|| root.into());
    let refused = refused
        .into_iter()
        .chain(no_leaves)
        .chain(check)
        .chain(timed)
        .chain(root);
    let placement = args.placement.pass_options();
    // A pass of another version says so.
    let version = OsString::from(format!("-flick-abi={}", ABI_VERSION.bits()));
    for option in placement
        .into_iter()
        .chain(args.nxp.pass_options())
        .chain(args.both_pipelines.pass_options())
        .chain(refused)
        .chain([version])
    {
        front_end("-mllvm".into());
        front_end(option);
    }
    Ok(words)
}
