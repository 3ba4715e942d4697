//! Any bytes to the reader of traces, for the tests and for `fuzz/`.
use flick_events::trace::{
    Encoder, Event, MAGIC, MAX_STACK, MAX_TEXT, MIN_BUFFER, Thread, Trace, VERSION, What,
    prediction_block, process_block,
};

/// Reads all that there is to read. The first byte says whether the rest is a file, the events of
/// a thread, or a block of another kind: a fuzzer finds its way into a block late.
pub fn read_all(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else {
        return;
    };
    let mut file = Vec::new();
    match first % 4 {
        0 => file.extend(rest),
        kind => {
            file = process_block(1, b"program", b"platform");
            file.extend(MAGIC);
            file.extend(VERSION.to_le_bytes());
            file.extend([kind, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
            file.extend((rest.len() as u32).to_le_bytes());
            file.extend(rest);
        }
    }
    if let Ok(trace) = Trace::read(&file) {
        write_again(&trace);
    }
}

/// Whatever can be read can be written, and is the same when it is read again.
fn write_again(trace: &Trace<'_>) {
    for timed in trace.processes.iter().flat_map(|p| &p.prediction) {
        let mut file = process_block(1, b"", b"");
        file.extend(prediction_block(1, timed));
        let again = Trace::read(&file).expect("what was written can be read");
        assert_eq!(again.processes[0].prediction.as_ref(), Some(timed));
    }
    for thread in trace.processes.iter().flat_map(|p| &p.threads) {
        let mut file = process_block(1, b"", b"");
        let mut buffer = vec![0; MIN_BUFFER];
        let mut encoder = Encoder::new(&mut buffer, 1, thread.id);
        // Crossings of very many parts have no room.
        let kept = |event: &Event<'_>| match event.what {
            What::Enter { parts, .. } | What::Leave { parts, .. } => parts.count() <= 64,
            _ => true,
        };
        for event in thread.events().filter(kept) {
            let write = |block: &[u8]| file.extend(block);
            assert!(encoder.with(write, |e| encode(e, event.time, event.what)));
        }
        encoder.flush(|block| file.extend(block));
        let again = Trace::read(&file).expect("what was written can be read");
        let mut events = again.processes[0].threads.iter().flat_map(Thread::events);
        for event in thread.events().filter(kept) {
            let other = events.next().expect("as many events");
            assert!(same(event, other), "{event:?} became {other:?}");
        }
        assert!(events.next().is_none());
    }
}

/// Numbers may have been longer than they need be, texts and stacks too long. Names have no time.
fn same(a: Event<'_>, b: Event<'_>) -> bool {
    let long = |text: &[u8]| text.len() > MAX_TEXT;
    (a.time == b.time || matches!(a.what, What::Name { .. }))
        && match (a.what, b.what) {
            (What::ThreadStart { name }, What::ThreadStart { name: other }) => {
                name == other || long(name)
            }
            (
                What::Name {
                    id,
                    text,
                    file,
                    line,
                    ..
                },
                What::Name {
                    id: other_id,
                    text: other,
                    file: other_file,
                    line: other_line,
                },
            ) => {
                (id, line) == (other_id, other_line)
                    && (text == other || long(text))
                    && (file == other_file || long(file))
            }
            (
                What::Enter {
                    side,
                    function,
                    site,
                    depth,
                    parts,
                },
                What::Enter {
                    side: other_side,
                    function: other_function,
                    site: other_site,
                    depth: other_depth,
                    parts: others,
                },
            ) => {
                (side, function, site, depth)
                    == (other_side, other_function, other_site, other_depth)
                    && parts.eq(others)
            }
            (
                What::Leave { how, depth, parts },
                What::Leave {
                    how: other_how,
                    depth: other_depth,
                    parts: others,
                },
            ) => (how, depth) == (other_how, other_depth) && parts.eq(others),
            (
                What::Sample {
                    side,
                    weight,
                    staying,
                    stack,
                },
                What::Sample {
                    side: other_side,
                    weight: other_weight,
                    staying: other_staying,
                    stack: others,
                },
            ) => {
                (side, weight, staying) == (other_side, other_weight, other_staying)
                    && stack.take(MAX_STACK).eq(others)
            }
            (a, b) => a == b,
        }
}

pub fn encode(encoder: &mut Encoder<'_>, time: u64, what: What<'_>) -> bool {
    match what {
        What::ThreadStart { name } => encoder.thread_start(time, name),
        What::ThreadEnd => encoder.thread_end(time),
        What::Name {
            id,
            text,
            file,
            line,
        } => encoder.name(id, text, file, line),
        What::Enter {
            side,
            function,
            site,
            depth,
            parts,
        } => {
            let parts: Vec<_> = parts.collect();
            encoder.enter(time, side, (function, site), depth, &parts)
        }
        What::Leave { how, depth, parts } => {
            let parts: Vec<_> = parts.collect();
            encoder.leave(time, how, depth, &parts)
        }
        What::Wait { duration, core } => encoder.wait(time, duration, core),
        What::Way { duration, hart } => encoder.way(time, duration, hart),
        What::Counter { scope, id, value } => encoder.counter(time, scope, id, value),
        What::Message {
            from,
            under_way,
            id,
        } => encoder.message(time, from, under_way, id),
        What::State { id } => encoder.state(time, id),
        What::Sample {
            side,
            weight,
            staying,
            stack,
        } => {
            let stack: Vec<_> = stack.collect();
            encoder.sample(time, side, weight, staying, &stack)
        }
    }
}
