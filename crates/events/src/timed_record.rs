//! The lines of a record about a timed run (`docs/records.md`, "Timed runs").
use crate::lines::{escape, push, unescape};
use crate::profile;
use crate::timed_data::{NotExact, Share, Site, Timed};

pub const PREFIX: &str = "timed-";

/// Writes the lines, the platform's first.
pub fn write(timed: &Timed, out: &mut String) {
    push(
        out,
        format_args!("timed-platform {}", escape(&timed.platform)),
    );
    push(
        out,
        format_args!("timed-description {}", escape(&timed.description)),
    );
    push(out, format_args!("timed-libc {}", escape(&timed.libc)));
    for (key, value) in [
        ("migrating-ps", timed.migrating),
        ("staying-ps", timed.staying),
        ("threads", timed.threads),
        ("host-counted", timed.host_counted.into()),
        ("ordered", timed.ordered.into()),
        ("host-accesses", timed.host_accesses),
        ("accesses", timed.accesses),
        ("before-ps", timed.before),
        ("other-accesses", timed.other_accesses),
        ("allocated", timed.allocated),
        ("allocated-accesses", timed.allocated_accesses),
    ] {
        push(out, format_args!("timed-{key} {value}"));
    }
    if !timed.own_levels.is_empty() {
        let numbers = [timed.own_walks, timed.own_ahead];
        let numbers = numbers.iter().chain(&timed.own_levels);
        let numbers: Vec<String> = numbers.map(u64::to_string).collect();
        push(out, format_args!("timed-own-memory {}", numbers.join(" ")));
    }
    if timed.page_faults > 0 {
        push(out, format_args!("timed-page-faults {}", timed.page_faults));
    }
    for (world, shares) in [
        ("migrating", &timed.migrating_shares),
        ("staying", &timed.staying_shares),
    ] {
        for share in shares {
            let name = escape(&share.name);
            push(
                out,
                format_args!("timed-share {world} {} {name}", share.time),
            );
        }
    }
    for not_exact in &timed.not_exact {
        let texts = [&not_exact.call, &not_exact.place].map(|text| escape(text));
        push(out, format_args!("timed-not-exact {}", texts.join("\t")));
    }
    for site in &timed.sites {
        let numbers = [
            site.calls,
            site.migrating,
            site.staying,
            site.crossing,
            site.accesses,
            site.instructions,
            site.offset,
        ]
        .map(|number| number.to_string())
        .join(" ");
        let names = [&site.caller, &site.module, &site.callee].map(|name| escape(name));
        push(
            out,
            format_args!("timed-site {numbers} {}", names.join("\t")),
        );
        if site.before != site.staying {
            push(out, format_args!("timed-site-before {}", site.before));
        }
    }
    if !timed.profile.functions.is_empty() {
        profile::write(&timed.profile, out);
    }
}

/// Takes one line; `None` if its value is not what the key calls for. Unknown keys are skipped.
pub fn take(timed: &mut Timed, key: &str, value: &str) -> Option<()> {
    match key.strip_prefix(PREFIX)? {
        "platform" => timed.platform = unescape(value)?,
        "description" => timed.description = unescape(value)?,
        "libc" => timed.libc = unescape(value)?,
        "migrating-ps" => timed.migrating = value.parse().ok()?,
        "staying-ps" => {
            timed.staying = value.parse().ok()?;
            // Of a runtime that does not know better.
            timed.before = timed.staying;
        }
        "before-ps" => timed.before = value.parse().ok()?,
        "other-accesses" => timed.other_accesses = value.parse().ok()?,
        "allocated" => timed.allocated = value.parse().ok()?,
        "allocated-accesses" => timed.allocated_accesses = value.parse().ok()?,
        "threads" => timed.threads = value.parse().ok()?,
        "host-counted" => timed.host_counted = value.parse::<u64>().ok()? != 0,
        "ordered" => timed.ordered = value.parse::<u64>().ok()? != 0,
        "host-accesses" => timed.host_accesses = value.parse().ok()?,
        "accesses" => timed.accesses = value.parse().ok()?,
        "own-memory" => {
            let mut numbers = Vec::new();
            for number in value.split(' ') {
                numbers.push(number.parse().ok()?);
            }
            if numbers.len() < 3 {
                return None;
            }
            timed.own_levels = numbers.split_off(2);
            (timed.own_walks, timed.own_ahead) = (numbers[0], numbers[1]);
        }
        "page-faults" => timed.page_faults = value.parse().ok()?,
        "share" => {
            let (world, rest) = value.split_once(' ')?;
            let (time, name) = rest.split_once(' ')?;
            let share = Share {
                name: unescape(name)?,
                time: time.parse().ok()?,
            };
            match world {
                "migrating" => timed.migrating_shares.push(share),
                "staying" => timed.staying_shares.push(share),
                _ => return None,
            }
        }
        "not-exact" => {
            let (call, place) = value.split_once('\t')?;
            timed.not_exact.push(NotExact {
                call: unescape(call)?,
                place: unescape(place)?,
            });
        }
        "site-before" => timed.sites.last_mut()?.before = value.parse().ok()?,
        "site" => timed.sites.push(site(value)?),
        key => profile::take(&mut timed.profile, key, value)?,
    }
    Some(())
}

fn site(value: &str) -> Option<Site> {
    let mut words = value.splitn(8, ' ');
    let mut number = || words.next()?.parse::<u64>().ok();
    let mut site = Site {
        calls: number()?,
        migrating: number()?,
        staying: number()?,
        crossing: number()?,
        accesses: number()?,
        instructions: number()?,
        offset: number()?,
        ..Site::default()
    };
    let mut names = words.next()?.split('\t');
    let mut name = || unescape(names.next()?);
    (site.caller, site.module, site.callee) = (name()?, name()?, name()?);
    site.before = site.staying;
    names.next().is_none().then_some(site)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn full() -> Timed {
        Timed {
            platform: "a platform".into(),
            description: "of\nmany\twords".into(),
            migrating: 1,
            staying: u64::MAX,
            before: u64::MAX - 1,
            threads: 3,
            host_counted: true,
            libc: "glibc 2.36".into(),
            migrating_shares: vec![Share {
                name: "crossings: fault".into(),
                time: 4,
            }],
            staying_shares: vec![Share {
                name: "host code".into(),
                time: 5,
            }],
            host_accesses: 6,
            accesses: 7,
            other_accesses: 15,
            own_levels: vec![21, 22, 23],
            own_ahead: 24,
            own_walks: 25,
            page_faults: 26,
            allocated: 16,
            allocated_accesses: 17,
            ordered: true,
            not_exact: vec![NotExact {
                call: "recvmsg".into(),
                place: "main (a\tprogram+0x10)".into(),
            }],
            sites: vec![Site {
                caller: "main".into(),
                module: "/a b/c\td".into(),
                offset: 8,
                callee: "walk(int, long)".into(),
                calls: 9,
                migrating: 10,
                staying: 11,
                before: 18,
                crossing: 12,
                accesses: 13,
                instructions: 14,
            }],
            profile: profile::tests::full(),
        }
    }

    #[test]
    fn damage_is_noticed() {
        let mut timed = Timed::default();
        for (key, value) in [
            ("timed-site-before", "1"),
            ("timed-share", "sideways 1 x"),
            ("timed-share", "migrating x"),
            ("timed-not-exact", "read"),
            ("timed-site", "1 2 3 4 5 6 7 a\tb"),
            ("timed-site", "1 2 3 4 5 6 a\tb\tc"),
            ("timed-site", "1 2 3 4 5 6 7 a\tb\tc\td"),
            ("timed-migrating-ps", "-1"),
            ("timed-own-memory", "1 2"),
            ("timed-own-memory", "1 2 x"),
            ("timed-page-faults", "x"),
        ] {
            assert_eq!(take(&mut timed, key, value), None, "{key} {value}");
        }
        assert_eq!(take(&mut timed, "timed-of-the-future", "1"), Some(()));
    }
}
