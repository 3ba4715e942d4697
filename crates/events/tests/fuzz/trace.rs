//! Any bytes to the reader of traces, for the tests and for `fuzz/`.
use flick_events::trace::{Encoder, MIN_BUFFER, Trace, What, process_block};

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
            file.extend(b"FLKT\x01\0");
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
    for thread in trace.processes.iter().flat_map(|p| &p.threads) {
        let mut file = process_block(1, b"", b"");
        let mut buffer = vec![0; MIN_BUFFER];
        let mut encoder = Encoder::new(&mut buffer, 1, thread.id);
        let mut kept = true;
        for event in thread.events() {
            let write = |block: &[u8]| file.extend(block);
            kept &= encoder.with(write, |e| encode(e, event.time, event.what));
        }
        encoder.flush(|block| file.extend(block));
        let again = Trace::read(&file).expect("what was written can be read");
        // Long texts and stacks are cut.
        let count = |thread: &flick_events::trace::Thread<'_>| thread.events().count();
        if kept {
            assert_eq!(
                count(thread),
                again.processes[0].threads.first().map_or(0, count)
            );
        }
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
        What::Counter { scope, id, value } => encoder.counter(time, scope, id, value),
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
