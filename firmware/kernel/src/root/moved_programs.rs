//! Programs that move to another tile when they have begun, as the kernels of both tiles see it. That of the old one holds
//! the program, and writes what it is to memory of the root. That of the new one reads this image: registers, pages, and
//! their rights. `program_moves.rs` has the root's part.
use flick_abi::card::{Error, MOST_IMAGE_PAGES, PAGE, rights};
use flick_abi::dtu::Command;
use flick_kernel_core::page_tables::PageTables;
use flick_kernel_core::threads::{Place, State, Wait};

use super::started_programs::Image;
use crate::cache;
use crate::csr;
use crate::direct::Direct;
use crate::dtu::Unit;
use crate::float_state::CLEAN;
use crate::kernel::Kernel;
use crate::processes::PROCESSES;
use crate::program_image::{Source, copy, map};

/// The first word of an image, which the kernel of another tile has written: `flkmove1`.
const VERSION: u64 = u64::from_le_bytes(*b"flkmove1");
/// Words of its header: the version, how many pages it has, where free addresses begin, the priority, the floating-point
/// status, and the registers (`Context::all`). It has a page of its own. Behind it are words for all pages, address and
/// rights, and then the pages that are not just zeros.
const HEADER: usize = 5;
const REGISTERS: usize = 65;
/// In the word of a page: its content is in the image.
const HAS_CONTENT: u64 = 1 << 11;
const WORDS: usize = PAGE as usize / 8;

/// What the memory of a program takes.
struct Pages {
    all: u64,
    with_content: u64,
}

impl Pages {
    fn size(&self) -> u64 {
        PAGE + self.all.div_ceil(WORDS as u64) * PAGE + self.with_content * PAGE
    }
}

/// An image that is written.
struct Writer {
    unit: Unit,
    endpoint: u16,
    /// A page of the kernel.
    page: u64,
    at: u64,
}

impl Writer {
    fn write(&mut self, from: u64) -> Result<(), Error> {
        cache::clean();
        let here = (from, self.at);
        let written = self
            .unit
            .move_data(Command::Write, self.endpoint, here, PAGE);
        self.at += PAGE;
        written.map_err(|_| Error::Failed)
    }

    fn words(&mut self) -> &mut [u64; WORDS] {
        // SAFETY: the page is this writer's alone.
        unsafe { &mut *(self.page as *mut [u64; WORDS]) }
    }

    /// Writes the words, and begins with others.
    fn write_words(&mut self) -> Result<(), Error> {
        self.write(self.page)?;
        self.words().fill(0);
        Ok(())
    }
}

impl Kernel {
    /// The process that the root knows by a number.
    pub fn find_chosen(&self, number: u64) -> Option<u16> {
        let is_it = |&place: &u16| {
            let chosen = self.processes[place].chosen;
            chosen != 0 && u64::from(chosen) == number
        };
        (0..PROCESSES as u16).find(is_it)
    }

    /// The only thread of a program that can move.
    fn mover(&mut self, process: u16) -> Result<Place, Error> {
        let owner = &self.processes[process];
        let first = owner.first.filter(|_| owner.threads == 1);
        let first = first.ok_or(Error::Busy)?;
        let has_lists = !owner.waiters.is_empty() || owner.handler_count != 0;
        let has_children = self.processes.children(process).next().is_some();
        let stays = has_lists
            || has_children
            || self.root.has_gates(process)
            || self.has_mailboxes(process)
            || self.has_portals(process)
            || self.dispatch.threads[first].vector_pages != 0;
        match stays {
            true => Err(Error::Busy),
            false => Ok(first),
        }
    }

    /// A program runs no more until it has moved, or goes on. Returns the bytes of its image.
    #[cold]
    #[inline(never)]
    pub fn hold_chosen(&mut self, number: u64) -> Result<u64, Error> {
        let process = self.find_chosen(number).ok_or(Error::NotFound)?;
        if self.processes[process].is_ending {
            return Err(Error::NotFound);
        }
        let place = self.mover(process)?;
        if !self.processes[process].is_held {
            // Its next hart is none.
            let thread = &mut self.dispatch.threads[place];
            thread.harts = 0;
            match thread.state {
                State::Ready => {
                    self.dispatch.threads.take_ready(place);
                    self.dispatch.threads[place].state = State::Waits(Wait::Sleep);
                    self.processes[process].is_held = true;
                }
                State::Running(hart) => {
                    self.dispatch.drive_out(hart, csr::time(), &mut self.harts);
                    return Err(Error::Again);
                }
                _ => return Err(Error::Again),
            }
        }
        let tables = self.processes[process].tables.ok_or(Error::NotFound)?;
        Ok(count(&tables)?.size())
    }

    /// A program that was held goes on.
    #[cold]
    pub fn release_chosen(&mut self, number: u64) {
        let Some(process) = self.find_chosen(number) else {
            return;
        };
        let Some(place) = self.processes[process].first else {
            return;
        };
        let harts = self.lines[usize::from(place)].harts();
        let thread = &mut self.dispatch.threads[place];
        thread.harts = harts;
        let is_held = core::mem::take(&mut self.processes[process].is_held);
        let is_ready = thread.state == State::Ready;
        if is_ready {
            self.dispatch.threads.take_ready(place);
        }
        if is_held || is_ready {
            self.wake(place);
        }
    }

    /// The image of a program that is held is written, and the tile does not have it any more.
    #[cold]
    #[inline(never)]
    pub fn save_chosen(&mut self, number: u64, endpoint: u64, size: u64) -> Result<(), Error> {
        let process = self.find_chosen(number).ok_or(Error::NotFound)?;
        let owner = &self.processes[process];
        let (place, tables) = (owner.first, owner.tables);
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        let (Some(place), Some(tables), true) = (place, tables, owner.is_held) else {
            return Err(Error::Busy);
        };
        let pages = count(&tables)?;
        if pages.size() > size {
            return Err(Error::NoMemory);
        }
        let page = self.frames.allocate().ok_or(Error::NoMemory)?;
        let mut writer = Writer {
            unit,
            endpoint: endpoint as u16,
            page,
            at: 0,
        };
        let written = self.write_image(process, place, &mut writer, (&tables, &pages));
        self.frames.free(page);
        written?;
        // The root knows the program by its number as one of another tile.
        self.processes[process].chosen = 0;
        self.end_process(process, 0);
        Ok(())
    }

    fn write_image(
        &mut self,
        process: u16,
        place: Place,
        writer: &mut Writer,
        (tables, pages): (&PageTables, &Pages),
    ) -> Result<(), Error> {
        writer.words().fill(0);
        let priority = self.dispatch.threads[place].priority;
        let context = self.context(place);
        let words = writer.words();
        words[1] = pages.all;
        words[3] = priority.into();
        words[4] = context.status;
        words[HEADER..][..REGISTERS].copy_from_slice(&context.all());
        words[2] = self.processes[process].next_address;
        words[0] = VERSION;
        writer.write_words()?;
        let mut n = 0;
        each_page(tables, |address, of, frame| {
            let content = if frame.is_some() { HAS_CONTENT } else { 0 };
            writer.words()[n % WORDS] = address | of | content;
            n += 1;
            match n % WORDS {
                0 => writer.write_words(),
                _ => Ok(()),
            }
        })?;
        if !n.is_multiple_of(WORDS) {
            writer.write_words()?;
        }
        each_page(tables, |_, _, frame| match frame {
            Some(frame) => writer.write(frame),
            None => Ok(()),
        })
    }

    /// A process without threads becomes the program of an image.
    #[cold]
    #[inline(never)]
    pub fn restore(&mut self, process: u16, image: &mut Image) -> Result<(), Error> {
        let mut header = [0_u64; HEADER + REGISTERS];
        read_words(image, 0, &mut header)?;
        let [
            version,
            pages,
            next_address,
            priority,
            status,
            ref registers @ ..,
        ] = header;
        if version != VERSION || pages > MOST_IMAGE_PAGES {
            return Err(Error::Invalid);
        }
        let mut content = PAGE + pages.div_ceil(WORDS as u64) * PAGE;
        for n in 0..pages {
            let mut word = [0];
            read_words(image, PAGE + 8 * n, &mut word)?;
            let of = word[0] & (rights::READ | rights::WRITE | rights::EXECUTE);
            let address = word[0] / PAGE * PAGE;
            map(self, process, address, PAGE, of)?;
            if word[0] & HAS_CONTENT != 0 {
                copy(self, process, (address, of), image, (content, PAGE))?;
                content += PAGE;
            }
        }
        self.processes[process].next_address = next_address;
        let place = self.start_held(process, priority).ok_or(Error::NoMemory)?;
        let context = self.context(place);
        context.begin();
        context.set_all(registers);
        context.status = if status == 0 { 0 } else { CLEAN };
        self.dispatch.threads[place].is_fresh = false;
        self.wake(place);
        Ok(())
    }
}

/// Words of an image, least byte first.
fn read_words(image: &mut Image, offset: u64, words: &mut [u64]) -> Result<(), Error> {
    let size = size_of_val(words);
    if offset + size as u64 > image.size() {
        return Err(Error::Invalid);
    }
    // SAFETY: words are bytes, and any bytes are words.
    let bytes = unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), size) };
    image.read(offset, bytes)
}

/// Calls a function for each page, with its address, rights and frame.
fn each_page(
    tables: &PageTables,
    mut f: impl FnMut(u64, u64, Option<u64>) -> Result<(), Error>,
) -> Result<(), Error> {
    tables.each_page(&Direct, &mut |address, page| {
        let (of, frame) = page.ok_or(Error::Busy)?;
        f(address, of, frame)
    })
}

fn count(tables: &PageTables) -> Result<Pages, Error> {
    let (mut all, mut with_content) = (0, 0);
    each_page(tables, |_, _, frame| {
        all += 1;
        with_content += u64::from(frame.is_some());
        match all <= MOST_IMAGE_PAGES {
            true => Ok(()),
            // The kernel hart does nothing else meanwhile.
            false => Err(Error::Busy),
        }
    })?;
    Ok(Pages { all, with_content })
}
