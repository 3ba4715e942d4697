//! Kernel calls of the root role, and others that servers make.
use core::arch::asm;
use core::sync::atomic::AtomicU32;

use flick_abi::card::{Call, Error, FOR_EVER, NORMAL_PRIORITY, RootCall};
use flick_files::Failure;

/// The number of a capability.
pub type Capability = u64;
/// Words of a message.
pub const WORDS: usize = flick_abi::card::MAILBOX_BYTES / 8;

/// What a call returns.
pub type Result<T> = core::result::Result<T, Error>;

fn call(number: u64, arguments: [u64; 5]) -> Result<(u64, u64)> {
    let [a0, a1, a2, a3, a4] = arguments;
    long_call(number, [a0, a1, a2, a3, a4, 0])
}

fn long_call(number: u64, arguments: [u64; 6]) -> Result<(u64, u64)> {
    let [mut a0, mut a1, a2, a3, a4, a5] = arguments;
    // SAFETY: a call changes these registers alone, and memory that its arguments name, which is the caller's.
    unsafe {
        asm!("ecall", inlateout("a0") a0, inlateout("a1") a1, in("a2") a2, in("a3") a3, in("a4") a4,
            in("a5") a5, in("a7") number, options(nostack));
    }
    match Error::from_register(a0) {
        Some(error) => Err(error),
        None => Ok((a0, a1)),
    }
}

fn root(of: RootCall, arguments: [u64; 5]) -> Result<u64> {
    call(of as u64, arguments).map(|(value, _)| value)
}

fn address<T>(of: &[T]) -> u64 {
    of.as_ptr().addr() as u64
}

/// What a client gets for an error of the kernel.
pub fn failure_of(error: Error) -> Failure {
    match error {
        Error::NoMemory => Failure::NoMemory,
        _ => Failure::Failed,
    }
}

/// A gate.
pub fn gate_create() -> Result<Capability> {
    root(RootCall::GateCreate, [0; 5])
}

/// A sender to a gate, with one credit.
pub fn gate_sender(gate: Capability, label: u64) -> Result<Capability> {
    root(RootCall::GateSender, [gate, label, 1, 0, 0])
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Its slot.
    pub slot: u64,
    /// Its bytes.
    pub size: u64,
    /// Its sender's label.
    pub label: u64,
    /// What it says.
    pub words: [u64; WORDS],
}

impl Message {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        let size = (self.size as usize).min(size_of_val(&self.words));
        // SAFETY: so many bytes of the words, each of which is a value of a byte.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr().cast(), size) }
    }
}

/// Waits for a message.
pub fn gate_receive(gate: Capability) -> Result<Message> {
    let mut words = [0_u64; WORDS];
    let buffer = words.as_mut_ptr().addr() as u64;
    let arguments = [gate, buffer, FOR_EVER, 0, 0];
    let (taken, label) = call(RootCall::GateReceive as u64, arguments)?;
    Ok(Message {
        slot: taken & 0xff,
        size: taken >> 8,
        label,
        words,
    })
}

/// Answers a message, and waits for the next one of the gate.
pub fn gate_answer_receive(gate: Capability, slot: u64, answer: &[u64]) -> Result<Message> {
    let mut words = [0_u64; WORDS];
    let buffer = words.as_mut_ptr().addr() as u64;
    let size = size_of_val(answer) as u64;
    let arguments = [gate, slot, address(answer), size, buffer, FOR_EVER];
    let (taken, label) = long_call(RootCall::GateAnswerReceive as u64, arguments)?;
    Ok(Message {
        slot: taken & 0xff,
        size: taken >> 8,
        label,
        words,
    })
}

/// Answers a message.
pub fn gate_answer(gate: Capability, slot: u64, words: &[u64]) -> Result<()> {
    let size = size_of_val(words) as u64;
    root(RootCall::GateAnswer, [gate, slot, address(words), size, 0])?;
    Ok(())
}

/// Gives a gate a name. The label is 0.
pub fn service_create(gate: Capability, name: &[u8]) -> Result<Capability> {
    let size = name.len() as u64;
    root(RootCall::ServiceCreate, [gate, address(name), size, 0, 0])
}

/// Gives a capability to the client of a session.
pub fn session_give(session: Capability, what: Capability) -> Result<u64> {
    root(RootCall::SessionGive, [session, what, 0, 0, 0])
}

/// A view of memory.
pub fn view_create(memory: Capability) -> Result<Capability> {
    root(RootCall::ViewCreate, [memory, 0, 0, 0, 0])
}

/// A view shows a range.
pub fn view_set(view: Capability, (offset, size): (u64, u64), rights: u64) -> Result<()> {
    root(RootCall::ViewSet, [view, offset, size, rights, 0])?;
    Ok(())
}

/// Memory of the first tile of memory that has so much.
pub fn tile_memory(size: u64) -> Result<Capability> {
    let mut from = 0;
    loop {
        let tile = root(RootCall::TileFind, [0, 0, from, 0, 0])?;
        match root(RootCall::TileMemory, [tile, size, 0, 0, 0]) {
            Err(Error::NoMemory) => from = tile + 1,
            taken => return taken,
        }
    }
}

/// A part of memory.
pub fn narrow(memory: Capability, (offset, size): (u64, u64), rights: u64) -> Result<Capability> {
    root(
        RootCall::CapabilityNarrow,
        [memory, offset, size, rights, 0],
    )
}

/// Takes a capability away.
pub fn revoke(capability: Capability) {
    // It may be gone already.
    let _: Result<u64> = root(RootCall::CapabilityRevoke, [capability, 0, 0, 0, 0]);
}

/// What one call copies.
const MOST_COPIED: usize = 64 << 10;

/// Copies from memory of a tile.
pub fn load(memory: Capability, offset: u64, to: &mut [u8]) -> Result<()> {
    let mut at = offset;
    for part in to.chunks_mut(MOST_COPIED) {
        let size = part.len() as u64;
        let buffer = part.as_mut_ptr().addr() as u64;
        root(RootCall::TileLoad, [memory, at, buffer, size, 0])?;
        at += size;
    }
    Ok(())
}

/// Copies to memory of a tile.
pub fn store(memory: Capability, offset: u64, from: &[u8]) -> Result<()> {
    let mut at = offset;
    for part in from.chunks(MOST_COPIED) {
        let size = part.len() as u64;
        root(RootCall::TileStore, [memory, at, address(part), size, 0])?;
        at += size;
    }
    Ok(())
}

/// The archive that the machine has started with.
pub fn archive() -> Result<&'static [u8]> {
    let (at, size) = call(Call::ArchiveMap as u64, [0; 5])?;
    // SAFETY: the kernel has mapped it for loads, and nobody changes it.
    Ok(unsafe { core::slice::from_raw_parts(at as *const u8, size as usize) })
}

/// Writes to the console.
pub fn console_write(text: &[u8]) {
    let arguments = [address(text), text.len() as u64, 0, 0, 0];
    let _: Result<(u64, u64)> = call(Call::ConsoleWrite as u64, arguments);
}

/// Waits for input of the console. Returns how many bytes.
pub fn console_read(to: &mut [u8]) -> Result<usize> {
    let arguments = [
        to.as_mut_ptr().addr() as u64,
        to.len() as u64,
        FOR_EVER,
        0,
        0,
    ];
    call(Call::ConsoleRead as u64, arguments).map(|(size, _)| size as usize)
}

/// Waits until somebody wakes those who wait on a word that has this value.
pub fn wait_on(word: &AtomicU32, value: u32) {
    let at = core::ptr::from_ref(word).addr() as u64;
    let arguments = [at, value.into(), FOR_EVER, 0, 0];
    let _: Result<(u64, u64)> = call(Call::ThreadWaitOn as u64, arguments);
}

/// Wakes one of these.
pub fn wake_on(word: &AtomicU32) {
    let at = core::ptr::from_ref(word).addr() as u64;
    let _: Result<(u64, u64)> = call(Call::ThreadWakeOn as u64, [at, 1, 0, 0, 0]);
}

/// Waits for some ticks of the clock.
pub fn sleep(ticks: u64) {
    let now: u64;
    // SAFETY: it reads the clock.
    unsafe { asm!("rdtime {}", out(reg) now, options(nomem, nostack)) };
    let _: Result<(u64, u64)> = call(Call::ThreadSleep as u64, [now + ticks, 0, 0, 0, 0]);
}

/// Others may run.
pub fn give_way() {
    let _: Result<(u64, u64)> = call(Call::ThreadYield as u64, [0; 5]);
}

/// A thread more, with the end of its stack.
pub fn thread_create(entry: u64, argument: u64, stack: u64) -> Result<()> {
    let arguments = [entry, argument, stack, 0, NORMAL_PRIORITY];
    call(Call::ThreadCreate as u64, arguments).map(|_| ())
}

/// The program ends.
pub fn end(status: u64) -> ! {
    loop {
        let _: Result<(u64, u64)> = call(Call::ProcessEnd as u64, [0, status, 0, 0, 0]);
    }
}
