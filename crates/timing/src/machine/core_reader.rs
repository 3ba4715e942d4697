//! Models of cores: `[core.NAME]`, with caches and TLBs.
use super::machine_parts::{
    Cache, CoreModel, Predictor, Prefetch, Tlb, VectorCosts, Walk, WritePolicy,
};
use crate::Platform;
use crate::platform::core_model::{geometry, tlb_geometry};
use crate::platform::toml_reader::{Error, Table};
use crate::platform::{NXP_CLASSES, Region};

/// Cycles of an instruction, a hit, a walk.
const CYCLES: (f64, f64) = (0.0, 1e6);
/// The name of the core that the platform file has.
pub const OF_PLATFORM: &str = "platform";

/// All models: those of the file, and that of the platform.
pub fn cores(root: &mut Table<'_>, platform: Option<&Platform>) -> Result<Vec<CoreModel>, Error> {
    let mut cores: Vec<CoreModel> = platform.map(of_platform).into_iter().collect();
    let Some(mut table) = root.table_if("core")? else {
        return Ok(cores);
    };
    for (name, table) in table.entries()? {
        if platform.is_some() && name == OF_PLATFORM {
            let why = "this is the name of the core of the platform file";
            return Err(table.error("", why, "give it another name"));
        }
        cores.push(core(name, table)?);
    }
    Ok(cores)
}

/// Of a prefetcher, where a file does not say.
const STREAMS: u64 = 16;
const DEGREE: u64 = 4;
/// Stores under way, where a file does not say.
const STORE_BUFFER: u64 = 4;

fn core(name: String, mut table: Table<'_>) -> Result<CoreModel, Error> {
    let issue = table.count_or("issue", (1, 16), 1)? as u32;
    let mut costs = table.table("cycles")?;
    let mut cycles = Vec::new();
    for class in NXP_CLASSES {
        cycles.push(costs.number(class, CYCLES)?);
    }
    let taken = costs.number_or("taken", CYCLES, 0.0)?;
    let mispredict = costs.number_or("mispredict", CYCLES, 0.0)?;
    let trap = costs.number_or("trap", CYCLES, 0.0)?;
    costs.end_with_source()?;
    let l2 = table.table_if("l2")?.map(cache).transpose()?;
    let core = CoreModel {
        name,
        issue,
        cycles,
        taken,
        mispredict,
        trap,
        predictor: predictor(&mut table)?,
        vector: table.table_if("vector")?.map(vector).transpose()?,
        targets: foreseen(&mut table, "targets")?,
        returns: foreseen(&mut table, "returns")?,
        overlap: table.number_or("overlap", (1.0, 64.0), 1.0)?,
        store_buffer: table.count_or("store-buffer", (0, 64), STORE_BUFFER)? as u32,
        l1i: table.table_if("l1i")?.map(cache).transpose()?,
        l1d: table.table_if("l1d")?.map(cache).transpose()?,
        prefetch: prefetch(&mut table, l2.is_some())?,
        l2,
        itlb: table.table_if("itlb")?.map(tlb).transpose()?,
        dtlb: table.table_if("dtlb")?.map(tlb).transpose()?,
    };
    table.end_with_source()?;
    Ok(core)
}

fn prefetch(core: &mut Table<'_>, has_l2: bool) -> Result<Option<Prefetch>, Error> {
    let Some(mut table) = core.table_if("prefetch")? else {
        return Ok(None);
    };
    if !has_l2 {
        let why = "the core has no `l2` for the lines";
        return Err(table.error("", why, "give it one, or leave the prefetcher out"));
    }
    let prefetch = Prefetch {
        streams: table.count_or("streams", (1, 256), STREAMS)? as u32,
        degree: table.count_or("degree", (1, 64), DEGREE)? as u32,
    };
    table.end_with_source()?;
    Ok(Some(prefetch))
}

fn predictor(table: &mut Table<'_>) -> Result<Predictor, Error> {
    let kind = table.choice_or("predictor", &["none", "static", "two-bit"], 0)?;
    let counters = table.count_or("counters", (1, 1 << 20), 512)?;
    if !counters.is_power_of_two() {
        let help = "use a number such as 512";
        return Err(table.error("counters", "it is no power of two", help));
    }
    if table.has("counters") && kind != 2 {
        let why = "this predictor has no counters";
        return Err(table.error("counters", why, "use predictor = \"two-bit\""));
    }
    Ok(match kind {
        0 => Predictor::None,
        1 => Predictor::Static,
        _ => Predictor::TwoBit(counters as u32),
    })
}

/// How many targets or return addresses are remembered. `None`: the file does not say.
fn foreseen(table: &mut Table<'_>, key: &'static str) -> Result<Option<u32>, Error> {
    if !table.has(key) {
        return Ok(None);
    }
    let count = table.count(key, (0, 1 << 16))? as u32;
    if key == "targets" && count != 0 && !count.is_power_of_two() {
        let help = "use a number such as 32";
        return Err(table.error(key, "it is no power of two", help));
    }
    Ok(Some(count))
}

fn vector(mut table: Table<'_>) -> Result<VectorCosts, Error> {
    let start = table.number_or("start", CYCLES, 0.0)?;
    let datapath = table.count("datapath", (8, 1 << 16))? as u32;
    if !table.lacks() && !datapath.is_power_of_two() {
        let help = "use a number of bits such as 128";
        return Err(table.error("datapath", "it is no power of two", help));
    }
    table.end_with_source()?;
    Ok(VectorCosts { start, datapath })
}

pub fn cache(mut table: Table<'_>) -> Result<Cache, Error> {
    let (size, line, ways) = geometry(&mut table)?;
    let cache = Cache {
        size,
        line,
        ways,
        hit: table.number_or("hit", CYCLES, 0.0)?,
        write: match table.choice_or("write", &["back", "through"], 0)? {
            0 => WritePolicy::Back,
            _ => WritePolicy::Through,
        },
        allocates: table.choice_or("store-miss", &["allocate", "around"], 0)? == 0,
    };
    table.end_with_source()?;
    Ok(cache)
}

fn tlb(mut table: Table<'_>) -> Result<Tlb, Error> {
    let (entries, ways) = tlb_geometry(&mut table)?;
    let cycles = table.number_or("walk", CYCLES, 0.0)?;
    let walk = match table.choice_or("tables", &["none", "cached"], 0)? {
        0 => Walk::Cycles(cycles),
        _ => Walk::Cached(cycles),
    };
    table.end_with_source()?;
    Ok(Tlb {
        entries,
        ways,
        walk,
    })
}

/// The NxP's core of a platform file.
fn of_platform(platform: &Platform) -> CoreModel {
    let core = &platform.nxp;
    let cycles = |time: u64| time as f64 / core.cycle;
    let cache = |cache: &crate::platform::Cache| Cache {
        size: cache.size,
        line: cache.line,
        ways: cache.ways,
        hit: cycles(cache.hit),
        write: WritePolicy::Back,
        allocates: true,
    };
    // Code and most data are in the memory that the NxP's tables name "host".
    let tlb = core.tlb.as_ref().map(|tlb| Tlb {
        entries: tlb.entries,
        ways: tlb.ways,
        walk: Walk::Cycles(cycles(tlb.miss[Region::Host as usize])),
    });
    CoreModel {
        name: OF_PLATFORM.to_owned(),
        issue: 1,
        cycles: core.costs.iter().map(|&time| cycles(time)).collect(),
        taken: cycles(core.taken),
        mispredict: 0.0,
        trap: 0.0,
        predictor: Predictor::None,
        vector: None,
        targets: None,
        returns: None,
        overlap: core.overlap,
        store_buffer: STORE_BUFFER as u32,
        l1i: core.icache.as_ref().map(cache),
        l1d: core.caches.first().map(cache),
        l2: core.caches.get(1).map(cache),
        prefetch: None,
        itlb: tlb,
        dtlb: tlb,
    }
}
