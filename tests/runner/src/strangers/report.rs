//! Reports of a run or a build, for people.
use super::making::Made;
use super::running::Done;

/// How a run differs, with the commands that repeat both.
pub fn difference(plain: (&Made, &Done), here: (&Made, &Done)) -> String {
    let (want, have) = (&plain.1.finished, &here.1.finished);
    let mut text = format!("natively {}, here {}\n", want.status, have.status);
    if want.stdout != have.stdout {
        text.push_str(&first_difference(&want.stdout_text(), &have.stdout_text()));
    }
    for (made, done) in [plain, here] {
        for line in made.commands.iter().chain([&done.shell]) {
            text.push_str(&format!("{line}\n"));
        }
    }
    let errors = have.stderr_text();
    for line in errors.lines().take(20) {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

fn first_difference(want: &str, have: &str) -> String {
    let at = want
        .lines()
        .zip(have.lines())
        .take_while(|(w, h)| w == h)
        .count();
    let line = |text: &str| {
        text.lines()
            .nth(at)
            .unwrap_or("(nothing)")
            .chars()
            .take(200)
            .collect::<String>()
    };
    format!(
        "line {}:\n  natively {}\n  here     {}\n",
        at + 1,
        line(want),
        line(have)
    )
}

/// The first line that says what is wrong.
pub fn first_error(text: &str) -> String {
    let error = text
        .lines()
        .find(|l| l.contains("error:") || l.contains("undefined symbol"));
    let line = error.or(text.lines().next()).unwrap_or("no message");
    // Without the place.
    let short = line.split_once("error: ").map_or(line, |(_, what)| what);
    short.chars().take(160).collect()
}

/// The first code of ours in a message.
pub fn code_in(text: &str) -> Option<&str> {
    let at = text.find("FLK")?;
    let code = text.get(at..at + 7)?;
    code[3..]
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_short() {
        let text = "In file included from x\n/a/b.c:3:1: error: unknown type name 'q'\n";
        assert_eq!(first_error(text), "unknown type name 'q'");
        assert_eq!(code_in("x: error: no [FLK0204]"), Some("FLK0204"));
        assert_eq!(code_in("FLK"), None);
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let shown = first_difference("a\nb\n", "a\nc\n");
        assert_eq!(shown, "line 2:\n  natively b\n  here     c\n");
    }
}
