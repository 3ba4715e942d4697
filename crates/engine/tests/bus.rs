//! A second memory: a bounds-checked bus at guest addresses that are not the host's, with an
//! instruction budget. It shows that the traits carry what a device needs.

use std::cell::RefCell;

use flick_engine::{
    AmoOp, Cause, CodeRegion, Exit, Hart, InstructionBudget, Memory, NoObserver, Observer,
    ProcessCore, Trap, Unlimited, run,
};

const BASE: u64 = 0x8000_0000;

/// RAM at [`BASE`]; one hart only.
struct Bus {
    ram: RefCell<Vec<u8>>,
}

impl Bus {
    fn new(size: usize) -> Self {
        Self {
            ram: RefCell::new(vec![0; size]),
        }
    }

    fn access<R>(
        &self,
        addr: u64,
        len: u64,
        cause: Cause,
        f: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R, Trap> {
        let mut ram = self.ram.borrow_mut();
        let at = addr.wrapping_sub(BASE);
        match at.checked_add(len) {
            Some(end) if end <= ram.len() as u64 => Ok(f(&mut ram[at as usize..end as usize])),
            _ => Err(Trap { cause, addr }),
        }
    }

    fn read<const N: usize>(&self, addr: u64) -> Result<[u8; N], Trap> {
        self.access(addr, N as u64, Cause::LoadAccess, |bytes| {
            let mut value = [0; N];
            value.copy_from_slice(bytes);
            value
        })
    }

    fn write(&self, addr: u64, value: &[u8]) -> Result<(), Trap> {
        let len = value.len() as u64;
        self.access(addr, len, Cause::StoreAccess, |bytes| {
            bytes.copy_from_slice(value)
        })
    }
}

impl Memory for Bus {
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
    fn amo32(&self, addr: u64, op: AmoOp, operand: u32) -> Result<u32, Trap> {
        let old = self.load32(addr)?;
        self.store32(addr, op.apply32(old, operand))?;
        Ok(old)
    }
    fn amo64(&self, addr: u64, op: AmoOp, operand: u64) -> Result<u64, Trap> {
        let old = self.load64(addr)?;
        self.store64(addr, op.apply64(old, operand))?;
        Ok(old)
    }
    fn compare_exchange32(&self, addr: u64, old: u32, new: u32) -> Result<bool, Trap> {
        let same = self.load32(addr)? == old;
        if same {
            self.store32(addr, new)?;
        }
        Ok(same)
    }
    fn compare_exchange64(&self, addr: u64, old: u64, new: u64) -> Result<bool, Trap> {
        let same = self.load64(addr)? == old;
        if same {
            self.store64(addr, new)?;
        }
        Ok(same)
    }
    fn fence(&self) {}
}

/// Sums the doublewords from a0 up to a1 into a2: ld, add, addi, bne; ret.
const SUM: [u32; 5] = [
    0x0005_3683,
    0x00d6_0633,
    0x0085_0513,
    0xfeb5_1ae3,
    0x0000_8067,
];

const CODE_BASE: u64 = 0x1_0000;

fn region() -> CodeRegion {
    // SAFETY: a constant; the base is even.
    unsafe { CodeRegion::mapped(CODE_BASE, SUM.as_ptr().cast(), size_of_val(&SUM) as u64) }
}

fn summing(from: u64, to: u64) -> Hart {
    let mut hart = Hart {
        pc: CODE_BASE,
        ..Hart::ZERO
    };
    hart.x[1] = 0x4000_0001;
    hart.x[10] = from;
    hart.x[11] = to;
    hart
}

#[test]
fn runs_on_a_bus() {
    let bus = Bus::new(64);
    for i in 0..8 {
        bus.store64(BASE + 8 * i, i + 1).unwrap();
    }
    let mut hart = summing(BASE, BASE + 64);
    let code = region();
    let mut core = ProcessCore::counting(&bus, &code);
    assert_eq!(
        run(&mut hart, &mut core, &mut NoObserver, &mut Unlimited),
        Exit::Leave
    );
    assert_eq!(hart.x[12], 36);
    // The odd target of the return is kept.
    assert_eq!(hart.pc, 0x4000_0001);
    assert_eq!(core.instructions(), 4 * 8 + 1);
}

#[test]
fn a_refused_access_is_precise() {
    let bus = Bus::new(60);
    let mut hart = summing(BASE, BASE + 64);
    hart.x[13] = 77;
    let code = region();
    let mut core = ProcessCore::counting(&bus, &code);
    // The eighth doubleword is half outside.
    let trap = Trap {
        cause: Cause::LoadAccess,
        addr: BASE + 56,
    };
    assert_eq!(
        run(&mut hart, &mut core, &mut NoObserver, &mut Unlimited),
        Exit::Trap(trap)
    );
    assert_eq!((hart.pc, hart.x[10]), (CODE_BASE, BASE + 56));
    assert_eq!(hart.x[13], 0, "the last successful load");
    assert_eq!(core.instructions(), 4 * 7);
}

#[test]
fn a_budget_stops_and_execution_goes_on() {
    let bus = Bus::new(64);
    bus.store64(BASE, 5).unwrap();
    let mut hart = summing(BASE, BASE + 64);
    let mut stops = 0;
    loop {
        let mut budget = InstructionBudget { left: 3 };
        match run(
            &mut hart,
            &mut ProcessCore::new(&bus, &region()),
            &mut NoObserver,
            &mut budget,
        ) {
            Exit::Budget => {
                assert_eq!(budget.left, 0);
                stops += 1;
            }
            exit => {
                assert_eq!(exit, Exit::Leave);
                break;
            }
        }
    }
    // 33 instructions, the last of which leaves.
    assert_eq!((stops, hart.x[12]), (10, 5));
}

#[test]
fn code_in_the_ram_is_changed_by_the_guest() {
    // sw a1, 8(a0); fence.i; illegal; ret: what is stored is addi a2, a2, 5.
    const CODE: [u32; 4] = [0x00b5_2423, 0x0000_100f, 0, 0x0000_8067];
    let bus = Bus::new(16);
    for (at, word) in (BASE..).step_by(4).zip(CODE) {
        bus.store32(at, word).unwrap();
    }
    let bytes = bus.ram.borrow().as_ptr();
    assert!(bytes.addr().is_multiple_of(2));
    // SAFETY: the bus outlives the region; nothing but the guest changes it.
    let code = unsafe { CodeRegion::mapped(BASE, bytes, 16) };
    let mut hart = Hart::ZERO;
    hart.pc = BASE + 8;
    let mut nothing = NoObserver;
    let exit = run(
        &mut hart,
        &mut ProcessCore::new(&bus, &code),
        &mut nothing,
        &mut Unlimited,
    );
    assert_eq!(exit, Exit::Illegal { bits: 0 });
    hart.pc = BASE;
    hart.x[10] = BASE;
    hart.x[11] = 0x0056_0613;
    assert_eq!(
        run(
            &mut hart,
            &mut ProcessCore::new(&bus, &code),
            &mut nothing,
            &mut Unlimited
        ),
        Exit::Leave
    );
    assert_eq!(hart.x[12], 5);
}

/// Records the calls of its hooks.
#[derive(Default)]
struct Log(Vec<(char, u64, u64)>);

impl Observer for Log {
    fn load(&mut self, addr: u64, len: u64) {
        self.0.push(('l', addr, len));
    }
    fn branch(&mut self, pc: u64, _target: u64, taken: bool) {
        self.0.push(('b', pc, u64::from(taken)));
    }
    fn jump(&mut self, pc: u64, target: u64) {
        self.0.push(('j', pc, target));
    }
}

#[test]
fn an_observer_sees_accesses_and_control_flow() {
    let bus = Bus::new(16);
    let mut hart = summing(BASE, BASE + 16);
    let mut log = Log::default();
    assert_eq!(
        run(
            &mut hart,
            &mut ProcessCore::new(&bus, &region()),
            &mut log,
            &mut Unlimited
        ),
        Exit::Leave
    );
    let branch = CODE_BASE + 12;
    let wanted = [
        ('l', BASE, 8),
        ('b', branch, 1),
        ('l', BASE + 8, 8),
        ('b', branch, 0),
        ('j', branch + 4, 0x4000_0001),
    ];
    assert_eq!(log.0, wanted);
}
