//! Man pages and shell completions, made from the same definition that parses the command line, and
//! from what `man/` adds by hand. `make` calls this and installs the result.
use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use flick_image::output;

/// Sections that follow the generated ones, by page.
const BY_HAND: [(&str, &str); 11] = [
    ("flick", include_str!("../man/flick.man")),
    ("flick-stat", include_str!("../man/flick-stat.man")),
    ("flick-advise", include_str!("../man/flick-advise.man")),
    ("flick-record", include_str!("../man/flick-record.man")),
    ("flick-report", include_str!("../man/flick-report.man")),
    ("flick-config", include_str!("../man/flick-config.man")),
    ("flick-place", include_str!("../man/flick-place.man")),
    ("flick-objdump", include_str!("../man/flick-objdump.man")),
    ("flick-verify", include_str!("../man/flick-verify.man")),
    ("flick-sweep", include_str!("../man/flick-sweep.man")),
    ("flick-torture", include_str!("../man/flick-torture.man")),
];

/// The commands that are compilers: name of the page, clang's name, what the page says it does.
const COMPILERS: [(&str, &str, &str); 2] = [
    (
        "flick-cc",
        "clang-19",
        "compile and link C for host and NxP",
    ),
    (
        "flick-c++",
        "clang++-19",
        "compile and link C++ for host and NxP",
    ),
];

/// Writes `man1/*.1` and the completions of every shell below `dir`, as `share` has them.
pub fn write(command: Command, dir: &Path) -> io::Result<()> {
    let mut command = command;
    let mut documented = command.clone().disable_help_subcommand(true);
    documented.build();
    command.build();
    let man = dir.join("man/man1");
    fs::create_dir_all(&man)?;
    let names = page_names(&documented);
    for (name, page) in &names {
        output::write(
            &man.join(format!("{name}.1")),
            manual(name, page, &names)?.as_bytes(),
        )?;
    }
    for (name, clang, what) in COMPILERS {
        output::write(
            &man.join(format!("{name}.1")),
            compiler(name, clang, what).as_bytes(),
        )?;
    }
    // Where each shell looks for what a package brings.
    for (shell, file) in [
        (Shell::Bash, "bash-completion/completions/flick"),
        (Shell::Zsh, "zsh/vendor-completions/_flick"),
        (Shell::Fish, "fish/vendor_completions.d/flick.fish"),
    ] {
        let file = dir.join(file);
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, "flick", &mut script);
        fs::create_dir_all(file.parent().unwrap_or(dir))?;
        output::write(&file, &script)?;
    }
    Ok(())
}

/// `flick` and its visible subcommands, with their names as pages.
fn page_names(command: &Command) -> Vec<(String, Command)> {
    let mut pages = vec![(command.get_name().to_owned(), command.clone())];
    let compilers = ["cc", "c++"];
    for sub in command.get_subcommands() {
        if sub.is_hide_set() || compilers.contains(&sub.get_name()) {
            continue;
        }
        let name = format!("{}-{}", command.get_name(), sub.get_name());
        let title = format!("{} {}", command.get_name(), sub.get_name());
        pages.push((name, sub.clone().bin_name(title)));
    }
    pages
}

fn manual(name: &str, command: &Command, pages: &[(String, Command)]) -> io::Result<String> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    let by_hand = BY_HAND.iter().find(|(known, _)| *known == name);
    let by_hand = by_hand.map_or("", |(_, text)| *text);
    if !by_hand.contains(".SH DESCRIPTION") {
        man.render_description_section(&mut page)?;
    }
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut text = title(name) + &String::from_utf8_lossy(&page);
    text.push_str(by_hand);
    let others = pages.iter().map(|(other, _)| other.as_str());
    let all = others.chain(COMPILERS.map(|(name, ..)| name));
    text.push_str(&see_also(all.filter(|other| *other != name)));
    Ok(text)
}

/// Without a date: the same tree gives the same page on any day.
fn title(name: &str) -> String {
    format!(
        ".TH {} 1 \"\" \"flick {}\" \"Flick\"\n",
        name.to_uppercase(),
        env!("CARGO_PKG_VERSION")
    )
}

fn compiler(name: &str, clang: &str, what: &str) -> String {
    let escaped = name.replace('-', "\\-");
    let by_hand = include_str!("../man/compiler.man")
        .replace("@CLANG@", &clang.replace('-', "\\-"))
        .replace("@NAME@", &escaped)
        .replace("@OPTIONS@", &own_options());
    let verb = name.trim_start_matches("flick-");
    format!(
        "{}.SH NAME\n{escaped} \\- {what}\n.SH SYNOPSIS\n\
         .B {escaped}\n.RI [ options ] \\ file ...\n.br\n.B flick {verb}\n.RI [ options ] \\ file ...\n\
         {by_hand}{}",
        title(name),
        see_also([clang, "flick"].into_iter()),
    )
}

/// Flick's options of a compiler, in the order of its help.
fn own_options() -> String {
    let entries = flick_driver::help::OPTIONS.iter().map(|(option, what)| {
        let option = option.replace('-', "\\-").replace('<', "\\fI");
        let option = option.replace('>', "\\fB");
        format!(".TP\n\\fB{option}\\fR\n{}.\n", what.replace('-', "\\-"))
    });
    entries.collect()
}

fn see_also<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<String> = names
        .map(|name| format!(".BR {} (1)", name.replace('-', "\\-")))
        .collect();
    format!(".SH SEE ALSO\n{}\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn pages_and_completions() {
        let dir = tempfile::tempdir().unwrap();
        write(crate::Flick::command(), dir.path()).unwrap();
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        let main = read("man/man1/flick.1");
        for part in ["FLICK_OFFLOAD", ".SH SEE ALSO", "flick\\-cc", "stat"] {
            assert!(main.contains(part), "{part}: {main}");
        }
        assert!(!main.contains("generate"), "hidden commands stay hidden");
        let stat = read("man/man1/flick-stat.1");
        assert!(
            stat.contains("\\-\\-output") && stat.contains(".SH EXIT STATUS"),
            "{stat}"
        );
        let cc = read("man/man1/flick-cc.1");
        assert!(cc.contains("flick\\-place") && !cc.contains('@'), "{cc}");
        for file in [
            "bash-completion/completions/flick",
            "zsh/vendor-completions/_flick",
            "fish/vendor_completions.d/flick.fish",
        ] {
            let script = read(file);
            assert!(script.contains("no-demangle"), "{file}");
        }
        // Every section added by hand has its page.
        for (name, _) in BY_HAND {
            assert!(
                dir.path().join(format!("man/man1/{name}.1")).is_file(),
                "{name}"
            );
        }
    }
}
