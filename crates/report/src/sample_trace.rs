//! Traces that tests make up.
use flick_events::timed::{Share, Site, Timed};
use flick_events::trace::{Encoder, How, MIN_BUFFER, Scope, Side, process_block};

const MICRO: u64 = 1_000_000;

const NAMES: [(u32, &str, &str, u32); 14] = [
    (1, "main", "bfs.c", 40),
    (2, "walk.flick.0123abcd", "bfs.c", 12),
    (3, "visit", "bfs.c", 7),
    (4, "fault", "", 0),
    (5, "link", "", 0),
    (6, "switch", "", 0),
    (7, "NxP instructions", "", 0),
    (8, "NxP heap (bytes)", "", 0),
    (9, "main", "bfs.c", 44),
    (10, "_ZNSt6vectorIiE9push_backEi", "a&b.h", 3),
    (11, "walk.flick.0123abcd", "bfs.c", 15),
    (12, "calls", "", 0),
    (13, "waits", "", 0),
    (14, "ready, woken by thread 0x30000", "", 0),
];

pub const THERE: [(u32, u64); 3] = [(4, 2 * MICRO), (5, 5 * MICRO), (6, MICRO)];
pub const BACK: [(u32, u64); 2] = [(5, 5 * MICRO), (6, MICRO)];

/// One process whose threads do what `threads` encode.
pub fn trace(threads: &[&dyn Fn(&mut Encoder<'_>) -> bool]) -> Vec<u8> {
    let mut file = process_block(7, b"/home/me/bfs", b"near <&> far");
    for (thread, events) in (1..).zip(threads) {
        let mut buffer = vec![0; 64 * MIN_BUFFER];
        let mut encoder = Encoder::new(&mut buffer, 7, thread);
        if thread == 1 {
            for (id, text, source, line) in NAMES {
                assert!(encoder.name(id, text.as_bytes(), source.as_bytes(), line));
            }
        }
        assert!(events(&mut encoder));
        encoder.flush(|block| file.extend(block));
    }
    file
}

/// main crosses to walk, which crosses back for visit and recurses once.
pub fn nested(e: &mut Encoder<'_>) -> bool {
    let at = |micro: u64| micro * MICRO;
    e.thread_start(0, b"main")
        && e.counter(0, Scope::Process, 8, 4096)
        && e.sample(at(9), Side::Host, 9_000_000_000, 10_000_000_000, &[1])
        && e.enter(at(10), Side::Nxp, (2, 9), 0, &THERE)
        && e.wait(at(18), at(2), 0)
        && e.sample(at(25), Side::Nxp, 5_000_000_000, 20_000_000_000, &[2, 1])
        && e.enter(at(30), Side::Host, (3, 11), 1, &BACK)
        && e.enter(at(40), Side::Nxp, (2, 0), 2, &THERE)
        && e.counter(at(50), Scope::Thread, 7, 1234)
        && e.sample(
            at(55),
            Side::Nxp,
            7_000_000_000,
            9_000_000_000,
            &[10, 2, 3, 2, 1],
        )
        && e.leave(at(60), How::Return, 2, &BACK)
        && e.leave(at(70), How::Return, 1, &BACK)
        && e.counter(at(80), Scope::Thread, 7, 4321)
        && e.leave(at(90), How::Return, 0, &BACK)
        && e.sample(at(99), Side::Host, 3_000_000_000, 3_000_000_000, &[3, 1])
        && e.thread_end(at(100))
}

/// walk calls visit, which jumps back to main; then walk is called and never comes back.
pub fn jumping(e: &mut Encoder<'_>) -> bool {
    let at = |micro: u64| micro * MICRO;
    e.thread_start(at(20), b"jumper")
        && e.enter(at(30), Side::Nxp, (2, 9), 0, &THERE)
        && e.enter(at(40), Side::Host, (3, 11), 1, &BACK)
        && e.leave(at(50), How::Jump, 0, &BACK[1..])
        && e.enter(at(60), Side::Nxp, (2, 9), 0, &THERE)
        && e.enter(at(70), Side::Host, (3, 11), 1, &BACK)
        // Its leave was lost: the next crossing begins where the thread is in none.
        && e.enter(at(80), Side::Nxp, (2, 9), 0, &THERE)
        && e.sample(at(95), Side::Nxp, 6_000_000_000, 1_000_000_000, &[2, 1])
}

pub fn prediction() -> Timed {
    let share = |(name, micro): (&str, u64)| Share {
        name: name.into(),
        time: micro * MICRO,
    };
    Timed {
        platform: "near <&> far".into(),
        migrating: 100 * MICRO,
        staying: 231 * MICRO,
        before: 231 * MICRO,
        threads: 2,
        migrating_shares: [
            ("host code", 21),
            ("host accesses to NxP memory", 3),
            ("NxP instructions", 44),
            ("NxP TLB", 0),
            ("crossings: fault", 4),
            ("crossings: link", 20),
            ("crossings: switch", 6),
            ("waiting for an NxP core", 2),
        ]
        .map(share)
        .into(),
        staying_shares: [
            ("host code", 21),
            ("the NxP's functions", 207),
            ("accesses to NxP memory", 3),
        ]
        .map(share)
        .into(),
        sites: vec![
            Site {
                caller: "main (bfs.c:44)".into(),
                callee: "walk.flick.0123abcd".into(),
                calls: 1,
                instructions: 40_000,
                accesses: 812,
                migrating: 58 * MICRO,
                staying: 150 * MICRO,
                before: 150 * MICRO,
                crossing: 14 * MICRO,
                ..Site::default()
            },
            Site {
                caller: "visit <inline>".into(),
                callee: "_ZNSt6vectorIiE9push_backEi".into(),
                calls: 1_000,
                instructions: 9_000,
                accesses: 7,
                migrating: 14_001 * MICRO,
                staying: MICRO,
                before: MICRO,
                crossing: 14_000 * MICRO,
                ..Site::default()
            },
        ],
        ..Timed::default()
    }
}
