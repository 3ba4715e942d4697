//! What `--verify` has obtained, for people.
use std::fmt::Write as _;
use std::path::Path;

use flick_events::timed::duration;
use flick_names::Demangle;

use super::advice_text::against;
use super::build_rounds::{Round, Verified};
use super::proposal::Proposal;

/// `file`: where the best placement is, if there is one.
pub fn text(
    verified: &Verified,
    proposal: &Proposal,
    (build, file): (&str, Option<&Path>),
    demangle: Demangle,
) -> String {
    let mut out = format!(
        "\n Verified by {build}:\n\n {:>6} {:>12} {:>12} {:>11}  what moves\n",
        "round", "predicted", "obtained", "difference"
    );
    for (number, round) in verified.rounds.iter().enumerate() {
        let _ = writeln!(
            out,
            " {:>6} {:>12} {:>12} {:>11}  {}",
            number + 1,
            duration(round.predicted),
            duration(round.obtained),
            format!("{:+.1} %", round.difference()),
            moves(round, demangle)
        );
        if !round.dropped.is_empty() {
            let names: Vec<_> = round
                .dropped
                .iter()
                .map(|name| demangle.apply(name).into_owned())
                .collect();
            let _ = writeln!(
                out,
                " {:>45} dropped, worse there: {}",
                "",
                names.join(", ")
            );
        }
    }
    let _ = writeln!(
        out,
        "\n {:>20}  obtained           # {}",
        duration(verified.time),
        against(proposal.before, verified.time)
    );
    let _ = match (file, verified.best) {
        (Some(file), Some(best)) => writeln!(
            out,
            "\n The placement of round {} is in {}, and the program is built by it.\n",
            best + 1,
            file.display()
        ),
        _ => writeln!(
            out,
            "\n No placement has taken less than the program as it was and with nothing placed. No placement file is\n written, and the program is built as it was.\n"
        ),
    };
    out
}

fn moves(round: &Round, demangle: Demangle) -> String {
    let all = round.entries.moves();
    let each = all.map(|(name, place)| format!("{} {}", place.word(), demangle.apply(name)));
    each.collect::<Vec<_>>().join(", ")
}
