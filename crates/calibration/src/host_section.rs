//! The part of a platform file that describes the host as it was measured.
use std::fmt::Write as _;

use crate::host_facts::KnownCache;
use crate::latency_levels::{self, Level, Tlb};
use crate::library_calls::LibraryCall;
use crate::measuring::{ClassTimes, Measured};
use crate::page_faults;
use crate::statistics::Spread;

/// Quartiles further apart than this share of the median are a sign of noise.
const NOISE: f64 = 0.1;
/// A thread that had a processor for less of the time has shared caches and memory with others.
const LEAST_SHARE: f64 = 0.8;

/// What the measurement was made on, for the head of the file.
pub struct Origin {
    /// Such as 2026-11-29.
    pub day: String,
    /// The processor's name.
    pub processor: String,
    /// The kernel's.
    pub kernel: String,
    /// The version of Flick.
    pub version: String,
    /// What Linux says of the caches.
    pub caches: Vec<KnownCache>,
    /// Whether the caches hold NxP memory, too.
    pub holds_nxp: bool,
}

/// Why the figures may be wrong: a sentence each. None of them on a quiet machine.
pub fn doubts(measured: &Measured) -> Vec<String> {
    let mut all = Vec::new();
    if measured.share < LEAST_SHARE {
        let share = 100.0 * measured.share;
        all.push(format!(
            "the thread had a processor for {share:.0} % of the time: others share caches and memory"
        ));
    }
    let spread = |name: &str, spread: &Spread| {
        let width = 100.0 * spread.width();
        (spread.width() > NOISE).then(|| format!("the quartiles of {name} are {width:.0} % apart"))
    };
    all.extend(spread("the clock", &measured.cycle));
    let product = measured.product;
    if (product - product.round()).abs() > 0.06 {
        all.push(format!(
            "a product takes {product:.2} cycles, which is no whole number: the clock changes"
        ));
    }
    let wide = measured
        .sizes
        .iter()
        .filter(|(_, spread)| spread.width() > NOISE)
        .count();
    if wide * 4 > measured.sizes.len() {
        all.push(format!(
            "of {} sizes {wide} have quartiles more than 10 % apart",
            measured.sizes.len()
        ));
    }
    all.extend(spread("reads in order", &measured.reads));
    all
}

/// The cycles of a class side by side: the geometric mean of several kinds.
fn cycles(class: &ClassTimes) -> f64 {
    let logarithms: f64 = class.apart.iter().map(|kind| kind.median.ln()).sum();
    (logarithms / class.apart.len() as f64).exp()
}

/// A number with three digits that count.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        size => (2 - size.log10().floor() as i32).clamp(0, 4) as usize,
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn between(spread: &Spread) -> String {
    format!(
        "{} ({} to {})",
        short(spread.median),
        short(spread.low),
        short(spread.high)
    )
}

fn size(bytes: usize) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{} KiB", bytes >> 10),
    }
}

/// Size, ways and where they come from, of a cache that ends between two sizes.
fn shape((held, next): (usize, usize), known: &[KnownCache]) -> (usize, usize, String) {
    let (from, to) = (held as f64 * 0.8, next as f64 * 1.3);
    let says = known
        .iter()
        .find(|cache| (from..=to).contains(&(cache.size as f64)));
    let measured = format!("measured: from {} to {}", size(held), size(next));
    if let Some(cache) = says
        && cache.ways > 0
        && (cache.size / 64 / cache.ways).is_power_of_two()
        && cache.size.is_multiple_of(64 * cache.ways)
        && cache.ways <= 64
    {
        return (
            cache.size,
            cache.ways,
            format!("{measured}; the processor says so, and the ways"),
        );
    }
    // The first usual number of ways with which a size is between those two, and sets are a power of two. Else
    // what is nearest.
    const WAYS: [usize; 10] = [8, 16, 12, 10, 11, 20, 15, 9, 14, 13];
    let middle = (held as f64 * next as f64).sqrt();
    let sized = |ways: usize| {
        let sets = (middle / 64.0 / ways as f64).log2().round().max(0.0);
        ((64 * ways) << sets as u32, ways)
    };
    let all = WAYS.map(sized);
    let off = |&(size, _): &(usize, usize)| (size as f64 / middle).ln().abs();
    let inside = all
        .into_iter()
        .find(|(size, _)| (held..next).contains(size));
    let nearest = || all.into_iter().min_by(|a, b| off(a).total_cmp(&off(b)));
    let (size, ways) = inside.or_else(nearest).unwrap_or((held, 8));
    (
        size,
        ways,
        format!("{measured}; the ways are an assumption"),
    )
}

/// Entries and ways of a TLB that ends between two numbers of pages.
fn entries((held, next): (usize, usize)) -> (usize, usize) {
    let limit = next as f64 * 1.02;
    let round = (4..16).flat_map(|power| [(1usize << power, 8), (3 << (power - 1), 12)]);
    let inside = round.filter(|(entries, _)| *entries >= held && *entries as f64 <= limit);
    let most = inside.max_by_key(|(entries, _)| *entries);
    most.unwrap_or((1 << held.max(16).ilog2(), 8))
}

/// Caches, and the memory behind them.
pub fn levels(measured: &Measured) -> Vec<Level> {
    latency_levels::levels(&measured.sizes)
}

/// The TLB whose misses are walks.
pub fn tlb(measured: &Measured) -> Option<Tlb> {
    latency_levels::tlb(&measured.pages, &measured.sizes, measured.cycle.median)
}

/// The text of the part.
pub fn text(measured: &Measured, origin: &Origin) -> String {
    let mut text = String::new();
    // A text takes whatever is written.
    let _ = write(&mut text, measured, origin);
    text
}

fn write(text: &mut String, measured: &Measured, origin: &Origin) -> std::fmt::Result {
    let cycle = measured.cycle.median;
    writeln!(
        text,
        "# The host of this machine, measured on {} by flick platform calibrate ({}).\n\
         # {}, {}. It took {:.0} seconds.\n\
         # A part of a platform: include it behind a whole one (docs/guide-calibrate.md). Numbers in\n\
         # remarks are medians, with the quartiles behind them.",
        origin.day, origin.version, origin.processor, origin.kernel, measured.seconds
    )?;
    for doubt in doubts(measured) {
        writeln!(text, "# DOUBTFUL: {doubt}.")?;
    }
    let clock = measured.cycle.times(1.0);
    let clock = Spread {
        low: 1.0 / clock.high,
        median: 1.0 / clock.median,
        high: 1.0 / clock.low,
    };
    writeln!(
        text,
        "\n[host]\nclock = \"{} GHz\" # measured: {}, by a chain of additions; a product takes {:.2} cycles",
        short(clock.median),
        between(&clock),
        measured.product
    )?;
    writeln!(
        text,
        "\n# Operations that do not wait for each other.\n[host.cycles]"
    )?;
    for class in &measured.classes {
        let apart: Vec<String> = class.apart.iter().map(between).collect();
        let apart = apart.join(", and ");
        let (key, of) = (class.key, class.of);
        writeln!(
            text,
            "{key} = {} # measured: {of}: {apart}",
            short(cycles(class))
        )?;
    }
    writeln!(
        text,
        "mispredict = {} # measured: a branch that is predicted wrongly takes {} more",
        short(measured.wrong_prediction.median),
        between(&measured.wrong_prediction)
    )?;
    writeln!(
        text,
        "\n# Each waits for the result of the one before.\n[host.latency]"
    )?;
    for class in &measured.classes {
        if let Some(chain) = &class.chain {
            let (key, of) = (class.key, class.of);
            writeln!(
                text,
                "{key} = {} # measured: {of}: {}",
                short(chain.median),
                between(chain)
            )?;
        }
    }
    caches(text, measured, origin, cycle)?;
    behind(text, measured)
}

fn caches(text: &mut String, measured: &Measured, origin: &Origin, cycle: f64) -> std::fmt::Result {
    let holds = match origin.holds_nxp {
        true => "[\"host\", \"nxp\"]",
        false => "[\"host\"]",
    };
    let levels = levels(measured);
    let nearest = levels.first().map_or(0.0, |level| level.time);
    let load = measured
        .classes
        .iter()
        .find(|class| class.key == "load")
        .map_or(0.0, cycles);
    for (number, level) in levels.iter().enumerate() {
        let Some(ends) = level.size else {
            break;
        };
        let (bytes, ways, source) = shape(ends, &origin.caches);
        let (hit, how) = match number {
            0 => (
                (measured.chained_load.median - load).max(0.0),
                format!(
                    "measured: a chained load takes {} cycles",
                    between(&measured.chained_load)
                ),
            ),
            _ => (
                (level.time - nearest) / cycle,
                format!(
                    "measured: a chained load takes {} ns, {} in the nearest cache",
                    short(level.time),
                    short(nearest)
                ),
            ),
        };
        writeln!(
            text,
            "\n[[host.cache]]\nsize = \"{}\" # {source}\nways = {ways}\nhit = {} # {how}",
            size(bytes),
            short(hit)
        )?;
        let lines = number.checked_sub(1).and_then(|n| measured.lines.get(n));
        let keys = ["each", "in-order"];
        let hows = ["no order, of which none waits for another one,", "order"];
        let lines = lines.into_iter().flatten();
        let apart = lines.clone().next().map_or(0.0, |each| each.median);
        // Where the loads themselves take longest, order makes no difference.
        let lines = lines
            .enumerate()
            .filter(|(n, each)| *n == 0 || each.median < apart);
        for ((key, how), (_, each)) in keys.into_iter().zip(hows).zip(lines) {
            let each = each.times(1.0 / cycle);
            writeln!(
                text,
                "{key} = {} # measured: lines in {how} take {} cycles",
                short(each.median),
                between(&each)
            )?;
        }
        writeln!(text, "holds = {holds}")?;
    }
    Ok(())
}

fn behind(text: &mut String, measured: &Measured) -> std::fmt::Result {
    match tlb(measured) {
        Some(tlb) => {
            let (entries, ways) = entries(tlb.entries);
            writeln!(
                text,
                "\n[host.tlb]\nentries = {entries} # measured: from {} to {} pages of 4 KiB; before them {} ns where a first level misses\n\
                 ways = {ways} # an assumption\n\
                 walk = \"{} ns\" # measured: with its entry in a near cache\n\
                 tables = \"cached\" # an assumption: farther entries take as long as other memory",
                tlb.entries.0,
                tlb.entries.1,
                short(tlb.hit),
                short(tlb.walk)
            )?;
            if let Some(walks) = measured.walks {
                let walks = walks.times(1.0 / measured.cycle.median);
                writeln!(
                    text,
                    "each = {} # measured: walks of which none waits for another one take {} cycles",
                    short(walks.median),
                    between(&walks)
                )?;
            }
        }
        None => writeln!(
            text,
            "\n# No TLB: its misses did not show over {} pages.",
            measured.pages.len()
        )?,
    }
    let (instructions, how) = match latency_levels::window(&measured.apart) {
        Some(found) => (
            found,
            "measured: two misses so far from each other do not overlap",
        ),
        None => (224, "an assumption: no end of the window was found"),
    };
    writeln!(
        text,
        "\n[host.window]\ninstructions = {instructions} # {how}\n\
         width = {} # measured: {} instructions without work begin in a cycle\n\
         misses = {} # measured: more chains of loads than these are no faster",
        short(measured.width.median),
        between(&measured.width),
        latency_levels::misses_at_a_time(&measured.chains)
    )?;
    let streams = latency_levels::streams(&measured.streams);
    let how = match measured.streams.last() {
        Some((most, _)) if *most == streams => "as many as were tried",
        _ => "with more of them a line takes twice as long",
    };
    writeln!(
        text,
        "\n[host.prefetcher]\nstreams = {streams} # measured: {how}"
    )?;
    let levels = levels(measured);
    let nearest = levels.first().map_or(0.0, |level| level.time);
    let memory = levels.last().map_or(0.0, |level| level.time);
    let pages = match measured.large_pages {
        true => "in large pages",
        false => "in small pages, the lines of each one after the other",
    };
    writeln!(
        text,
        "\n[host.memory.host]\nload = \"{} ns\" # measured: a chained load takes {} ns, {pages}\n\
         store = \"0 ns\" # an assumption: a store waits in a buffer\n\
         bandwidth = \"{} GB/s\" # measured: one core reads in order {}; it writes {}\n\
         page-fault = \"{} us\" # measured: the first access to a page of {} MiB of memory",
        short(memory - nearest),
        short(memory),
        short(measured.reads.median),
        between(&measured.reads),
        between(&measured.writes),
        short(measured.page_fault.median / 1e3),
        page_faults::SIZE >> 20
    )?;
    library(text, measured)
}

fn library(text: &mut String, measured: &Measured) -> std::fmt::Result {
    let cycle = measured.cycle.median;
    writeln!(
        text,
        "\n# Calls of the C library, on the host alone.\n[host.library]"
    )?;
    for call in &measured.library {
        let LibraryCall { name, of, .. } = call;
        let cycles = call.call.times(1.0 / cycle);
        let each = match call.each {
            0.0 => String::new(),
            each => format!(", each = {}", short(each / cycle)),
        };
        writeln!(
            text,
            "{name} = {{ cycles = {}{each} }} # measured: {of}: {}",
            short(cycles.median),
            between(&cycles)
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measuring::Curve;

    fn of(value: f64) -> Spread {
        Spread::of(&[value])
    }

    fn curve(points: impl IntoIterator<Item = usize>, time: impl Fn(usize) -> f64) -> Curve {
        points.into_iter().map(|at| (at, of(time(at)))).collect()
    }

    /// A machine of 4 GHz with two caches, a TLB of 1536 entries and a window of 224 instructions.
    fn measured() -> Measured {
        let sizes =
            (0..72).map(|step| (4096.0 * 2f64.powf(f64::from(step) / 4.0)) as usize / 64 * 64);
        let load = |size: usize| match size {
            0..=32_768 => 1.25,
            32_769..=1_048_576 => 3.5,
            _ => 80.0,
        };
        let pages = (0..50).map(|step| (8.0 * 2f64.powf(f64::from(step) / 4.0)) as usize);
        let page = |count: usize| load(count * 64) + if count > 1536 { 10.0 } else { 0.0 };
        let class = |key, chain: Option<f64>, apart: f64| ClassTimes {
            key,
            of: "such",
            chain: chain.map(of),
            apart: vec![of(apart)],
        };
        Measured {
            cycle: of(0.25),
            product: 3.0,
            classes: vec![class("int", Some(1.0), 0.25), class("load", None, 0.5)],
            chained_load: of(5.0),
            width: of(4.0),
            sizes: curve(sizes, load),
            lines: vec![[of(0.5), of(0.375)]],
            large_pages: true,
            pages: curve(pages, page),
            walks: Some(of(1.5)),
            apart: curve(
                (1..40).map(|n| n * 16),
                |n| if n < 224 { 80.0 } else { 160.0 },
            ),
            chains: curve([1, 2, 4, 8, 10, 12, 16, 32], |n| 80.0 / n.min(10) as f64),
            streams: curve([1, 2, 4, 8, 16, 32], |n| if n > 16 { 60.0 } else { 4.0 }),
            reads: of(12.5),
            writes: of(6.0),
            wrong_prediction: of(17.0),
            page_fault: of(2500.0),
            library: vec![LibraryCall {
                name: "memcpy",
                of: "blocks",
                call: of(2.5),
                each: 0.005,
            }],
            seconds: 20.0,
            share: 1.0,
        }
    }

    fn origin() -> Origin {
        Origin {
            day: "2026-11-29".into(),
            processor: "A Processor".into(),
            kernel: "Linux 6".into(),
            version: "flick 0".into(),
            caches: vec![KnownCache {
                level: 1,
                size: 32 << 10,
                ways: 8,
            }],
            holds_nxp: false,
        }
    }

    #[test]
    fn every_figure_is_written_with_its_source() {
        let text = text(&measured(), &origin());
        for line in [
            "clock = \"4 GHz\" # measured",
            "int = 0.25 # measured: such: 0.25 (0.25 to 0.25)",
            "mispredict = 17 # measured: a branch",
            "[host.latency]\nint = 1 # measured: such: 1 (1 to 1)",
            "load = 0.5 # measured",
            "size = \"32 KiB\" # measured: from 32 KiB",
            "size = \"1 MiB\" # measured: from 1 MiB",
            "ways = 8\nhit = 4.5 # measured: a chained load takes 5 ",
            "each = 2 # measured: lines in no order",
            "in-order = 1.5 # measured: lines in order take",
            "ways = 8\nhit = 9 # measured: a chained load takes 3.5 ns, 1.25",
            "entries = 1536 # measured",
            "ways = 12 # an assumption\nwalk = \"10 ns\" # measured",
            "each = 6 # measured: walks of which none waits",
            "instructions = 224 # measured",
            "width = 4 # measured",
            "misses = 10 # measured",
            "streams = 16 # measured: with more",
            "load = \"78.7 ns\" # measured: a chained load takes 80 ns",
            "store = \"0 ns\" # an assumption",
            "bandwidth = \"12.5 GB/s\" # measured",
            "page-fault = \"2.5 us\" # measured",
            "[host.library]\nmemcpy = { cycles = 10, each = 0.02 } # measured: blocks",
            "measured on 2026-11-29 by flick platform calibrate (flick 0).\n# A Processor, Linux 6.",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        // Every line with a figure says where it is from, or belongs to the one above.
        let figures = text.lines().filter(|line| line.contains(" = "));
        let silent: Vec<_> = figures.filter(|line| !line.contains('#')).collect();
        assert!(
            silent
                .iter()
                .all(|line| line.starts_with("ways = ") || line.starts_with("holds = ")),
            "{silent:?}"
        );
        assert_eq!(text.matches("[[host.cache]]").count(), 2);
        assert!(!text.contains("DOUBTFUL"), "{text}");
    }

    #[test]
    fn what_was_not_found_is_an_assumption_or_left_out() {
        let mut measured = measured();
        measured
            .apart
            .iter_mut()
            .for_each(|(_, spread)| *spread = of(80.0));
        measured.pages = Vec::new();
        let text = text(&measured, &origin());
        assert!(
            text.contains("instructions = 224 # an assumption"),
            "{text}"
        );
        assert!(
            !text.contains("[host.tlb]") && text.contains("# No TLB"),
            "{text}"
        );
    }

    #[test]
    fn noise_is_told() {
        assert_eq!(doubts(&measured()), [""; 0]);
        let mut noisy = measured();
        noisy.share = 0.5;
        noisy.product = 2.7;
        noisy.cycle = Spread::of(&[0.2, 0.25, 0.3]);
        noisy
            .sizes
            .iter_mut()
            .for_each(|(_, spread)| spread.high *= 1.5);
        let all = doubts(&noisy).join("\n");
        for part in [
            "50 % of the time",
            "2.70 cycles",
            "quartiles of the clock",
            "sizes",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
        let text = text(&noisy, &origin());
        assert_eq!(text.matches("# DOUBTFUL: ").count(), 4, "{text}");
    }

    #[test]
    fn shapes_have_sets_that_are_powers_of_two() {
        for size in (20..4000).map(|n| n * 11_000) {
            let (bytes, ways, _) = shape((size, size * 6 / 5), &[]);
            assert!((bytes / 64 / ways).is_power_of_two() && bytes.is_multiple_of(64 * ways));
            assert!(
                (bytes as f64 / size as f64).ln().abs() < 0.25,
                "{size} {bytes}"
            );
        }
        for next in 20..4000 {
            let (entries, ways) = entries((next * 5 / 6, next));
            assert!(
                (entries / ways).is_power_of_two() && entries.is_multiple_of(ways),
                "{next}"
            );
        }
        assert_eq!(entries((1448, 1722)), (1536, 12));
    }
}
