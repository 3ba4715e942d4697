//! `flick objdump`: disassembly by LLVM's own tool, with the names of the source.
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flick_abi::march;
use flick_abi::names::{CALL_PREFIX, NXP_PREFIX};
use flick_diagnostics::Code;
use flick_image::elf_kind::read_file;
use flick_image::{FinalFile, linked, needed, output};
use flick_names::Demangle;
use object::{Object, ObjectSymbol, SymbolKind};

use crate::beside::{Beside, Shown};
use crate::file_translation::FileTranslation;
use crate::root::OBJDUMP;
use crate::temp::Temp;
use crate::translated::Translated;
use crate::{Error, Result};

/// What to show of which file.
#[derive(Clone, Debug, Default)]
pub struct Objdump {
    /// The object, program or library.
    pub file: PathBuf,
    /// Source lines between the instructions (`-S`).
    pub source: bool,
    /// The NxP's code. Addresses are those of the program where it has symbols, else offsets in the
    /// image.
    pub nxp: bool,
    /// The host's code.
    pub host: bool,
    /// Under each instruction of the NxP's its translation in the file, or what the engine's
    /// translator makes of it if the file has none.
    pub translated: bool,
    /// This function only.
    pub function: Option<String>,
    /// Whether names of C++ are shown as in the source.
    pub demangle: Demangle,
}

/// Prints code by function on stdout. FLK0102, FLK0103, FLK0104, FLK0105, FLK0304, FLK0307,
/// FLK0308.
pub fn objdump(options: &Objdump) -> Result<()> {
    objdump_to(options, &mut std::io::stdout().lock())
}

/// The same, on `out`.
pub fn objdump_to(options: &Objdump, out: &mut impl Write) -> Result<()> {
    let place = options.file.display();
    let data = read_file(&options.file)?;
    let file = FinalFile::parse(&data).map_err(|e| {
        let libraries = needed::with_placements(&options.file);
        match libraries.first() {
            Some((library, _)) if e.code == Code::NoNxpCode => Error {
                help: format!("a library that it needs has some: {}", library.display()),
                ..e.at(&place)
            },
            _ => e.at(&place),
        }
    })?;
    let tool = OBJDUMP.require()?;
    let (mut nxp, mut host) = (None, None);
    if let Some(function) = &options.function {
        nxp = Some(symbols_of(file.nxp_elf, function)).filter(|_| options.nxp);
        host = Some(symbols_of(&data, function)).filter(|_| options.host);
        if nxp.iter().chain(&host).all(Vec::is_empty) {
            return Err(unknown_function(function, options, &file, &data));
        }
    }
    let wanted = |symbols: &Option<Vec<String>>| !matches!(symbols, Some(none) if none.is_empty());
    if options.nxp && wanted(&nxp) {
        let temp = Temp::new(None)?;
        let elf = temp.write("image.elf", file.nxp_elf)?;
        // The tool finds no source lines for addresses that were moved.
        let base = if options.source {
            None
        } else {
            file.image_address
        }
        .unwrap_or(0);
        let mut words = vec![
            OsString::from(format!("--adjust-vma={base:#x}")),
            // Without it everything but RV64I is shown as unknown bytes.
            mattr().into(),
            elf.clone().into(),
        ];
        words.extend(only(&nxp));
        let exits = linked::exits(file.nxp_elf);
        let exits = exits
            .into_iter()
            .map(|(at, name)| (at.wrapping_add(base), name))
            .collect();
        let units = match file.units.len() {
            1 => "1 unit".to_owned(),
            n => format!("{n} units"),
        };
        let title = format!("{place}: NxP code (RV64, {units})");
        let mut translated = None;
        if options.translated {
            let in_file = FileTranslation::of(&data, file.nxp_elf, options.demangle);
            translated = Some(match in_file {
                Some(in_file) => Shown::File(in_file, base),
                None => {
                    let made = Translated::new(file.nxp_elf, base, options.demangle)?;
                    Shown::Process(Box::new(made))
                }
            });
        }
        let plain = |line: &str| demangled(plain(line, &exits), options.demangle);
        let mut beside = Beside::new(translated);
        show(&tool, options, &words, &title, &elf, out, |line| {
            beside.line(line, &plain)
        })?;
    }
    if options.host && wanted(&host) {
        let title = format!("{place}: host code (x86-64)");
        let mut words = vec![options.file.clone().into()];
        words.extend(only(&host));
        let none = BTreeMap::new();
        show(&tool, options, &words, &title, &options.file, out, |line| {
            demangled(plain(line, &none), options.demangle)
        })?;
    }
    Ok(())
}

fn mattr() -> String {
    let features = march::EXTENSIONS.iter().filter(|name| **name != "i");
    let features: Vec<String> = features.map(|name| format!("+{name}")).collect();
    format!("--mattr={}", features.join(","))
}

fn show(
    tool: &Path,
    options: &Objdump,
    words: &[OsString],
    title: &str,
    file: &Path,
    out: &mut impl Write,
    mut shown: impl FnMut(&str) -> String,
) -> Result<()> {
    let failed = |why: String| {
        let help = "run `flick doctor`";
        Error::new(
            Code::FailedTool,
            "a tool that Flick calls failed",
            OBJDUMP.name,
            why,
            help,
        )
    };
    let mut child = Command::new(tool)
        .arg(if options.source { "-S" } else { "-d" })
        .args(["--no-show-raw-insn"])
        .args(words)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| failed(format!("it cannot be started: {e}")))?;
    let mut end = None;
    let mut write = |text: &str| {
        if end.is_none() {
            end = out.write_all(text.as_bytes()).err();
        }
        end.is_none()
    };
    write(&format!("{title}\n"));
    let banner = format!("{}:", file.display());
    let mut lines = BufReader::new(child.stdout.take().expect("piped above"));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let text = String::from_utf8_lossy(&line);
        if !text.starts_with(&banner) && !write(&shown(&text)) {
            break;
        }
        line.clear();
    }
    write(&shown(""));
    if end.is_none() {
        end = out.flush().err();
    }
    drop(lines);
    let status = child.wait().map_err(|e| failed(e.to_string()))?;
    match end {
        // The reader has seen enough (`| head`).
        Some(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Some(error) => Err(output::stdout_error(&error)),
        None if status.success() => Ok(()),
        None => Err(failed(format!("it ended with {status}"))),
    }
}

/// A line with the names of the source: prefixes and the suffix `.flick.` + 8 digits go, and a jump
/// that leaves the image says where to.
fn plain(line: &str, exits: &BTreeMap<u64, String>) -> String {
    let mut line = line.replace(NXP_PREFIX, "").replace(CALL_PREFIX, "");
    while let Some(at) = line.find(".flick.") {
        let digits = line[at + 7..]
            .bytes()
            .take_while(u8::is_ascii_hexdigit)
            .count();
        if digits != 8 {
            break;
        }
        line.replace_range(at..at + 15, "");
    }
    let target = line
        .trim_end()
        .strip_suffix('>')
        .and_then(|rest| rest.rsplit_once(" <"));
    if let Some((before, _)) = target
        && let Some((_, address)) = before.rsplit_once("0x")
        && let Some(name) = u64::from_str_radix(address, 16)
            .ok()
            .and_then(|at| exits.get(&at))
    {
        return format!("{before} <{name} on the host>\n");
    }
    line
}

fn demangled(line: String, demangle: Demangle) -> String {
    match demangle {
        Demangle::Yes => flick_names::demangled_text(&line).into_owned(),
        Demangle::No => line,
    }
}

/// The tool's option for some symbols.
fn only(symbols: &Option<Vec<String>>) -> Option<OsString> {
    let symbols = symbols.as_ref()?.join(",");
    Some(format!("--disassemble-symbols={symbols}").into())
}

/// Names that a function may be called by: the linker's, the source's.
fn names_of(symbol: &str) -> [String; 3] {
    let plain = linked::plain_name(symbol).to_owned();
    [
        symbol.to_owned(),
        flick_names::demangled(&plain).into_owned(),
        plain,
    ]
}

fn functions(elf: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(elf) else {
        return vec![];
    };
    let code = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text);
    let names = code.filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    names.collect()
}

/// The symbols of the functions with this name.
fn symbols_of(elf: &[u8], name: &str) -> Vec<String> {
    let mut symbols = functions(elf);
    symbols.retain(|symbol| names_of(symbol).iter().any(|known| known == name));
    symbols.sort();
    symbols.dedup();
    symbols
}

fn unknown_function(name: &str, options: &Objdump, file: &FinalFile, data: &[u8]) -> Error {
    let mut known = vec![];
    if options.nxp {
        known.extend(functions(file.nxp_elf));
    }
    if options.host {
        known.extend(functions(data));
    }
    let known: Vec<_> = known.iter().flat_map(|symbol| names_of(symbol)).collect();
    let meant = flick_names::did_you_mean(name, "", known.iter().map(String::as_str));
    Error::new(
        Code::BadOption,
        "a Flick option has a bad value",
        format!("--disassemble={name}"),
        format!("{} has no such function", options.file.display()),
        format!("{meant}`flick objdump -d` shows all"),
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_as_in_the_source() {
        let exits = std::collections::BTreeMap::from([(0x30, "puts".to_owned())]);
        let plain = |line| super::plain(line, &exits);
        assert_eq!(
            plain("10: jal 0x20 <__flick_nxp_f.flick.0123abcd+0x4>\n"),
            "10: jal 0x20 <f+0x4>\n"
        );
        assert_eq!(
            plain("10: jal 0x30 <x+0x1560>\n"),
            "10: jal 0x30 <puts on the host>\n"
        );
        assert_eq!(plain("<.flick.xyz> 1"), "<.flick.xyz> 1");
        let mattr = super::mattr();
        assert!(mattr.starts_with("--mattr=+m,+a,+f,"), "{mattr}");
    }
}
