//! Makes a failing case small: placement to a list of functions, run and options to the plainest,
//! the program by its tree of choices. A step is kept where the case still fails in the same way.
mod parts;
mod passes;
mod reducer;

pub use reducer::reduce_csmith;

use crate::drawn_placement::{Entry, Placement, Side};
use crate::source::Source;
use crate::workshop::Case;

/// What a pass makes of a value at a position.
pub enum Step<T> {
    /// No such position.
    End,
    /// Nothing to take away here.
    Same,
    /// Simpler than the value.
    Try(T),
}

/// Goes through all positions of a pass and keeps what still fails. Whether anything was kept.
fn sweep<T>(
    value: &mut T,
    pass: impl Fn(&T, usize) -> Step<T>,
    fails: &mut dyn FnMut(&T) -> bool,
) -> bool {
    let (mut at, mut progress) = (0, false);
    loop {
        match pass(value, at) {
            Step::End => return progress,
            Step::Try(simpler) if fails(&simpler) => {
                *value = simpler;
                progress = true;
            }
            Step::Same | Step::Try(_) => at += 1,
        }
    }
}

/// Takes away parts of a list, large parts first.
fn sweep_list<T: Clone>(list: &mut Vec<T>, fails: &mut dyn FnMut(&Vec<T>) -> bool) -> bool {
    let (mut progress, mut chunk) = (false, list.len().max(1));
    loop {
        progress |= sweep(list, |list, at| without(list, at, chunk), fails);
        if chunk == 1 {
            return progress;
        }
        chunk = chunk.div_ceil(2);
    }
}

fn without<T: Clone>(list: &[T], at: usize, chunk: usize) -> Step<Vec<T>> {
    let start = at * chunk;
    if start >= list.len() {
        return Step::End;
    }
    let mut rest = list[..start].to_vec();
    rest.extend_from_slice(&list[list.len().min(start + chunk)..]);
    Step::Try(rest)
}

/// The smallest case that `fails` finds. `chosen`: what the failing build had placed.
pub fn case(mut case: Case, chosen: &[Entry], fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let listed = Case {
        placement: Placement::List(chosen.to_vec()),
        ..case.clone()
    };
    if !chosen.is_empty() && listed.placement != case.placement && fails(&listed) {
        case = listed;
    }
    loop {
        let mut progress = manner(&mut case, fails);
        progress |= placement(&mut case, fails);
        progress |= options(&mut case, fails);
        if let Source::Own(program) = &case.source {
            let mut smaller = (**program).clone();
            let mut fails_with = |program: &crate::generated_program::Program| {
                fails(&Case {
                    source: Source::Own(Box::new(program.clone())),
                    ..case.clone()
                })
            };
            progress |= passes::shrink(&mut smaller, &mut fails_with);
            case.source = Source::Own(Box::new(smaller));
        }
        if !progress {
            return case;
        }
    }
}

fn manner(case: &mut Case, fails: &mut dyn FnMut(&Case) -> bool) -> bool {
    let simplest: [fn(&mut Case); 3] = [
        |case| case.manner.counted = false,
        |case| case.manner.trigger = flick_abi::settings::TRIGGER.values[0],
        |case| case.manner.engine = flick_abi::settings::ENGINE.values[0],
    ];
    sweep(
        case,
        |case, at| {
            let Some(simplify) = simplest.get(at) else {
                return Step::End;
            };
            let mut simpler = case.clone();
            simplify(&mut simpler);
            if simpler.manner == case.manner {
                Step::Same
            } else {
                Step::Try(simpler)
            }
        },
        fails,
    )
}

fn placement(case: &mut Case, fails: &mut dyn FnMut(&Case) -> bool) -> bool {
    let Placement::List(entries) = &case.placement else {
        return false;
    };
    let mut entries = entries.clone();
    let with = |entries: &[Entry]| Case {
        placement: Placement::List(entries.to_vec()),
        ..case.clone()
    };
    let mut progress = sweep_list(&mut entries, &mut |entries| fails(&with(entries)));
    progress |= sweep(
        &mut entries,
        |entries, at| match entries.get(at) {
            None => Step::End,
            Some(entry) if entry.side == Side::Nxp => Step::Same,
            Some(_) => {
                let mut simpler = entries.clone();
                simpler[at].side = Side::Nxp;
                Step::Try(simpler)
            }
        },
        &mut |entries| fails(&with(entries)),
    );
    case.placement = Placement::List(entries);
    progress
}

fn options(case: &mut Case, fails: &mut dyn FnMut(&Case) -> bool) -> bool {
    if matches!(case.source, Source::User(_)) {
        return false;
    }
    sweep(
        case,
        |case, at| match case.options.simpler().into_iter().nth(at) {
            None => Step::End,
            Some(options) => Step::Try(Case {
                options,
                ..case.clone()
            }),
        },
        fails,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build_options::{Link, Options};
    use crate::emit;
    use crate::generate::{self, Features};
    use crate::workshop::Manner;

    #[test]
    fn lists_come_down_to_what_matters() {
        let mut list: Vec<u32> = (0..100).collect();
        let mut tries = 0;
        sweep_list(&mut list, &mut |list| {
            tries += 1;
            list.contains(&17) && list.contains(&80)
        });
        assert_eq!(list, [17, 80]);
        assert!(tries < 150, "{tries}");
    }

    fn drawn(seed: u64) -> Case {
        let program = generate::program(seed, &Features::all());
        let source = Source::Own(Box::new(program));
        let names = source.function_names();
        Case {
            options: Options::draw(seed),
            placement: Placement::List(
                names
                    .into_iter()
                    .map(|name| Entry {
                        side: Side::Both,
                        name,
                    })
                    .collect(),
            ),
            manner: Manner {
                backend: "inline",
                trigger: "fault",
                engine: "interp",
                counted: true,
            },
            source,
        }
    }

    fn text(case: &Case) -> String {
        let files = case.source.files();
        files.into_iter().map(|file| file.text).collect()
    }

    /// A compiler that gets one feature wrong, as it would be seen: a program fails if it has the
    /// feature in it. What is left has the feature and little else.
    #[test]
    fn a_planted_fault_comes_out_small() {
        for (planted, most) in [
            ("va_arg(list, f64)", 2),
            ("qsort(", 2),
            ("raise(SIGUSR1)", 2),
            ("std::function", 2),
            ("siglongjmp(", 2),
            ("throw Derived(x)", 2),
            ("pthread_exit(", 1),
            ("n0 = va", 2),
        ] {
            let seed = (1..)
                .find(|seed| text(&drawn(*seed)).contains(planted))
                .unwrap();
            let before = drawn(seed);
            let small = case(before, &[], &mut |case| text(case).contains(planted));
            let Source::Own(program) = &small.source else {
                panic!("another source");
            };
            let text = text(&small);
            assert!(text.contains(planted), "{text}");
            let functions = program.functions.len();
            assert!(
                functions <= most,
                "{planted}: {functions} functions\n{text}"
            );
            assert!(program.statement_count() <= 1, "{planted}:\n{text}");
            assert_eq!(small.options, Options::PLAIN);
            assert_eq!(small.placement, Placement::List(Vec::new()));
            assert_eq!(
                (small.manner.trigger, small.manner.counted),
                ("gate", false)
            );
            assert_eq!(program.units, 1);
        }
    }

    /// What the failure needs stays: options, placement and trigger, too.
    #[test]
    fn needed_parts_stay() {
        let seed = (1..)
            .find(|seed| {
                let case = drawn(*seed);
                let sources = case.source.files();
                case.options.link == Link::NoPie && sources.len() > 2
            })
            .unwrap();
        let needed = drawn(seed).source.function_names()[0].clone();
        let small = case(drawn(seed), &[], &mut |case| {
            let Placement::List(entries) = &case.placement else {
                return false;
            };
            case.options.link == Link::NoPie
                && case.manner.trigger == "fault"
                && entries.iter().any(|entry| entry.name == needed)
                && case.source.files().len() > 2
        });
        assert_eq!(small.options.link, Link::NoPie);
        assert_eq!(small.manner.trigger, "fault");
        let Placement::List(entries) = &small.placement else {
            panic!("no list");
        };
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].side, Side::Nxp);
        let Source::Own(program) = &small.source else {
            panic!("another source");
        };
        assert_eq!(emit::sources(program).len(), 3);
    }
}
