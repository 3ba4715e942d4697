//! `libflick-card.so`, which has the machine. Its functions are called with the token, on a stack of
//! their own.
use std::ffi::{CString, OsStr, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flick_abi::card_interface::{
    Executed, FUNCTIONS, Functions, HartRow, LIBRARY, NO_TIME, Order, RanRow, Setup, TileRow,
};
use flick_abi::descriptor::Descriptor;
use flick_engine::Hart;
use flick_riscv::Isa;

use crate::os::own_stack::OwnStack;
use crate::os::{host_library, own_file};
use crate::thread::vector_states;
use crate::translation::shown_code;

static STACK: OwnStack = OwnStack::new();
static LOADED: OnceLock<&'static Functions> = OnceLock::new();

/// The kernel's file, beside the library.
const KERNEL: &str = "card/kernel-host.elf";

/// Loads the library, and makes the machine of a name or file, with the faults of a file and the first files of its
/// servers, which is timed or not. An error is for people.
pub fn open(machine: &str, (inject, files): (&str, &str), is_timed: bool) -> Result<(), String> {
    const RTLD_DEEPBIND: c_int = 8;
    STACK.init().map_err(|error| error.to_string())?;
    let loader = host_library::get().and_then(|library| (library.loader)());
    let loader = loader.ok_or("a static program loads no library")?;
    let own = own_file::path().ok_or("libflick does not know its own place")?;
    let own = Path::new(OsStr::from_bytes(own.to_bytes()));
    let path = own.with_file_name(LIBRARY);
    let missing = || format!("{} cannot be loaded", path.display());
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| missing())?;
    // It calls the C library's functions and not the program's of these names.
    let flags = libc::RTLD_NOW | libc::RTLD_LOCAL | RTLD_DEEPBIND;
    // SAFETY: the C library's own functions.
    let found = unsafe {
        let handle = (loader.dlopen)(name.as_ptr(), flags);
        if handle.is_null() {
            return Err(missing());
        }
        (loader.dlsym)(handle, FUNCTIONS.as_ptr())
    };
    // SAFETY: null, or the table that belongs to the name, in a library that stays.
    let functions: &'static Functions = unsafe { found.cast::<Functions>().as_ref() }
        .ok_or_else(|| format!("{} is of another version", path.display()))?;
    let kernel = kernel_beside(own);
    let kernel = kernel.as_os_str().as_bytes();
    let mut setup = Setup {
        machine: machine.as_ptr(),
        machine_size: machine.len(),
        kernel: kernel.as_ptr(),
        kernel_size: kernel.len(),
        inject: inject.as_ptr(),
        inject_size: inject.len(),
        files: files.as_ptr(),
        files_size: files.len(),
        is_timed,
        reason: [0; 512],
        reason_size: 0,
        vlen: 0,
        isa: 0,
    };
    // SAFETY: the process has one thread that starts the runtime; the texts live as long as the call.
    if !STACK.call(|| unsafe { (functions.open)(&mut setup) }) {
        let reason = setup.reason.get(..setup.reason_size).unwrap_or_default();
        return Err(String::from_utf8_lossy(reason).into_owned());
    }
    vector_states::prefer(setup.vlen);
    shown_code::set_isa(Isa::from_bits(setup.isa));
    LOADED.get_or_init(|| functions);
    Ok(())
}

fn kernel_beside(own: &Path) -> PathBuf {
    own.with_file_name(KERNEL)
}

/// The machine. Who has one has the token, which is given to one thread at a time.
pub struct Machine(&'static Functions);

impl Machine {
    /// # Safety
    /// The calling thread has the token, and blocks all signals, as long as it uses the machine.
    pub unsafe fn get() -> Self {
        match LOADED.get() {
            Some(functions) => Self(functions),
            None => unreachable!("a crossing of the card without a machine"),
        }
    }

    /// A descriptor for the card, which comes at this time in a timed run. False: the ring is full.
    pub fn send(&mut self, descriptor: &Descriptor, time: u64) -> bool {
        // SAFETY: by contract of `get`.
        STACK.call(|| unsafe { (self.0.send)(descriptor, time) })
    }

    /// Runs up to what comes next, or up to a time.
    pub fn advance(&mut self, order: &mut Order, until: Option<u64>) {
        let until = until.unwrap_or(NO_TIME);
        // SAFETY: as above.
        STACK.call(|| unsafe { (self.0.advance)(order, until) });
    }

    /// When it goes on by itself.
    pub fn next(&mut self) -> Option<u64> {
        // SAFETY: as above.
        let next = STACK.call(|| unsafe { (self.0.next)() });
        (next != NO_TIME).then_some(next)
    }

    /// See [`Functions::until`].
    pub fn until(&mut self, hart: u32, at: u64, others: Option<u64>) -> u64 {
        let others = others.unwrap_or(NO_TIME);
        // SAFETY: as above.
        STACK.call(|| unsafe { (self.0.until)(hart, at, others) })
    }

    /// Loads the registers of a lent hart.
    pub fn registers(&mut self, hart: u32, to: &mut Hart) {
        let to = std::ptr::from_mut(to).cast();
        // SAFETY: as above; a hart is passed.
        STACK.call(|| unsafe { (self.0.registers)(hart, to) });
    }

    /// Instructions of the card's own code so far: of all harts without those of owners.
    pub fn own_instructions(&mut self) -> u64 {
        let [all, owners, ..] = self.counts();
        all.saturating_sub(owners)
    }

    /// The process is a child of `fork`.
    pub fn forked(&mut self) {
        // SAFETY: as above.
        STACK.call(|| unsafe { (self.0.forked)() });
    }

    /// See [`Functions::counts`].
    pub fn counts(&mut self) -> [u64; 5] {
        let mut all = [0; 5];
        // SAFETY: as above.
        STACK.call(|| unsafe { (self.0.counts)(&mut all) });
        all
    }

    /// A function has executed so much.
    pub fn has_run(&mut self, row: &RanRow) {
        // SAFETY: as above.
        STACK.call(|| unsafe { (self.0.has_run)(row) });
    }

    /// See [`Functions::ran`].
    pub fn ran(&mut self, at: usize, row: &mut RanRow) -> bool {
        // SAFETY: as above.
        STACK.call(|| unsafe { (self.0.ran)(at, row) })
    }

    /// See [`Functions::hart`].
    pub fn hart(&mut self, at: usize, row: &mut HartRow) -> bool {
        // SAFETY: as above.
        STACK.call(|| unsafe { (self.0.hart)(at, row) })
    }

    /// See [`Functions::tile`].
    pub fn tile(&mut self, at: usize, row: &mut TileRow) -> bool {
        // SAFETY: as above.
        STACK.call(|| unsafe { (self.0.tile)(at, row) })
    }

    /// A lent hart is back, with these registers.
    pub fn executed(&mut self, executed: &Executed, from: &Hart) {
        let from = std::ptr::from_ref(from).cast();
        // SAFETY: as above.
        STACK.call(|| unsafe { (self.0.executed)(executed, from) });
    }
}
