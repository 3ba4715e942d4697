//! Programs that the root starts on a tile that it governs (`activity_start`): the tile's kernel loads their images by an
//! endpoint that the root has set up.
use flick_abi::card::{
    Error, IMAGE_VERSION, MOST_IMAGE_PAGES, MOST_TEXTS, NORMAL_PRIORITY, PAGE, ProgramImage,
    ProgramStart, STACK_END, START_WITH_ENVIRONMENT, rights,
};
use flick_abi::dtu::Command;
use flick_kernel_core::page_tables::PageTables;

use crate::cache;
use crate::direct::Direct;
use crate::dtu::Unit;
use crate::first_program::{START, bytes_of, record};
use crate::kernel::{Kernel, error_of};
use crate::program_image::{Source, copy, load, map, words};

/// An image that an endpoint reaches. What is read comes to a page of the kernel first: the unit writes behind the
/// harts' backs.
pub struct Image {
    unit: Unit,
    endpoint: u16,
    page: u64,
    /// Where it begins behind what the endpoint reaches, and its bytes.
    first: u64,
    size: u64,
}

impl Source for Image {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<(), Error> {
        let places = (self.first + offset..).step_by(PAGE as usize);
        for (piece, at) in to.chunks_mut(PAGE as usize).zip(places) {
            let (here, size) = ((self.page, at), piece.len() as u64);
            let read = self
                .unit
                .move_data(Command::Read, self.endpoint, here, size);
            read.map_err(|_| Error::Failed)?;
            cache::refresh(self.page, size);
            // SAFETY: the page is this image's alone, and the unit has filled so much of it.
            piece.copy_from_slice(unsafe {
                core::slice::from_raw_parts(self.page as *const u8, piece.len())
            });
        }
        Ok(())
    }
}

impl Kernel {
    /// Starts a program that the root knows by a number, or one that has begun on another tile.
    #[cold]
    #[inline(never)]
    pub fn start_chosen(
        &mut self,
        number: u64,
        (endpoint, size): (u64, u64),
        has_begun: bool,
    ) -> Result<(), Error> {
        let unit = self.tiles.unit.ok_or(Error::Dead)?;
        if !self.map.is_coherent {
            return Err(Error::NoCall);
        }
        let page = self.frames.allocate().ok_or(Error::NoMemory)?;
        let image = Image {
            unit,
            endpoint: endpoint as u16,
            page,
            first: 0,
            size,
        };
        let started = self.try_start_chosen(number as u32, image, has_begun);
        self.frames.free(page);
        started
    }

    fn try_start_chosen(
        &mut self,
        number: u32,
        mut image: Image,
        has_begun: bool,
    ) -> Result<(), Error> {
        let tables = PageTables::new(self.map.mode, &mut self.frames, &mut Direct);
        let tables = tables.map_err(error_of)?;
        let made = self.processes.create(None, tables).ok_or(Error::NoMemory);
        let filled = made.and_then(|process| {
            let filled = match self.root.asked.is_untold(process) {
                true => Err(Error::Again),
                false if has_begun => self.restore(process, &mut image),
                false => self.fill(process, image),
            };
            filled.inspect_err(|_| self.processes.remove(process))?;
            self.processes[process].chosen = number;
            Ok(())
        });
        filled.inspect_err(|_| tables.free(&mut self.frames, &mut Direct))
    }

    /// Its memory, and its first thread.
    fn fill(&mut self, process: u16, mut image: Image) -> Result<(), Error> {
        let [version, arguments, environment, texts, file, size, ..] = words(&mut image, 0)?;
        let behind = size_of::<ProgramImage>() as u64;
        let is_inside = |at: u64, size: u64| at <= image.size && size <= image.size - at;
        let is_good = version == IMAGE_VERSION && texts <= MOST_TEXTS;
        if !is_good || !is_inside(behind, texts) || !is_inside(file, size) {
            return Err(Error::Invalid);
        }
        let of = rights::READ | rights::WRITE;
        let shape = (START_WITH_ENVIRONMENT, size_of::<ProgramStart>() + 8);
        let record = record(self, shape, arguments, texts);
        map(self, process, START, record.text + texts - START, of)?;
        let put = |kernel: &mut Self, at, mut bytes: &[u8]| {
            let size = bytes.len() as u64;
            copy(kernel, process, (at, of), &mut bytes, (0, size))
        };
        put(self, START, bytes_of(&record))?;
        put(self, record.text - 8, &environment.to_le_bytes())?;
        copy(
            self,
            process,
            (record.text, of),
            &mut image,
            (behind, texts),
        )?;
        (image.first, image.size) = (file, size);
        let entry = load(self, process, &mut image, MOST_IMAGE_PAGES)?;
        let start = [entry, START, STACK_END, 0, NORMAL_PRIORITY];
        self.start_process(process, start).ok_or(Error::NoMemory)?;
        Ok(())
    }

    /// The root ends a program.
    pub fn end_chosen(&mut self, number: u64) {
        if let Some(process) = self.find_chosen(number) {
            self.end_process(process, Error::Dead as u64);
        }
    }

    /// The number of a process of this tile at the root.
    pub fn number_at_root(&self, process: u16) -> u64 {
        match self.processes[process].chosen {
            0 => self.processes.number(process),
            chosen => chosen.into(),
        }
    }
}
