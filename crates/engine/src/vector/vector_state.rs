//! Vector registers, `vl`, `vtype` and the other vector CSRs (ISA manual, chapter "V", sections
//! "Implementation-defined Constant Parameters" and "Vector Extension Programmer's Model").

/// Bytes of the 32 registers at the greatest VLEN.
const BYTES: usize = 32 * 4096 / 8;
const WORDS: usize = BYTES / 8;

/// `vtype` with nothing but vill set.
pub(super) const VILL: u64 = 1 << 63;

/// The vector state of a hart, with ELEN 64.
///
/// It has 16 KiB: it lives on the heap, and the hart's core points to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorState {
    /// Register n begins at byte n × VLEN / 8, so that the registers of a group are one array.
    words: [u64; WORDS],
    vlenb: u32,
    pub(super) vl: u64,
    pub(super) vtype: u64,
    pub(super) vstart: u64,
    pub(super) vxrm: u8,
    pub(super) vxsat: bool,
    /// The access that is being made is a fault-only-first load's, of an element behind the first.
    pub(super) trims: bool,
    /// See [`VectorState::caller`].
    caller: usize,
}

impl VectorState {
    /// All registers zero, and `vtype` illegal; `None` unless `vlen` is a power of two from 128 to
    /// 4096 (bits).
    pub fn new(vlen: u32) -> Option<Box<Self>> {
        is_valid(vlen).then(|| {
            Box::new(Self {
                words: [0; WORDS],
                vlenb: vlen / 8,
                vl: 0,
                vtype: VILL,
                vstart: 0,
                vxrm: 0,
                vxsat: false,
                trims: false,
                caller: 0,
            })
        })
    }

    /// Makes a state at `place`, with the type of elements that [`VectorState::begin_anew`] chooses;
    /// false unless `vlen` is as [`VectorState::new`] wants it. Only those bytes are written that
    /// registers of this size take.
    ///
    /// # Safety
    /// `place` is valid for writes, and its bytes have some value.
    pub unsafe fn make_at(place: *mut Self, vlen: u32) -> bool {
        if !is_valid(vlen) {
            return false;
        }
        // SAFETY: by contract; each field is written, or is of integers that have some value.
        unsafe {
            let words = (&raw mut (*place).words).cast::<u64>();
            words.write_bytes(0, 32 * vlen as usize / 64);
            (&raw mut (*place).vlenb).write(vlen / 8);
            (&raw mut (*place).vl).write(0);
            (&raw mut (*place).vtype).write(VILL);
            (&raw mut (*place).vxrm).write(0);
            (&raw mut (*place).vxsat).write(false);
            (&raw mut (*place).vstart).write(0);
            (&raw mut (*place).trims).write(false);
            (&raw mut (*place).caller).write(0);
            (*place).begin_anew();
        }
        true
    }

    /// Makes the state fit for code that begins to use it: `vstart` is 0 (psABI, "Vector Register
    /// Convention"). Where `vtype` is illegal, it becomes a legal one, so that moves of whole registers
    /// in front of the first `vsetvl` are legal, too.
    pub fn begin_anew(&mut self) {
        self.begin_element(0, false);
        self.set_caller(0);
        if self.vtype == VILL {
            self.configure(0, 0);
        }
    }

    /// What the code that executes an instruction by
    /// [`execute_alone`](super::execute_alone) has noted for handlers of its faults; 0: there is
    /// no such instruction.
    pub fn caller(&self) -> usize {
        // SAFETY: a valid place of this value.
        unsafe { (&raw const self.caller).read_volatile() }
    }

    /// Replaces [`VectorState::caller`]: in memory, before what comes behind it.
    #[inline(always)]
    pub fn set_caller(&mut self, caller: usize) {
        // SAFETY: a valid place of this value.
        unsafe { (&raw mut self.caller).write_volatile(caller) };
    }

    /// Bits of a register.
    pub fn vlen(&self) -> u32 {
        self.vlenb * 8
    }

    /// The bytes of register `n`, of the 32.
    pub fn register(&self, n: usize) -> impl Iterator<Item = u8> + '_ {
        (0..u64::from(self.vlenb)).map(move |at| self.get(n as u32 & 31, at, BYTE) as u8)
    }

    /// Replaces the low bytes of register `n`, of the 32; what is too long is ignored.
    pub fn set_register(&mut self, n: usize, bytes: &[u8]) {
        for (&byte, at) in bytes.iter().zip(0..u64::from(self.vlenb)) {
            self.set(n as u32 & 31, at, BYTE, u64::from(byte));
        }
    }

    /// The number of elements that instructions change.
    pub fn vl(&self) -> u64 {
        self.vl
    }

    /// The type of elements, as the CSR shows it.
    pub fn vtype(&self) -> u64 {
        self.vtype
    }

    /// Bits of an element, as `vtype` has them.
    pub fn element_bits(&self) -> u64 {
        8 << (self.vtype >> 3 & 7)
    }

    /// The element with which the next instruction begins. After a fault: the one that faulted.
    pub fn vstart(&self) -> u64 {
        self.vstart
    }

    /// Ends the instruction with the elements before the one that it accesses, if that is an element of
    /// a fault-only-first load behind the first, and says so. The hart goes on behind it.
    pub fn trim(&mut self) -> bool {
        let trims = core::mem::take(&mut self.trims);
        if trims {
            self.vl = core::mem::take(&mut self.vstart);
        }
        trims
    }

    pub(super) fn vlenb(&self) -> u32 {
        self.vlenb
    }

    /// Makes `vstart` right for an access that may be a signal: before it, in memory.
    #[inline(always)]
    pub(super) fn begin_element(&mut self, vstart: u64, trims: bool) {
        // SAFETY: valid places of this value.
        unsafe {
            (&raw mut self.vstart).write_volatile(vstart);
            (&raw mut self.trims).write_volatile(trims);
        }
    }

    /// Place of an element, whose width is a power of two of bytes: word, and shift in it. The
    /// mask has no effect on legal instructions.
    #[inline(always)]
    fn place(&self, register: u32, index: u64, width: u32) -> (usize, u32) {
        let byte = u64::from(register * self.vlenb) + (index << (width - BYTE));
        ((byte >> 3) as usize & (WORDS - 1), (byte as u32 & 7) * 8)
    }

    /// Element `index` of the group at `register`, zero-extended; elements have 2^`width` bits.
    #[inline(always)]
    pub(super) fn get(&self, register: u32, index: u64, width: u32) -> u64 {
        let (word, shift) = self.place(register, index, width);
        self.words[word] >> shift & ones(width)
    }

    /// The same, sign-extended.
    #[inline(always)]
    pub(super) fn get_signed(&self, register: u32, index: u64, width: u32) -> i64 {
        sign_extended(self.get(register, index, width), width)
    }

    /// Replaces the element by the low bits of `value`.
    #[inline(always)]
    pub(super) fn set(&mut self, register: u32, index: u64, width: u32, value: u64) {
        let (word, shift) = self.place(register, index, width);
        let ones = ones(width);
        self.words[word] = self.words[word] & !(ones << shift) | (value & ones) << shift;
    }

    /// Bit `index` of a mask register.
    #[inline(always)]
    pub(super) fn bit(&self, register: u32, index: u64) -> bool {
        let (word, shift) = self.place(register, index >> 3, BYTE);
        self.words[word] >> shift >> (index & 7) & 1 != 0
    }

    /// Replaces the bit.
    #[inline(always)]
    pub(super) fn set_bit(&mut self, register: u32, index: u64, value: bool) {
        let (word, shift) = self.place(register, index >> 3, BYTE);
        let shift = shift + (index & 7) as u32;
        self.words[word] = self.words[word] & !(1 << shift) | u64::from(value) << shift;
    }

    /// Is the element executed: no mask, or its bit set?
    #[inline(always)]
    pub(super) fn is_active(&self, word: super::Word, index: u64) -> bool {
        word.vm() || self.bit(0, index)
    }
}

/// Is there such a VLEN?
fn is_valid(vlen: u32) -> bool {
    vlen.is_power_of_two() && (128..=4096).contains(&vlen)
}

/// Logarithms of the element widths in bits.
pub(super) const BYTE: u32 = 3;
pub(super) const HALF: u32 = 4;
pub(super) const SINGLE: u32 = 5;
pub(super) const DOUBLE: u32 = 6;

/// All ones in 2^`width` bits.
#[inline(always)]
pub(super) fn ones(width: u32) -> u64 {
    u64::MAX >> (64 - (1 << width))
}

/// The number in the low 2^`width` bits.
#[inline(always)]
pub(super) fn sign_extended(value: u64, width: u32) -> i64 {
    let shift = 64 - (1 << width);
    (value << shift) as i64 >> shift
}
