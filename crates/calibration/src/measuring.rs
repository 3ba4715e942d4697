//! Measures this machine, part by part.
use std::io;
use std::time::Instant;

use crate::instruction_streams::{
    ADDITIONS, CHAINED_LOADS, CLASSES, Given, NOTHING, PRODUCTS, Stream, Words,
};
use crate::library_calls::{self, LibraryCall};
use crate::memory_accesses::{
    ANYWHERE, APART, CHASED, anywhere, anywhere_in_pages, chase, chase_all, line_of_page, read,
};
use crate::pages::{LINE, PAGE, Pages};
use crate::statistics::Spread;
use crate::{branches, latency_levels, page_faults};

/// How thorough a measurement is.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How often each figure is measured.
    pub repetitions: usize,
    /// Seconds of one repetition.
    pub piece: f64,
    /// The most memory that is looked at, in bytes.
    pub most_memory: usize,
    /// Sizes between one power of two and the next.
    pub steps: usize,
}

impl Effort {
    /// What is written into a platform file.
    pub fn whole(most_memory: usize) -> Self {
        Self {
            repetitions: 9,
            piece: 3e-3,
            most_memory,
            steps: 4,
        }
    }

    /// Some seconds, for a look.
    pub fn quick() -> Self {
        Self {
            repetitions: 3,
            piece: 5e-4,
            most_memory: 32 << 20,
            steps: 2,
        }
    }
}

/// A value over sizes or numbers, which rise.
pub type Curve = Vec<(usize, Spread)>;

/// The times of a class of operations, in cycles.
pub struct ClassTimes {
    /// Its key in `[host.cycles]`.
    pub key: &'static str,
    /// What was measured.
    pub of: &'static str,
    /// Each needs the result of the one before.
    pub chain: Option<Spread>,
    /// Side by side.
    pub apart: Vec<Spread>,
}

/// Everything that was measured. Times are nanoseconds where nothing else is said.
pub struct Measured {
    /// The time of a cycle, at the beginning, between the parts, and at the end.
    pub cycle: Spread,
    /// The cycles of a product in a chain: a whole number if those are cycles.
    pub product: f64,
    /// By class.
    pub classes: Vec<ClassTimes>,
    /// A chained load from the nearest cache, in cycles.
    pub chained_load: Spread,
    /// Instructions that begin in a cycle.
    pub width: Spread,
    /// A chained load, by the bytes over which loads are spread.
    pub sizes: Curve,
    /// Whether that memory was in large pages, so that no TLB missed.
    pub large_pages: bool,
    /// A chained load, by the number of pages with one line each; in small pages.
    pub pages: Curve,
    /// A walk of page tables, where none waits for another one.
    pub walks: Option<Spread>,
    /// By cache, beginning with the second: a line that is loaded from it, where no load waits for another one.
    pub lines: Vec<[Spread; 2]>,
    /// A round of two misses, by the instructions from one to the next.
    pub apart: Curve,
    /// A load, by the number of chains at a time, in the whole memory.
    pub chains: Curve,
    /// A line, by the number of streams whose lines are read in turn, each load waiting for the one before.
    pub streams: Curve,
    /// Bytes a nanosecond that one core reads in order.
    pub reads: Spread,
    /// The same for writes.
    pub writes: Spread,
    /// What a wrong prediction of a branch takes more than a right one, in cycles.
    pub wrong_prediction: Spread,
    /// The first access to a page of memory.
    pub page_fault: Spread,
    /// Functions of the C library.
    pub library: Vec<LibraryCall>,
    /// Seconds that all of it took.
    pub seconds: f64,
    /// The share of that time in which this thread had a processor.
    pub share: f64,
}

/// A generator of numbers that are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn shuffled(&mut self, count: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count as u32).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// Nanoseconds of the processor's time that this thread has had: without those of others.
fn own_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes to the value alone.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

pub(crate) fn time(work: impl FnOnce()) -> f64 {
    let start = own_time();
    work();
    own_time() - start
}

/// The time of a step in each repetition. `work` makes so many steps.
pub(crate) fn repeated(effort: &Effort, mut work: impl FnMut(u64)) -> Vec<f64> {
    let mut steps = 16;
    loop {
        let taken = time(|| work(steps));
        if taken > effort.piece * 2.5e8 {
            steps = (steps as f64 * effort.piece * 1e9 / taken).max(16.0) as u64;
            break;
        }
        steps *= 4;
    }
    let one = |_| time(|| work(steps)) / steps as f64;
    (0..effort.repetitions).map(one).collect()
}

/// The sizes or numbers from `least` to `most`, `steps` between powers of two, in whole units.
fn ladder(least: usize, most: usize, steps: usize, unit: usize) -> Vec<usize> {
    let mut all = Vec::new();
    for step in 0.. {
        let exact = least as f64 * 2f64.powf(step as f64 / steps as f64);
        let value = (exact / unit as f64).round() as usize * unit;
        if value > most {
            return all;
        }
        if all.last() != Some(&value) {
            all.push(value);
        }
    }
    all
}

struct Machine<'a> {
    effort: &'a Effort,
    words: Words,
    /// The times of a cycle.
    cycles: Vec<f64>,
    /// The cycles of a product.
    products: Vec<f64>,
    numbers: Numbers,
    say: &'a mut dyn FnMut(&str),
}

impl Machine<'_> {
    /// The time of an instruction of a stream in each repetition, in nanoseconds.
    fn stream(&mut self, stream: &Stream) -> Vec<f64> {
        let words = &mut self.words;
        let times = repeated(self.effort, |rounds| {
            stream.run(&mut Given { rounds, words })
        });
        let each = |time: f64| time / stream.count as f64;
        times.into_iter().map(each).collect()
    }

    fn part(&mut self, name: &str) {
        (self.say)(name);
        // A processor that was idle takes some time to come to its clock.
        let cycle = Spread::of(&self.stream(&ADDITIONS)).median;
        let product = Spread::of(&self.stream(&PRODUCTS)).median;
        self.products.push(product / cycle);
        let times = self.stream(&ADDITIONS);
        self.cycles.extend(times);
    }

    /// In cycles of the clock as it is beside the measurement.
    fn in_cycles(&mut self, stream: &Stream) -> Spread {
        let cycle = Spread::of(&self.stream(&ADDITIONS)).median;
        Spread::of(&self.stream(stream)).times(1.0 / cycle)
    }

    fn classes(&mut self) -> Vec<ClassTimes> {
        let mut all = Vec::new();
        for class in &CLASSES {
            let chain = class.chain.as_ref().map(|(stream, others)| {
                let mut spread = self.in_cycles(stream);
                for value in [&mut spread.low, &mut spread.median, &mut spread.high] {
                    *value -= others;
                }
                spread
            });
            let apart = class
                .apart
                .iter()
                .map(|stream| self.in_cycles(stream))
                .collect();
            all.push(ClassTimes {
                key: class.key,
                of: class.of,
                chain,
                apart,
            });
        }
        all
    }

    /// The time of a load of a chain that is linked.
    fn chased(&mut self, pages: &Pages, first: usize) -> Spread {
        let mut at = pages.at(first);
        let times = repeated(self.effort, |rounds| {
            // SAFETY: `link` has made a chain through the memory, which is there.
            at = unsafe { chase(at, rounds) };
        });
        Spread::of(&times).times(1.0 / CHASED as f64)
    }

    /// Offsets of all lines of `size` bytes at random. In small pages all lines of a page follow each other,
    /// so that few loads miss the TLB.
    fn lines(&mut self, size: usize, is_large: bool) -> Vec<usize> {
        if is_large || size <= 16 * PAGE {
            let order = self.numbers.shuffled(size / LINE);
            return order.into_iter().map(|line| line as usize * LINE).collect();
        }
        let mut all = Vec::with_capacity(size / LINE);
        for page in self.numbers.shuffled(size / PAGE) {
            for line in self.numbers.shuffled(PAGE / LINE) {
                all.push(page as usize * PAGE + line as usize * LINE);
            }
        }
        all
    }

    fn sizes(&mut self, pages: &mut Pages) -> Curve {
        let mut curve = Vec::new();
        let all = ladder(4096, pages.size(), self.effort.steps, LINE);
        for (number, &size) in all.iter().enumerate() {
            if number % 8 == 0 {
                (self.say)(&format!("loads over {} of {} sizes", number, all.len()));
            }
            let lines = self.lines(size, pages.is_large);
            let first = lines[0];
            pages.link(lines.into_iter());
            curve.push((size, self.chased(pages, first)));
        }
        curve
    }

    fn lines_of_caches(&mut self, pages: &mut Pages, sizes: &Curve) -> Vec<[Spread; 2]> {
        let levels = latency_levels::levels(sizes);
        let ends = levels.iter().skip(1).filter_map(|level| level.size);
        ends.map(|(held, _)| {
            // So much is in this cache, and little of it in a nearer one.
            let part = &pages.bytes()[..held / 2];
            let mut at = std::array::from_fn(|n| n as u32 * 0x1234_5677);
            let times = repeated(self.effort, |rounds| anywhere(part, &mut at, rounds));
            let apart = Spread::of(&times).times(1.0 / ANYWHERE as f64);
            // All of it in turn: what was read last is in a nearer cache.
            let times = (0..self.effort.repetitions.max(3)).map(|_| time(|| read(part)));
            let times: Vec<f64> = times.collect();
            let in_order = Spread::of(&times).times(LINE as f64 / part.len() as f64);
            [apart, in_order]
        })
        .collect()
    }

    /// The times by pages, and that of walks that do not wait for each other. `sizes` has the times of as many lines
    /// side by side.
    fn pages(&mut self, size: usize, sizes: &Curve) -> io::Result<(Curve, Option<Spread>)> {
        let mut pages = Pages::new(size, false)?;
        let mut curve = Vec::new();
        for count in ladder(8, size / PAGE, self.effort.steps, 1) {
            let order = self.numbers.shuffled(count);
            let offset = |page: u32| page as usize * PAGE + line_of_page(page as usize) * LINE;
            let first = offset(order[0]);
            pages.link(order.into_iter().map(offset));
            curve.push((count, self.chased(&pages, first)));
        }
        let cycle = Spread::of(&self.cycles).median;
        let walks = latency_levels::tlb(&curve, sizes, cycle).map(|tlb| {
            // An eighth of them is in the TLB, and their tables are in near caches.
            const MORE: usize = 8;
            let part = &pages.bytes()[..(tlb.entries.1 * MORE * PAGE).min(size)];
            let mut at = std::array::from_fn(|n| n as u32 * 0x1234_5677);
            let times = repeated(self.effort, |rounds| {
                anywhere_in_pages(part, PAGE, &mut at, rounds);
            });
            let missed = (MORE - 1) as f64 / MORE as f64;
            Spread::of(&times).times(1.0 / missed / ANYWHERE as f64)
        });
        Ok((curve, walks))
    }

    /// Places in a random chain through all of the memory, far from one another in it.
    fn spread(&mut self, pages: &mut Pages, count: usize) -> Vec<*mut u8> {
        let lines = self.lines(pages.size(), pages.is_large);
        let places = (0..count).map(|number| lines[number * lines.len() / count]);
        let places: Vec<usize> = places.collect();
        pages.link(lines.into_iter());
        places.into_iter().map(|place| pages.at(place)).collect()
    }

    fn chains(&mut self, places: &mut [*mut u8]) -> Curve {
        const COUNTS: [usize; 15] = [1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48];
        let one = |count: usize| {
            let at = &mut places[..count];
            let times = repeated(self.effort, |loads| {
                // SAFETY: the places are in a chain through the memory, which is there.
                unsafe { chase_all(at, loads) };
            });
            (count, Spread::of(&times).times(1.0 / count as f64))
        };
        COUNTS.into_iter().map(one).collect()
    }

    fn apart(&mut self, places: &mut [*mut u8]) -> Curve {
        let Some(places) = places.first_chunk_mut::<2>() else {
            return Vec::new();
        };
        let mut one = |apart: &crate::memory_accesses::Apart| {
            let times = repeated(self.effort, |rounds| {
                // SAFETY: the places are in a chain through the memory, which is there.
                unsafe { apart.run(places, rounds) };
            });
            (apart.count, Spread::of(&times))
        };
        APART.iter().map(&mut one).collect()
    }

    fn streams(&mut self, pages: &mut Pages) -> Curve {
        let mut curve = Vec::new();
        for count in [1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64] {
            // Whole pages, and not the same place of a cache for each of them.
            let size = pages.size();
            let length = (size / count - PAGE) / PAGE * PAGE;
            let start = move |stream: usize| stream * (size / count) / LINE * LINE;
            let lines = length / LINE;
            let order = (0..lines)
                .flat_map(|line| (0..count).map(move |stream| start(stream) + line * LINE));
            pages.link(order);
            curve.push((count, self.chased(pages, 0)));
        }
        curve
    }

    /// Reads and writes of one core in order, in bytes a nanosecond.
    fn rates(&mut self, pages: &mut Pages) -> [Spread; 2] {
        let size = pages.size();
        let mut part = (size / 8).max(1 << 20).min(size);
        part -= part % 4096;
        let mut from = 0;
        let mut next = || {
            let here = from;
            from = if from + 2 * part <= size {
                from + part
            } else {
                0
            };
            here..here + part
        };
        let bytes = pages.bytes();
        let count = self.effort.repetitions.max(8);
        let reads: Vec<f64> = (0..count)
            .map(|_| {
                let piece = &bytes[next()];
                part as f64 / time(|| read(piece))
            })
            .collect();
        let writes: Vec<f64> = (0..count)
            .map(|number| {
                let piece = &mut bytes[next()];
                part as f64 / time(|| std::hint::black_box(piece).fill(number as u8))
            })
            .collect();
        [Spread::of(&reads), Spread::of(&writes)]
    }
}

/// Measures all of it, on the thread that calls. `say` is told the part that comes next.
pub fn measure(effort: &Effort, say: &mut dyn FnMut(&str)) -> io::Result<Measured> {
    let (start, own) = (Instant::now(), own_time());
    let mut machine = Machine {
        effort,
        words: Words::default(),
        cycles: Vec::new(),
        products: Vec::new(),
        numbers: Numbers(0x2545_f491_4f6c_dd1d),
        say,
    };
    machine.part("the clock");
    machine.part("instructions by class");
    let classes = machine.classes();
    let chained_load = machine.in_cycles(&CHAINED_LOADS);
    let nothing = machine.in_cycles(&NOTHING);
    let width = Spread {
        low: 1.0 / nothing.high,
        median: 1.0 / nothing.median,
        high: 1.0 / nothing.low,
    };
    machine.part("memory for caches");
    let mut pages = Pages::new(effort.most_memory, true)?;
    let sizes = machine.sizes(&mut pages);
    machine.part("lines of caches");
    let lines = machine.lines_of_caches(&mut pages, &sizes);
    machine.part("misses at a time");
    let mut places = machine.spread(&mut pages, 48);
    let chains = machine.chains(&mut places);
    machine.part("the window");
    let apart = machine.apart(&mut places);
    machine.part("streams");
    let streams = machine.streams(&mut pages);
    machine.part("bandwidths");
    let [reads, writes] = machine.rates(&mut pages);
    let large_pages = pages.is_large;
    drop(pages);
    machine.part("pages");
    let (pages, walks) = machine.pages(effort.most_memory.min(512 << 20), &sizes)?;
    machine.part("branches");
    let numbers = &mut machine.numbers;
    let wrong = branches::wrong_prediction(effort, |end| numbers.below(end));
    machine.part("page faults");
    let page_fault = page_faults::first_accesses(effort)?;
    machine.part("the C library");
    let library = library_calls::measure(effort);
    machine.part("the clock again");
    let cycle = Spread::of(&machine.cycles);
    let product = Spread::of(&machine.products).median;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Measured {
        cycle,
        product,
        classes,
        chained_load,
        width,
        sizes,
        lines,
        large_pages,
        pages,
        walks,
        apart,
        chains,
        streams,
        reads,
        writes,
        wrong_prediction: wrong.times(1.0 / cycle.median),
        page_fault,
        library,
        seconds,
        share: (own_time() - own) / 1e9 / seconds,
    })
}
