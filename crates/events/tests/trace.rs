//! Traces are written, read, cut and damaged.
use flick_events::timed::{Share, Site, Timed};
use flick_events::trace::{
    CallSum, Encoder, Error, HEADER, How, Lanes, MAX_STACK, MIN_BUFFER, Reason, Row, Scope, Side,
    Trace, VERSION, What, prediction_block, process_block,
};

#[path = "fuzz/trace.rs"]
mod fuzz;

const PARTS: [(u32, u64); 2] = [(3, 1_000), (4, 18_300_000)];

const LANES: Lanes = [[1, 2, 3], [u64::MAX, 0, 4]];
const ROWS: [Row; 4] = [
    Row::Call {
        side: Side::Host,
        function: 1,
        site: 0,
        sum: CALLS,
    },
    Row::Call {
        side: Side::Nxp,
        function: u32::MAX,
        site: 2,
        sum: CALLS,
    },
    Row::Begun {
        hart: 3,
        function: 1,
        calls: 7,
    },
    Row::State {
        id: 1,
        thread: 2,
        times: 3,
        time: u64::MAX,
    },
];
const CALLS: CallSum = CallSum {
    calls: 5,
    returns: 3,
    jumps: 1,
    times: [7, 8, 9],
};

fn prediction() -> Timed {
    Timed {
        platform: "near".into(),
        description: "of two\nlines, é".into(),
        migrating: 7,
        staying: u64::MAX,
        before: 6,
        threads: 2,
        host_counted: true,
        staying_shares: vec![Share {
            name: "host code".into(),
            time: 5,
        }],
        sites: vec![Site {
            caller: "main".into(),
            module: "/home/me/a".into(),
            offset: 0x1234,
            callee: "walk".into(),
            calls: 1,
            instructions: 2,
            accesses: 3,
            migrating: 10,
            staying: 5,
            before: 4,
            crossing: 6,
        }],
        ..Timed::default()
    }
}

/// Every kind of event, once or more.
fn events(encoder: &mut Encoder<'_>) -> bool {
    encoder.thread_start(5, b"main")
        && encoder.name(1, b"walk", b"list.c", 12)
        && encoder.name(2, b"main", b"", 0)
        && encoder.enter(10, Side::Nxp, (1, 2), 0, &PARTS)
        && encoder.wait(20_000_000, 300, 1)
        && encoder.sample(20_000_000, Side::Nxp, 7, 8, &[1, 2])
        && encoder.counter(20_000_001, Scope::Process, 5, u64::MAX)
        && encoder.counter(20_000_001, Scope::Thread, 6, 0)
        && encoder.enter(20_000_002, Side::Host, (7, 0), 1, &[])
        && encoder.sample(20_000_003, Side::Host, u64::MAX, 0, &[])
        && encoder.leave(20_000_004, How::Jump, 0, &PARTS[..1])
        && encoder.leave(20_000_004, How::Return, 0, &[])
        && encoder.message(20_000_004, 3, 10_000, 1)
        && encoder.state_of(20_000_005, 1, Some(2))
        && encoder.sum(20_000_006, 4, &LANES, &ROWS)
        && encoder.thread_end(u64::MAX)
}

/// A file of one process with two threads.
fn file() -> Vec<u8> {
    let mut file = process_block(9, b"./a", b"near");
    for thread in [1, 2] {
        let mut buffer = [0; MIN_BUFFER];
        let mut encoder = Encoder::new(&mut buffer, 9, thread);
        assert!(events(&mut encoder));
        encoder.flush(|block| file.extend(block));
        assert_eq!(encoder.block(), None);
    }
    file.extend(prediction_block(9, &prediction()));
    file
}

#[test]
fn round_trip() {
    let file = file();
    let trace = Trace::read(&file).unwrap();
    assert_eq!(trace.processes.len(), 1);
    let process = &trace.processes[0];
    assert_eq!((process.pid, process.program.as_str()), (9, "./a"));
    assert_eq!(process.platform, "near");
    assert_eq!(process.prediction, Some(prediction()));
    let walk = process.name(1).unwrap();
    assert_eq!(
        (walk.text.as_str(), walk.file.as_str(), walk.line),
        ("walk", "list.c", 12)
    );
    assert_eq!(process.name(0), None);
    assert_eq!(
        process.threads.iter().map(|t| t.id).collect::<Vec<_>>(),
        [1, 2]
    );
    let mut index = 0;
    process.threads[1].each(|event| {
        match (index, event.what) {
            (0, what) => assert_eq!(what, What::ThreadStart { name: b"main" }),
            (
                3,
                What::Enter {
                    side,
                    function,
                    site,
                    depth,
                    parts,
                },
            ) => {
                assert_eq!((side, function, site, depth), (Side::Nxp, 1, 2, 0));
                assert_eq!(parts.collect::<Vec<_>>(), PARTS);
                assert_eq!(parts.duration(), 18_301_000);
            }
            (5, What::Sample { stack, .. }) => assert_eq!(stack.collect::<Vec<_>>(), [1, 2]),
            (3 | 5, what) => panic!("{what:?}"),
            (13, What::State { id, thread }) => assert_eq!((id, thread), (1, Some(2))),
            (
                14,
                What::Sum {
                    duration,
                    lanes,
                    rows,
                },
            ) => {
                assert_eq!((duration, lanes), (4, LANES));
                assert_eq!(rows.collect::<Vec<_>>(), ROWS);
            }
            (15, _) => assert_eq!(event.time, u64::MAX),
            _ => {}
        }
        index += 1;
    });
    assert_eq!(index, 16);
    assert_eq!(process.threads[1].name, "main");
    assert!(process.threads[1].is_tile);
    assert_eq!(process.threads[1].coarse_from, Some(20_000_006));
    assert_eq!(trace.failure(), None);
}

/// A file is read as the same bytes in memory are, with a block of it in memory at a time.
#[test]
fn a_trace_in_a_file() {
    use std::io::Write;
    let mut bytes = Vec::new();
    for pid in 0..100 {
        let mut buffer = vec![0; 64 << 10];
        let mut encoder = Encoder::new(&mut buffer, pid, 1);
        bytes.extend(process_block(pid, b"./a", b"near"));
        for time in 0..(u64::from(pid) * 60) {
            let write = |block: &[u8]| bytes.extend(block);
            encoder.with(write, |e| e.enter(time, Side::Nxp, (1, 2), 0, &PARTS));
        }
        encoder.flush(|block| bytes.extend(block));
    }
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    let (one, other) = (Trace::read(&bytes).unwrap(), Trace::open(&file).unwrap());
    assert_eq!(one.length, other.length);
    assert_eq!(other.processes.len(), 100);
    for (one, other) in one.processes.iter().zip(&other.processes) {
        let threads = one.threads.iter().zip(&other.threads);
        for (one, other) in threads {
            let (one, other) = (one.map(fuzz::owned), other.map(fuzz::owned));
            assert_eq!(one, other);
        }
    }
    assert_eq!(other.failure(), None);
    // Somebody cuts it while it is read, and its end is in memory no longer.
    assert!(bytes.len() > 1 << 20);
    other.processes[0]
        .threads
        .iter()
        .for_each(|thread| thread.each(|_| ()));
    other.processes[1].threads[0].each(|_| ());
    file.set_len(bytes.len() as u64 - 1).unwrap();
    let last = &other.processes[99].threads[0];
    last.each(|_| ());
    assert_eq!(other.failure().unwrap().reason, Reason::Truncated);
    // As `every_truncation_is_told`, and before there is memory for what the header promises.
    let reason = Trace::open(&file).unwrap_err().reason;
    assert_eq!(reason, Reason::Truncated);
    let mut promise = process_block(1, b"", b"");
    promise[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&promise).unwrap();
    let reason = Trace::open(&file).unwrap_err().reason;
    assert_eq!(reason, Reason::Truncated);
}

#[test]
fn an_empty_file_has_no_process() {
    assert_eq!(Trace::read(&[]).unwrap().processes.len(), 0);
}

#[test]
fn time_does_not_go_back() {
    let mut buffer = [0; MIN_BUFFER];
    let mut encoder = Encoder::new(&mut buffer, 1, 1);
    assert!(encoder.thread_start(100, b"") && encoder.thread_end(1));
    let mut file = process_block(1, b"", b"");
    let block = encoder.block().unwrap().to_vec();
    file.extend(&block);
    let trace = Trace::read(&file).unwrap();
    let times = trace.processes[0].threads[0].map(|event| event.time);
    assert_eq!(times, [100, 100]);
    // The same block again begins before the first one ended.
    let offset = file.len() + HEADER + 1;
    file.extend(&block);
    let reason = Reason::Backwards;
    assert_eq!(Trace::read(&file).unwrap_err(), Error { offset, reason });
}

/// Any size of buffer: no panic, and nothing is lost where each event has room.
#[test]
fn blocks_of_any_size() {
    for size in 0..400 {
        let mut file = process_block(1, b"", b"");
        let mut buffer = vec![0; size];
        let mut encoder = Encoder::new(&mut buffer, 1, 1);
        let mut kept = 0;
        for time in 0..50 {
            let write = |block: &[u8]| file.extend(block);
            let put = encoder.with(write, |e| e.enter(time << 20, Side::Nxp, (1, 2), 0, &PARTS));
            kept += usize::from(put);
        }
        encoder.flush(|block| file.extend(block));
        let trace = Trace::read(&file).unwrap();
        let read = trace.processes[0].threads.first();
        assert_eq!(read.map_or(0, |thread| thread.map(|_| ()).len()), kept);
        assert!(size < 50 || kept == 50, "{kept} in {size}");
    }
}

#[test]
fn the_smallest_buffer_has_room_for_the_largest_event() {
    let mut buffer = [0; MIN_BUFFER];
    let mut encoder = Encoder::new(&mut buffer, 1, 1);
    let long = vec![b'x'; 100_000];
    assert!(encoder.name(u32::MAX, &long, &long, u32::MAX));
    encoder.flush(|_| ());
    let most = u64::MAX;
    assert!(encoder.sample(most, Side::Nxp, most, most, &vec![u32::MAX; 3 * MAX_STACK]));
    encoder.flush(|_| ());
    assert!(encoder.enter(0, Side::Host, (1, 1), 0, &[(u32::MAX, most); 64]));
}

#[test]
fn a_child_of_fork_begins_anew() {
    let mut buffer = [0; MIN_BUFFER];
    let mut encoder = Encoder::new(&mut buffer, 1, 1);
    assert!(encoder.thread_start(3, b"parent's"));
    encoder.restart(2, 1);
    // Earlier than the records that are dropped.
    assert!(encoder.thread_start(2, b"child's"));
    let mut file = process_block(2, b"", b"");
    encoder.flush(|block| file.extend(block));
    let trace = Trace::read(&file).unwrap();
    let process = &trace.processes[0];
    let times = process.threads[0].map(|event| event.time);
    assert_eq!((process.pid, times), (2, vec![2]));
}

#[test]
fn exec_is_another_process() {
    let mut file = file();
    file.extend(file.clone());
    let trace = Trace::read(&file).unwrap();
    assert_eq!(trace.processes.len(), 2);
    assert_eq!(trace.processes[1].threads.len(), 2);
}

#[test]
fn blocks_of_unknown_kind_are_skipped() {
    let mut file = file();
    let mut other = process_block(1, b"of", b"the future");
    other[6..8].copy_from_slice(&900_u16.to_le_bytes());
    other[8..12].copy_from_slice(&9_u32.to_le_bytes());
    file.extend(other);
    assert_eq!(Trace::read(&file).unwrap().processes[0].threads.len(), 2);
}

/// A cut between blocks is what a killed process leaves; any other is an error.
#[test]
fn every_truncation_is_told() {
    let whole = file();
    let mut ends = vec![0];
    while let Some(length) = whole
        .get(ends[ends.len() - 1] + 16..)
        .and_then(|rest| rest.first_chunk())
    {
        ends.push(ends[ends.len() - 1] + HEADER + u32::from_le_bytes(*length) as usize);
    }
    assert_eq!(ends.len(), 5);
    assert_eq!(ends[4], whole.len());
    for cut in 0..whole.len() {
        match Trace::read(&whole[..cut]) {
            Ok(_) => assert!(ends.contains(&cut), "{cut}"),
            Err(Error { offset, reason }) => {
                assert_eq!(reason, Reason::Truncated, "{cut}");
                assert!(offset <= cut && !ends.contains(&cut));
            }
        }
    }
}

/// The payload of one block is shorter than its events, and its header says so.
#[test]
fn every_truncation_inside_a_block_is_told() {
    let mut buffer = [0; MIN_BUFFER];
    let mut encoder = Encoder::new(&mut buffer, 1, 1);
    assert!(encoder.enter(1 << 40, Side::Nxp, (300, 2), 0, &PARTS));
    let events = encoder.block().unwrap().to_vec();
    for block in [events, prediction_block(1, &prediction())] {
        for length in 0..block.len() - HEADER {
            let mut file = process_block(1, b"", b"");
            let begin = file.len() + HEADER;
            file.extend(&block[..HEADER + length]);
            file[begin - 4..begin].copy_from_slice(&(length as u32).to_le_bytes());
            match Trace::read(&file) {
                // The base time alone.
                Ok(_) => assert_eq!(length, 1),
                Err(error) => {
                    assert_eq!(error.reason, Reason::Truncated, "{length}");
                    assert!((begin..=begin + length).contains(&error.offset));
                }
            }
        }
    }
}

#[test]
fn damage_is_named() {
    let start = process_block(1, b"", b"").len();
    let with = |block: &[u8]| {
        let mut file = process_block(1, b"", b"");
        file.extend(block);
        Trace::read(&file).map(|_| ()).unwrap_err()
    };
    let events = |payload: &[u8]| {
        let mut block = b"FLKT".to_vec();
        block.extend(VERSION.to_le_bytes());
        block.extend([2, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
        block.extend((payload.len() as u32).to_le_bytes());
        block.extend(payload);
        with(&block)
    };
    let at = |offset, reason| Error { offset, reason };
    let inner = start + HEADER;
    assert_eq!(with(b"ELF"), at(start, Reason::Magic));
    assert_eq!(
        with(b"FLKT\x01\0aaaaaaaaaaaaaa"),
        at(start, Reason::Version(1))
    );
    assert_eq!(
        with(&process_block(2, b"", b"")[..4]),
        at(start, Reason::Truncated)
    );
    assert_eq!(
        with(&prediction_block(3, &prediction())),
        at(start, Reason::NoProcess)
    );
    assert_eq!(events(&[0, 0]), at(inner + 2, Reason::Event(0)));
    assert_eq!(events(&[0, 0x83]), at(inner + 2, Reason::Event(0x83)));
    // A sum with a row of no kind.
    let row = [0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9];
    assert_eq!(events(&row), at(inner + row.len(), Reason::Row(9)));
    // A sample that promises more functions than there are bytes.
    let promise = [0, 8, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f];
    assert_eq!(
        events(&promise),
        at(inner + promise.len(), Reason::Truncated)
    );
    let mut late = vec![0xff; 9];
    late.extend([1, 2, 1]);
    assert_eq!(events(&late), at(inner + 12, Reason::Time));
    let lines = |payload: &str| {
        let mut block = prediction_block(1, &Timed::default());
        block.truncate(HEADER);
        block[HEADER - 4..].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        block.extend(payload.as_bytes());
        with(&block)
    };
    assert_eq!(
        lines("timed-threads 1\ntimed-threads x\nend\n"),
        at(inner + 16, Reason::Prediction)
    );
    assert_eq!(lines("pid 1\nend\n"), at(inner, Reason::Prediction));
    assert_eq!(lines("end\nend\n"), at(inner + 4, Reason::Surplus));
    let mut surplus = process_block(1, b"", b"");
    surplus.push(0);
    surplus[16] += 1;
    assert_eq!(
        Trace::read(&surplus).unwrap_err(),
        at(HEADER + 2, Reason::Surplus)
    );
    assert_eq!(
        at(7, Reason::Backwards).to_string(),
        "byte 7: time goes back"
    );
}

/// Whatever a byte is changed to, the reader returns, and what it returns can be read.
#[test]
fn no_byte_makes_it_panic() {
    let whole = file();
    for at in 0..whole.len() {
        for byte in [0, 1, 2, 4, 8, 0x7f, 0x80, 0x84, 0xff, whole[at] ^ 1] {
            let mut damaged = vec![0];
            damaged.extend(&whole);
            damaged[at + 1] = byte;
            fuzz::read_all(&damaged);
        }
    }
}

/// The fuzzer's way into a block, with bytes from a fixed sequence.
#[test]
fn random_blocks() {
    let mut state = 1_u64;
    for length in 0..3000 {
        let data: Vec<u8> = (0..length % 97)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                // Small numbers are tags and lengths.
                (state >> 33) as u8 & if state >> 60 > 3 { 0x0f } else { 0xff }
            })
            .collect();
        fuzz::read_all(&data);
    }
}
