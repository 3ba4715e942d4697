//! Any bytes to the reader of traces, for the tests and for `fuzz/`.
use flick_events::trace::{
    Accounts, Encoder, Event, MAGIC, MAX_STACK, MAX_TEXT, MIN_BUFFER, Sums, Trace, VERSION, Walk,
    What, prediction_block, process_block,
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
        // Crossings of very many parts, and sums of very many rows, have no room.
        let kept = |event: &Event<'_>| match event.what {
            What::Enter { parts, .. } | What::Leave { parts, .. } => parts.count() <= 64,
            What::Sum { rows, .. } => rows.count() <= 64,
            _ => true,
        };
        let mut wanted = Vec::new();
        thread.each(|event| {
            if kept(&event) {
                let write = |block: &[u8]| file.extend(block);
                assert!(encoder.with(write, |e| encode(e, &event)));
                wanted.push(owned(event));
            }
        });
        encoder.flush(|block| file.extend(block));
        let again = Trace::read(&file).expect("what was written can be read");
        let threads = again.processes[0].threads.iter();
        let events: Vec<_> = threads.flat_map(|thread| thread.map(owned)).collect();
        assert_eq!(events, wanted);
    }
    take_steps(trace);
}

/// Steps, facts and sums of what can be read can be made.
fn take_steps(trace: &Trace<'_>) {
    for thread in trace.processes.iter().flat_map(|p| &p.threads) {
        let mut accounts = Accounts::new(thread.id);
        let mut sums = Sums::default();
        let mut walk = Walk::default();
        thread.each(|event| walk.event(event, &mut |step| sums.step(&mut accounts, &step)));
        walk.finish(&mut |step| sums.step(&mut accounts, &step));
    }
}

/// An event without what a writer changes: numbers may have been longer than they need be, texts and
/// stacks too long. Names have no time.
pub fn owned(event: Event<'_>) -> String {
    let text = |text: &[u8]| match text.len() {
        0..=MAX_TEXT => String::from_utf8_lossy(text).into_owned(),
        _ => "long".into(),
    };
    let what = match event.what {
        What::ThreadStart { name } => format!("start {}", text(name)),
        What::Name {
            id,
            text: name,
            file,
            line,
        } => return format!("{id} {} {} {line}", text(name), text(file)),
        What::Enter {
            side,
            function,
            site,
            depth,
            parts,
        } => {
            let parts: Vec<_> = parts.collect();
            format!("enter {side:?} {function} {site} {depth} {parts:?}")
        }
        What::Leave { how, depth, parts } => {
            let parts: Vec<_> = parts.collect();
            format!("leave {how:?} {depth} {parts:?}")
        }
        What::Sample {
            side,
            weight,
            staying,
            stack,
        } => {
            let stack: Vec<_> = stack.take(MAX_STACK).collect();
            format!("sample {side:?} {weight} {staying} {stack:?}")
        }
        What::Sum {
            duration,
            lanes,
            rows,
        } => {
            let rows: Vec<_> = rows.collect();
            format!("sum {duration} {lanes:?} {rows:?}")
        }
        other => format!("{other:?}"),
    };
    format!("{} {what}", event.time)
}

fn encode(encoder: &mut Encoder<'_>, event: &Event<'_>) -> bool {
    match event.what {
        What::Sum {
            duration,
            lanes,
            rows,
        } => {
            let rows: Vec<_> = rows.collect();
            encoder.sum(event.time, duration, &lanes, &rows)
        }
        _ => encoder.put(event),
    }
}
