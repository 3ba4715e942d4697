//! Results for programs: `--json` of the commands, one way for all. `docs/json.md` has the contract,
//! and `docs/json.schema.json` the schema, against which the tests hold what the commands print.
use flick_events::timed::{Share, Site, Timed};
use flick_events::{Calls, Cause, Heap, Offload, Summary, Trigger};
use serde_json::{Map, Value, json};

/// The version of the contract. It changes where a key changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// The document of `command` with these keys, which end in a new line.
pub fn document(command: &str, keys: Value) -> String {
    let mut all = Map::new();
    all.insert("flick".into(), env!("CARGO_PKG_VERSION").into());
    all.insert("format".into(), FORMAT.into());
    all.insert("command".into(), command.into());
    if let Value::Object(keys) = keys {
        all.extend(keys);
    }
    format!("{:#}\n", Value::Object(all))
}

/// A process of `flick stat`.
pub(crate) fn process(summary: &Summary) -> Value {
    let (offload, off_because) = match &summary.offload {
        Offload::On => ("on", None),
        Offload::Off(why) => ("off", Some(why)),
    };
    let heap = match &summary.heap {
        Heap::Nxp => "nxp",
        Heap::Host(_) => "host",
    };
    let trigger = match summary.trigger {
        Trigger::Gate => "gate",
        Trigger::Fault => "fault",
    };
    let on_host = summary.on_host.iter().map(|(cause, calls)| {
        let mut row = row_of(calls);
        row["cause"] = match cause {
            Cause::Off => "off",
            Cause::Early => "early",
        }
        .into();
        row
    });
    let migrations = summary.migrations.iter().map(|migration| {
        json!({
            "instruction": migration.instruction,
            "place": migration.place,
            "count": migration.count,
            "threads": migration.threads,
            "instructions": migration.cost,
        })
    });
    json!({
        "program": summary.program,
        "pid": summary.pid,
        "engine": summary.engine,
        "backend": summary.backend,
        "trigger": trigger,
        "offload": offload,
        "offload_off_because": off_because,
        "heap": heap,
        "host_to_nxp": rows(&summary.host_to_nxp),
        "nxp_to_host": rows(&summary.nxp_to_host),
        "on_host": on_host.collect::<Vec<_>>(),
        "migrations": migrations.collect::<Vec<_>>(),
        "crossings": summary.crossings(),
        "faults": summary.faults,
        "nxp_instructions": summary.instructions,
        "threads": summary.threads,
        "heap_peak_bytes": summary.heap_peak,
        "stack_peak_bytes": summary.stack_peak,
        "elapsed_ns": summary.elapsed,
        "user_ns": summary.user,
        "system_ns": summary.system,
        "trace_lost_because": summary.trace_lost,
        "prediction": summary.timed.as_ref().map(prediction),
    })
}

fn rows(all: &[Calls]) -> Vec<Value> {
    all.iter().map(row_of).collect()
}

fn row_of(calls: &Calls) -> Value {
    json!({
        "function": calls.function,
        "module": calls.module,
        "calls": calls.count,
    })
}

/// What a run on a platform predicts.
fn prediction(timed: &Timed) -> Value {
    let not_exact = timed.not_exact.iter();
    let not_exact = not_exact.map(|of| json!({ "call": of.call, "place": of.place }));
    json!({
        "platform": timed.platform,
        "before_ps": timed.before,
        "staying_ps": timed.staying,
        "migrating_ps": timed.migrating,
        "threads": timed.threads,
        "host_counted": timed.host_counted,
        "migrating_shares": shares(&timed.migrating_shares),
        "staying_shares": shares(&timed.staying_shares),
        "host_accesses": timed.host_accesses,
        "nxp_accesses": timed.accesses,
        "other_accesses": timed.other_accesses,
        "not_exact": not_exact.collect::<Vec<_>>(),
        "sites": timed.sites.iter().map(site).collect::<Vec<_>>(),
    })
}

fn shares(all: &[Share]) -> Vec<Value> {
    let shares = all.iter();
    shares
        .map(|share| json!({ "name": share.name, "ps": share.time }))
        .collect()
}

fn site(site: &Site) -> Value {
    json!({
        "caller": site.caller,
        "module": site.module,
        "offset": site.offset,
        "function": site.callee,
        "calls": site.calls,
        "before_ps": site.before,
        "staying_ps": site.staying,
        "migrating_ps": site.migrating,
        "crossing_ps": site.crossing,
        "nxp_accesses": site.accesses,
        "nxp_instructions": site.instructions,
    })
}
