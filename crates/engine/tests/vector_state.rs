//! Vector instructions beyond what `vector_differential` compares: faults and `vstart`,
//! fault-only-first loads, harts without vectors, and long vectors by their properties.

use std::cell::{Cell, RefCell};

use flick_engine::vector::VectorState;
use flick_engine::{
    AmoOp, Cause, CodeRegion, Exit, Hart, Memory, NoObserver, ProcessCore, Trap, Unlimited, run,
};

const BASE: u64 = 0x8000_0000;
const SIZE: u64 = 0x10_0000;

/// RAM at [`BASE`], of which only a part can be accessed.
struct Ram {
    bytes: RefCell<Vec<u8>>,
    /// Addresses from here on fault.
    end: Cell<u64>,
}

impl Ram {
    fn new() -> Self {
        Self {
            bytes: RefCell::new((0..SIZE).map(|n| (n * 7 + (n >> 8)) as u8).collect()),
            end: Cell::new(BASE + SIZE),
        }
    }

    fn place(&self, addr: u64, len: u64, cause: Cause) -> Result<usize, Trap> {
        let fits = addr >= BASE && addr + len <= self.end.get();
        fits.then_some((addr - BASE) as usize)
            .ok_or(Trap { cause, addr })
    }

    fn read<const N: usize>(&self, addr: u64) -> Result<[u8; N], Trap> {
        let at = self.place(addr, N as u64, Cause::LoadPage)?;
        let mut value = [0; N];
        value.copy_from_slice(&self.bytes.borrow()[at..at + N]);
        Ok(value)
    }

    fn write(&self, addr: u64, value: &[u8]) -> Result<(), Trap> {
        let at = self.place(addr, value.len() as u64, Cause::StorePage)?;
        self.bytes.borrow_mut()[at..at + value.len()].copy_from_slice(value);
        Ok(())
    }
}

impl Memory for Ram {
    type Fault = Trap;

    fn load8(&self, addr: u64) -> Result<u8, Trap> {
        self.read(addr).map(u8::from_le_bytes)
    }
    fn load16(&self, addr: u64) -> Result<u16, Trap> {
        self.read(addr).map(u16::from_le_bytes)
    }
    fn load32(&self, addr: u64) -> Result<u32, Trap> {
        self.read(addr).map(u32::from_le_bytes)
    }
    fn load64(&self, addr: u64) -> Result<u64, Trap> {
        self.read(addr).map(u64::from_le_bytes)
    }
    fn store8(&self, addr: u64, value: u8) -> Result<(), Trap> {
        self.write(addr, &value.to_le_bytes())
    }
    fn store16(&self, addr: u64, value: u16) -> Result<(), Trap> {
        self.write(addr, &value.to_le_bytes())
    }
    fn store32(&self, addr: u64, value: u32) -> Result<(), Trap> {
        self.write(addr, &value.to_le_bytes())
    }
    fn store64(&self, addr: u64, value: u64) -> Result<(), Trap> {
        self.write(addr, &value.to_le_bytes())
    }
    fn amo32(&self, addr: u64, _: AmoOp, _: u32) -> Result<u32, Trap> {
        self.load32(addr)
    }
    fn amo64(&self, addr: u64, _: AmoOp, _: u64) -> Result<u64, Trap> {
        self.load64(addr)
    }
    fn compare_exchange32(&self, _: u64, _: u32, _: u32) -> Result<bool, Trap> {
        Ok(false)
    }
    fn compare_exchange64(&self, _: u64, _: u64, _: u64) -> Result<bool, Trap> {
        Ok(false)
    }
    fn fence(&self) {}
}

/// A hart and its RAM.
struct Machine {
    ram: Ram,
    state: Box<VectorState>,
    hart: Hart,
}

impl Machine {
    fn new(vlen: u32) -> Self {
        let mut machine = Self {
            ram: Ram::new(),
            state: VectorState::new(vlen).expect("a VLEN that there is"),
            hart: Hart::ZERO,
        };
        for n in 0..32 {
            let bytes: Vec<u8> = (0..vlen / 8).map(|at| (at * 13 + n * 5) as u8).collect();
            machine.state.set_register(n as usize, &bytes);
        }
        machine
    }

    fn run(&mut self, words: &[u32]) -> (Exit, u64) {
        let mut code = words.to_vec();
        code.push(0x8067);
        let len = size_of_val(&code[..]) as u64;
        // SAFETY: the code outlives the region and does not change.
        let region = unsafe { CodeRegion::new(code.as_ptr() as u64, len) };
        self.hart.pc = region.base();
        let mut core = ProcessCore::new(&self.ram, &region).with_vectors(&mut self.state);
        let exit = run(&mut self.hart, &mut core, &mut NoObserver, &mut Unlimited);
        (exit, self.hart.pc.wrapping_sub(region.base()))
    }

    /// vl and vtype, by `vsetvl x5, x5, x6`.
    fn configure(&mut self, avl: u64, vtype: u64) -> u64 {
        (self.hart.x[5], self.hart.x[6]) = (avl, vtype);
        assert_eq!(self.run(&[0x8062_f2d7]).0, Exit::Leave);
        self.hart.x[5]
    }

    fn executes(&mut self, word: u32) {
        assert_eq!(self.run(&[word]).0, Exit::Leave, "{word:#010x}");
    }

    fn register(&self, n: usize) -> Vec<u8> {
        self.state.register(n).collect()
    }

    /// Elements of `N` bytes of a group.
    fn group<const N: usize>(&self, n: usize, registers: usize) -> Vec<[u8; N]> {
        let bytes: Vec<u8> = (n..n + registers).flat_map(|n| self.register(n)).collect();
        bytes.as_chunks::<N>().0.to_vec()
    }
}

const E8: u64 = 0;
const E16: u64 = 1 << 3;
const E32: u64 = 2 << 3;
const E64: u64 = 3 << 3;
const M8: u64 = 3;

#[test]
fn vlen_is_a_power_of_two_from_128_to_4096() {
    for vlen in [128, 256, 512, 1024, 2048, 4096] {
        let state = VectorState::new(vlen).expect("a VLEN that there is");
        assert_eq!((state.vlen(), state.vl()), (vlen, 0));
        assert_eq!(state.vtype(), 1 << 63);
    }
    for vlen in [0, 64, 129, 192, 8192, u32::MAX] {
        assert!(VectorState::new(vlen).is_none(), "{vlen}");
    }
}

#[test]
fn without_vectors_everything_is_illegal() {
    let ram = Ram::new();
    for bits in [
        0xcd02_7557_u32, // vsetivli a0, 4, e32, m1, ta, ma
        0x0285_0457,     // vadd.vv v8, v8, v10
        0x0205_6407,     // vle32.v v8, (a0)
        0x0205_6427,     // vse32.v v8, (a0)
        0xc220_2573,     // csrr a0, vlenb
        0x0080_2573,     // csrr a0, vstart
    ] {
        let code = [bits, 0x8067];
        // SAFETY: the code outlives the region and does not change.
        let region = unsafe { CodeRegion::new(code.as_ptr() as u64, 8) };
        let mut hart = Hart::ZERO;
        hart.pc = region.base();
        let mut core = ProcessCore::new(&ram, &region);
        let exit = run(&mut hart, &mut core, &mut NoObserver, &mut Unlimited);
        assert_eq!(exit, Exit::Illegal { bits });
        assert_eq!(hart.pc, region.base());
    }
}

#[test]
fn read_only_registers_are_not_written() {
    let mut machine = Machine::new(256);
    machine.configure(3, E32);
    machine.executes(0xc220_2573); // csrr a0, vlenb
    assert_eq!(machine.hart.x[10], 32);
    machine.executes(0xc200_2573); // csrr a0, vl
    assert_eq!(machine.hart.x[10], 3);
    for number in [0xc20, 0xc21, 0xc22] {
        // csrw, csrs x1, csrsi 1
        for word in [0x0005_1073, 0x0000_a073, 0x0000_e073] {
            let bits = word | number << 20;
            assert_eq!(machine.run(&[bits]), (Exit::Illegal { bits }, 0));
        }
    }
    // Bits that the registers do not have.
    machine.hart.x[10] = u64::MAX;
    machine.executes(0x0085_1073); // csrw vstart, a0
    machine.executes(0x00f5_1073); // csrw vcsr, a0
    machine.executes(0x0080_2573);
    assert_eq!(machine.hart.x[10], 255);
    machine.executes(0x00f0_2573);
    assert_eq!(machine.hart.x[10], 7);
    machine.executes(0x00a0_2573); // csrr a0, vxrm
    assert_eq!(machine.hart.x[10], 3);
    machine.executes(0x0090_5073); // csrwi vxsat, 0
    machine.executes(0x00f0_2573);
    assert_eq!(machine.hart.x[10], 6);
}

/// Loads and stores of which an element faults: name, word, vtype, stride or width of indices,
/// bytes of a segment.
const ACCESSES: [(&str, u32, u64, u64, u64); 13] = [
    ("vle8.v v8, (a0)", 0x0205_0407, E8 | M8, 1, 1),
    ("vle32.v v8, (a0)", 0x0205_6407, E32 | M8, 4, 4),
    ("vle64.v v8, (a0)", 0x0205_7407, E64 | M8, 8, 8),
    ("vle32.v v8, (a0), v0.t", 0x0005_6407, E32 | M8, 4, 4),
    ("vlse16.v v8, (a0), a1", 0x0ab5_5407, E16 | M8, 10, 2),
    ("vlseg3e16.v v8, (a0)", 0x4205_5407, E16 | 1, 6, 6),
    ("vluxei16.v v8, (a0), v16", 0x0705_5407, E16 | M8, 2, 2),
    ("vse8.v v8, (a0)", 0x0205_0427, E8 | M8, 1, 1),
    ("vse64.v v8, (a0), v0.t", 0x0005_7427, E64 | M8, 8, 8),
    ("vsse16.v v8, (a0), a1", 0x0ab5_5427, E16 | M8, 10, 2),
    ("vsseg3e16.v v8, (a0)", 0x4205_5427, E16 | 1, 6, 6),
    ("vsoxei16.v v8, (a0), v16", 0x0f05_5427, E16 | M8, 2, 2),
    ("vsuxei16.v v8, (a0), v16", 0x0705_5427, E16 | M8, 2, 2),
];

/// At every element: the fault is at its address, vstart has its number, what is before it is done
/// and what is behind it is not; and the instruction goes on to what it would have been.
#[test]
fn an_access_that_faults_goes_on_at_its_element() {
    for vlen in [128, 1024, 4096] {
        for (name, word, vtype, stride, bytes) in ACCESSES {
            let prepared = || {
                let mut machine = Machine::new(vlen);
                let vl = machine.configure(u64::MAX, vtype);
                // Indices that grow: a multiple of the number of the element.
                let indices: Vec<u8> = (0..vl)
                    .flat_map(|n| ((n * stride) as u16).to_le_bytes())
                    .collect();
                for (n, bytes) in indices.chunks(vlen as usize / 8).enumerate().take(8) {
                    machine.state.set_register(16 + n, bytes);
                }
                machine.hart.x[10] = BASE + 0x1000;
                machine.hart.x[11] = stride;
                (machine, vl)
            };
            let (mut whole, vl) = prepared();
            whole.executes(word);
            assert_eq!(whole.state.vstart(), 0, "{name}");
            let is_store = word & 0x7f == 0x27;
            for element in (0..vl).step_by(1 + vl as usize / 23).chain([vl - 1]) {
                let (mut machine, _) = prepared();
                let before: Vec<_> = (0..32).map(|n| machine.register(n)).collect();
                let is_active = word >> 25 & 1 != 0
                    || before[0][element as usize / 8] >> (element % 8) & 1 != 0;
                if !is_active {
                    continue;
                }
                // The last byte of the segment is the first that cannot be accessed.
                let segment = BASE + 0x1000 + element * stride;
                machine.ram.end.set(segment + bytes - 1);
                let (exit, at) = machine.run(&[word]);
                let Exit::Trap(trap) = exit else {
                    panic!("{name}: {exit:?}");
                };
                let cause = match is_store {
                    true => Cause::StorePage,
                    false => Cause::LoadPage,
                };
                assert_eq!((trap.cause, at), (cause, 0), "{name}");
                assert!((segment..segment + bytes).contains(&trap.addr), "{name}");
                assert_eq!(machine.state.vstart(), element, "{name}");
                assert_eq!(machine.state.vl(), vl, "{name}");
                let after: Vec<_> = (0..32).map(|n| machine.register(n)).collect();
                if is_store {
                    assert_eq!(before, after, "{name}");
                } else if word >> 29 == 0 {
                    let width = bytes as usize;
                    let vlenb = vlen as usize / 8;
                    let flat = |state: &[Vec<u8>]| state[8..16].concat();
                    let (old, new) = (flat(&before), flat(&after));
                    let done = flat(&(0..32).map(|n| whole.register(n)).collect::<Vec<_>>());
                    let split = element as usize * width;
                    assert_eq!(new[..split], done[..split], "{name} {element}");
                    assert_eq!(new[split..8 * vlenb], old[split..], "{name} {element}");
                }
                machine.ram.end.set(BASE + SIZE);
                machine.executes(word);
                assert!(machine.state == whole.state, "{name} {element}");
                let same = *machine.ram.bytes.borrow() == *whole.ram.bytes.borrow();
                assert!(same, "{name} {element}");
            }
        }
    }
}

#[test]
fn whole_registers_and_masks_go_on_too() {
    // vl2re32.v v8, (a0); vs2r.v v8, (a0); vlm.v v8, (a0); vsm.v v8, (a0)
    for (word, width, elements) in [
        (0x2285_6407, 4, 64),
        (0x2285_0427, 1, 256),
        (0x02b5_0407, 1, 19),
        (0x02b5_0427, 1, 19),
    ] {
        let prepared = || {
            let mut machine = Machine::new(1024);
            machine.configure(150, E8 | M8);
            machine.hart.x[10] = BASE + 0x1000;
            machine
        };
        let mut whole = prepared();
        whole.executes(word);
        for element in 0..elements {
            let mut machine = prepared();
            machine.ram.end.set(BASE + 0x1000 + element * width);
            assert!(matches!(machine.run(&[word]).0, Exit::Trap(_)));
            assert_eq!(machine.state.vstart(), element, "{word:#x}");
            machine.ram.end.set(BASE + SIZE);
            machine.executes(word);
            assert!(machine.state == whole.state, "{word:#x} {element}");
        }
        // No more than the elements.
        let mut machine = prepared();
        machine.ram.end.set(BASE + 0x1000 + elements * width);
        machine.executes(word);
        assert!(machine.state == whole.state, "{word:#x}");
    }
}

#[test]
fn fault_only_first_trims() {
    let load = 0x0305_6407; // vle32ff.v v8, (a0)
    let masked = 0x0105_6407; // vle32ff.v v8, (a0), v0.t
    let segments = 0x2305_6407; // vlseg2e32ff.v v8, (a0)
    for (word, bytes) in [(load, 4), (masked, 4), (segments, 8)] {
        let is_masked = word == masked;
        for element in 0..32 {
            let mut machine = Machine::new(1024);
            machine.state.set_register(0, &[0x6b; 128]);
            assert_eq!(machine.configure(u64::MAX, E32), 32);
            machine.hart.x[10] = BASE;
            machine.ram.end.set(BASE + element * bytes);
            let before = machine.register(8);
            let (exit, at) = machine.run(&[word]);
            let is_active = |n: u64| !is_masked || 0x6b >> (n % 8) & 1 != 0;
            // The first active one that faults.
            let faults = (element..32).find(|&n| is_active(n));
            let vl = match faults {
                Some(0) => {
                    let trap = Trap {
                        cause: Cause::LoadPage,
                        addr: BASE,
                    };
                    assert_eq!((exit, at), (Exit::Trap(trap), 0));
                    assert_eq!((machine.state.vl(), machine.state.vstart()), (32, 0));
                    continue;
                }
                Some(n) => n,
                None => 32,
            };
            assert_eq!(exit, Exit::Leave);
            assert_eq!((machine.state.vl(), machine.state.vstart()), (vl, 0));
            // csrr a0, vl
            machine.executes(0xc200_2573);
            assert_eq!(machine.hart.x[10], vl);
            let split = vl as usize * 4;
            assert_eq!(machine.register(8)[split..], before[split..]);
            assert!(!machine.state.trim(), "no access is being made");
        }
    }
    // The first element, masked off, does not fault; the second trims.
    let mut machine = Machine::new(128);
    machine.state.set_register(0, &[0x6e; 16]);
    machine.configure(4, E32);
    machine.hart.x[10] = BASE;
    machine.ram.end.set(BASE);
    machine.executes(masked);
    assert_eq!(machine.state.vl(), 1);
}

/// More elements than qemu has, by what instructions do together.
#[test]
fn long_vectors_keep_their_properties() {
    for vlen in [128, 1024, 2048, 4096] {
        let mut machine = Machine::new(vlen);
        let vl = machine.configure(u64::MAX, E16 | M8);
        assert_eq!(vl, u64::from(vlen) / 2);
        let numbers: Vec<u16> = (0..vl as u16).collect();
        let elements = |machine: &Machine, n| -> Vec<u16> {
            let group = machine.group::<2>(n, 8);
            group.into_iter().map(u16::from_le_bytes).collect()
        };
        machine.executes(0x5208_a457); // vid.v v8
        assert_eq!(elements(&machine, 8), numbers);
        // The sum of them: vmv.s.x v1, x0; vwredsumu.vs v1, v8, v1 into 32 bits.
        machine.configure(1, E32);
        machine.executes(0x4200_60d7);
        machine.configure(u64::MAX, E16 | M8);
        machine.executes(0xc280_80d7);
        let sum = u32::from_le_bytes(machine.group::<4>(1, 1)[0]);
        assert_eq!(u64::from(sum), vl * (vl - 1) / 2);
        // Reversed twice: vrsub.vx v16, v8, a0; vrgather.vv v24, v8, v16.
        machine.hart.x[10] = vl - 1;
        machine.executes(0x0e85_4857);
        machine.executes(0x3288_0c57);
        let reversed: Vec<u16> = numbers.iter().rev().copied().collect();
        assert_eq!(elements(&machine, 24), reversed);
        machine.executes(0x3388_0457); // vrgather.vv v8, v24, v16
        assert_eq!(elements(&machine, 8), numbers);
    }
}

/// Bits of masks beyond those that qemu has.
#[test]
fn long_masks() {
    let mut machine = Machine::new(4096);
    let vl = machine.configure(u64::MAX, E8 | M8);
    assert_eq!(vl, 4096);
    for bit in [0, 1, 63, 64, 1023, 1024, 2049, 4095] {
        let mut bytes = vec![0; 512];
        bytes[bit / 8] = 1 << (bit % 8);
        machine.state.set_register(1, &bytes);
        machine.executes(0x4218_a557); // vfirst.m a0, v1
        assert_eq!(machine.hart.x[10], bit as u64);
        machine.executes(0x4218_2557); // vcpop.m a0, v1
        assert_eq!(machine.hart.x[10], 1);
        machine.executes(0x5210_a157); // vmsbf.m v2, v1
        machine.executes(0x4228_2557); // vcpop.m a0, v2
        assert_eq!(machine.hart.x[10], bit as u64);
    }
}
