//! The text of a mistake: reads its file (`tests/writing.md`), and makes the page's text of it.

/// Groups of the page, in the order in which a newcomer meets them.
pub const GROUPS: [&str; 9] = [
    "Install",
    "Marks",
    "What cannot be placed",
    "Placement files",
    "Options",
    "Link",
    "Versions",
    "Run",
    "Tools",
];

/// Part of a mistake's text.
#[derive(Debug)]
pub enum Block {
    Text(String),
    /// A file that the reader has; its fence is "```LANGUAGE NAME".
    File {
        language: String,
        name: String,
        text: String,
    },
    /// Commands, carried out in order.
    Console(Vec<String>),
}

impl Block {
    /// A file as the page shows it.
    pub fn shown(&self) -> String {
        match self {
            Self::File {
                language,
                name,
                text,
            } => {
                format!("`{name}`:\n\n```{language}\n{text}```\n")
            }
            _ => String::new(),
        }
    }
}

#[derive(Debug, Default)]
pub struct Mistake {
    pub name: String,
    /// Index in [`GROUPS`].
    pub group: usize,
    pub title: String,
    /// Code of the message; none where another program speaks.
    code: Option<String>,
    /// Texts of the message: the place, the reason, the next step.
    place: Vec<String>,
    reason: Vec<String>,
    next: Vec<String>,
    /// The last command of the remedy prints this.
    pub then: String,
    pub needs: Vec<String>,
    /// The files of the page's introduction that the reader has.
    pub uses: Vec<String>,
    /// The command that shows the mistake succeeds and says something all the same.
    pub warning: bool,
    pub blocks: Vec<Block>,
}

impl Mistake {
    pub fn parse(name: &str, source: &str) -> Result<Self, String> {
        let mut mistake = Self {
            name: name.into(),
            ..Self::default()
        };
        let rest = source
            .strip_prefix("<!--\n")
            .ok_or("it does not begin with `<!--`")?;
        let (keys, body) = rest
            .split_once("-->\n")
            .ok_or("the leading comment has no end")?;
        let mut group = None;
        for line in keys.lines() {
            let (key, value) = line
                .split_once(": ")
                .ok_or_else(|| format!("not a key: {line}"))?;
            let value = value.trim().to_owned();
            match key {
                "GROUP" => group = GROUPS.iter().position(|g| *g == value),
                "CODE" => mistake.code = Some(value),
                "PLACE" => mistake.place.push(value),
                "REASON" => mistake.reason.push(value),
                "NEXT" => mistake.next.push(value),
                "THEN" => mistake.then = value,
                "NEEDS" => mistake.needs.push(value),
                "USES" => mistake
                    .uses
                    .extend(value.split_whitespace().map(str::to_owned)),
                "WARNING" if value == "yes" => mistake.warning = true,
                _ => return Err(format!("unknown key or value: {line}")),
            }
        }
        mistake.group = group.ok_or("GROUP names none of the page's groups")?;
        let (title, body) = body
            .strip_prefix("# ")
            .and_then(|body| body.split_once('\n'))
            .ok_or("a title is needed after the comment")?;
        mistake.title = title.into();
        mistake.blocks = blocks(body)?;
        mistake.check()?;
        Ok(mistake)
    }

    fn check(&self) -> Result<(), String> {
        if self.then.is_empty() {
            return Err("THEN is needed: the remedy must be shown to work".into());
        }
        if self.place.is_empty() || self.reason.is_empty() {
            return Err("PLACE and REASON are needed".into());
        }
        let before = self.commands_before_why();
        let headings = ["## Why\n", "## What to do\n"];
        let text = |b: &Block| match b {
            Block::Text(t) => t.clone(),
            _ => String::new(),
        };
        let all: String = self.blocks.iter().map(text).collect();
        if before == 0 || headings.iter().any(|h| !all.contains(h)) {
            return Err("commands, `## Why` and `## What to do` are needed".into());
        }
        if self.commands() == before {
            return Err("no command shows that the remedy works".into());
        }
        Ok(())
    }

    /// Whether the message itself, under a code, says what to do next.
    pub fn complete(&self) -> bool {
        self.code.is_some() && !self.next.is_empty()
    }

    fn commands(&self) -> usize {
        let count = |b: &Block| match b {
            Block::Console(lines) => lines.len(),
            _ => 0,
        };
        self.blocks.iter().map(count).sum()
    }

    /// Commands that lead to the message; the last of them prints it.
    pub fn commands_before_why(&self) -> usize {
        let is_why = |b: &Block| matches!(b, Block::Text(t) if t.contains("## Why\n"));
        let before = self.blocks.iter().take_while(|b| !is_why(b));
        let count = |b: &Block| match b {
            Block::Console(lines) => lines.len(),
            _ => 0,
        };
        before.map(count).sum()
    }

    /// Whether `output` says all that it must.
    pub fn check_message(&self, output: &str) -> Result<(), String> {
        let code = self.code.iter().map(|code| ("CODE", code));
        let place = self.place.iter().map(|text| ("PLACE", text));
        let reason = self.reason.iter().map(|text| ("REASON", text));
        let next = self.next.iter().map(|text| ("NEXT", text));
        for (key, want) in code.chain(place).chain(reason).chain(next) {
            if !output.contains(want.as_str()) {
                return Err(format!("{output}--- does not contain {key}: {want}"));
            }
        }
        for bad in ["panicked at", "PLEASE submit a bug report", "Stack dump:"] {
            if output.contains(bad) {
                return Err(format!("{output}--- a tool crashed"));
            }
        }
        Ok(())
    }
}

fn blocks(body: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut text = String::new();
    let mut lines = body.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = line.strip_prefix("```") else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        blocks.push(Block::Text(std::mem::take(&mut text)));
        let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push(match fence.split_once(' ') {
            Some((language, name)) => Block::File {
                language: language.into(),
                name: name.into(),
                text: inside.iter().map(|line| format!("{line}\n")).collect(),
            },
            None if fence == "console" => Block::Console(
                inside
                    .iter()
                    .map(|line| {
                        let command = line.strip_prefix("$ ").map(str::to_owned);
                        command.ok_or_else(|| format!("not a command: {line}"))
                    })
                    .collect::<Result<_, _>>()?,
            ),
            None => {
                return Err(format!(
                    "a fence that is neither a file nor a console: {line}"
                ));
            }
        });
    }
    blocks.push(Block::Text(text));
    Ok(blocks)
}

pub fn anchor(name: &str) -> String {
    format!("<a id=\"{name}\"></a>")
}

/// The beginning of a section.
pub fn heading(mistake: &Mistake) -> String {
    let mut text = format!("{}\n\n### {}\n\n", anchor(&mistake.name), mistake.title);
    if !mistake.uses.is_empty() {
        let names: Vec<String> = mistake.uses.iter().map(|n| format!("`{n}`")).collect();
        text.push_str(&format!("With [{}](#example):\n\n", names.join(" and ")));
    }
    text
}

/// Text with its two headings run in: the page has many sections.
pub fn run_in(text: &str) -> String {
    let run_in = text
        .replace("## Why\n\n", "**Why.** ")
        .replace("## What to do\n\n", "**What to do.** ");
    // A block of its own follows.
    match run_in.strip_suffix("**What to do.** ") {
        Some(before) => format!("{before}**What to do.**\n\n"),
        None => run_in,
    }
}

pub fn group_heading(group: usize) -> String {
    format!("## {}\n\n", GROUPS[group])
}

/// The page up to the first group.
pub fn contents(mistakes: &[Mistake], example: &[Block]) -> String {
    let mut page = String::from(
        "# Mistakes, and what the tools say\n\n\
         The tools have printed every message below: `flick-test --errors` runs all of the\n\
         commands, and fails if this page differs. `/home/you/project` stands for the directory\n\
         you work in, `/usr/local` for the place where Flick is installed, and `…` for a number\n\
         that changes from run to run. A message of Flick's has a code, and `flick explain CODE`\n\
         has more about it.\n\n",
    );
    for (index, group) in GROUPS.iter().enumerate() {
        let mut here = mistakes.iter().filter(|m| m.group == index).peekable();
        if here.peek().is_none() {
            continue;
        }
        page.push_str(&format!("**{group}**\n\n"));
        for mistake in here {
            let code = mistake
                .code
                .as_ref()
                .map_or(String::new(), |code| format!(" ({code})"));
            page.push_str(&format!("- [{}](#{}){code}\n", mistake.title, mistake.name));
        }
        page.push('\n');
    }
    page.push_str("<a name=\"example\"></a>Many of them use these two files:\n\n");
    for file in example {
        page.push_str(&file.shown());
    }
    page.push('\n');
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "<!--\nGROUP: Link\nCODE: FLK0301\nPLACE: a.o\nREASON: why\nNEXT: do\n\
        THEN: 6\n-->\n\
        # It does not link\nText.\n```c a.c\nint x;\n```\n```console\n$ cc a.c\n```\n\n\
        ## Why\n\nSo.\n\n\
        ## What to do\n\n```console\n$ true\n```\n";

    #[test]
    fn reads_a_mistake() {
        let m = Mistake::parse("link", GOOD).unwrap();
        assert_eq!(
            (m.title.as_str(), m.commands_before_why(), m.commands()),
            ("It does not link", 1, 2)
        );
        assert!(m.complete());
        m.check_message("a.o why do [FLK0301]").unwrap();
        assert!(
            m.check_message("a.o why [FLK0301]")
                .unwrap_err()
                .contains("NEXT: do")
        );
        assert!(
            m.check_message("a.o why do")
                .unwrap_err()
                .contains("CODE: FLK0301")
        );
    }

    #[test]
    fn refuses_what_would_not_test() {
        for (what, by) in [
            ("THEN: 6\n", ""),
            ("PLACE: a.o\n", ""),
            ("GROUP: Link", "GROUP: Lunk"),
            ("NEXT", "NXT"),
            ("## Why", "## Because"),
            ("```console\n$ true\n```\n", ""),
            ("$ true", "true"),
        ] {
            assert!(
                Mistake::parse("link", &GOOD.replace(what, by)).is_err(),
                "{what}"
            );
        }
    }
}
