//! Faults of requests to a disk, as a driver on a machine sees them, also when the machine goes on from
//! snapshots.
mod bare_program;

use bare_program::build;
use flick_device::virtio::{MemoryImage, Overlay};
use flick_machine::snapshot::{Snapshot, read_snapshot, write_snapshot};
use flick_machine::{BlockDisk, Console, End, Files, Machine, System, boot};
use flick_timing::{faults, machine};

/// A driver of the first disk: it writes and reads sectors, and prints the status of each request, the
/// first byte, and the time in steps of 10 us. A request without an answer has the status `-`.
const DRIVER: &str = r#"
static volatile unsigned *const disk = (unsigned *)0x10001000;
struct part { unsigned long address; unsigned length; unsigned short flags, next; };
static struct { volatile struct part parts[16]; struct { volatile unsigned short flags, index, ring[16]; } available; } queue __attribute__((aligned(4096)));
static struct { volatile unsigned short flags, index; struct { volatile unsigned id, length; } ring[16]; } used __attribute__((aligned(4096)));
static struct { unsigned kind, zero; unsigned long sector; } header;
static unsigned char data[512];
static volatile unsigned char status;
static unsigned long now(void) { return *(volatile unsigned long *)0x200bff8; }
static void request(unsigned kind, unsigned long sector, int byte) {
  header.kind = kind;
  header.sector = sector;
  for (int i = 0; i < 512; i++) data[i] = byte;
  status = 0xff;
  queue.parts[0] = (struct part){(unsigned long)&header, 16, 1, 1};
  queue.parts[1] = (struct part){(unsigned long)data, 512, kind ? 1 : 3, 2};
  queue.parts[2] = (struct part){(unsigned long)&status, 1, 2, 0};
  queue.available.ring[queue.available.index % 16] = 0;
  unsigned before = used.index;
  unsigned long start = now();
  __asm__ volatile("fence" ::: "memory");
  queue.available.index++;
  __asm__ volatile("fence" ::: "memory");
  disk[0x50 / 4] = 0;
  while (used.index == before && now() < start + 3000) ;
  __asm__ volatile("fence" ::: "memory");
  if (used.index == before) put('-'); else print_number(status);
  put(':');
  print_number(data[0]);
  put(':');
  print_number((now() - start) / 100);
  put(' ');
}
void program(long hart) {
  if (hart) for (;;) __asm__ volatile("wfi");
  disk[0x70 / 4] = 0;
  disk[0x70 / 4] = 3;
  disk[0x24 / 4] = 1;
  disk[0x20 / 4] = 1;
  disk[0x70 / 4] = 11;
  disk[0x30 / 4] = 0;
  disk[0x38 / 4] = 16;
  disk[0x80 / 4] = (unsigned long)queue.parts;
  disk[0x90 / 4] = (unsigned long)&queue.available;
  disk[0xa0 / 4] = (unsigned long)&used;
  disk[0x44 / 4] = 1;
  disk[0x70 / 4] = 15;
  request(0, 0, 1);
  request(1, 0, 2);
  request(0, 0, 3);
  request(1, 0, 4);
  request(0, 0, 5);
  request(0, 0, 6);
  end(0);
}
"#;

struct Printed(String);

impl Console for Printed {
    fn output(&mut self, bytes: &[u8]) {
        self.0.push_str(&String::from_utf8_lossy(bytes));
    }
}

/// What the driver prints with these faults. The machine is run once more by a snapshot's file after each
/// 30 us, each time on a machine of its own, and takes the same cycles.
fn printed(program: &[u8], faults: &str) -> String {
    let mut file: Option<Vec<u8>> = None;
    let mut all = Printed(String::new());
    let mut whole = None;
    for part in 0_u64.. {
        let settings = ["harts=1".to_owned(), "memory=16M".to_owned()];
        let virt = machine::Machine::load("virt", &settings).unwrap();
        let mut system = System::new(&virt).unwrap();
        let disk = BlockDisk {
            disk: Box::new(Overlay::new(MemoryImage(vec![7; 4096]))),
            is_read_only: false,
        };
        let board = system.board(vec![disk]).unwrap();
        let files = Files {
            firmware: program.to_vec(),
            ..Files::default()
        };
        let booted = boot(&mut system, &board, &files).unwrap();
        let mut machine = Machine::new(&board, &booted.harts, None);
        let faults = faults::parse("faults.toml", faults, &[("board", 4)]).unwrap();
        machine.inject(faults).unwrap();
        if part == 0 {
            let mut alone = Printed(String::new());
            assert_eq!(machine.run(&mut alone), End::Exit(0), "{}", alone.0);
            whole = Some((alone.0, machine.cycles()));
            continue;
        }
        if let Some(file) = &file {
            let snapshot = read_snapshot(file).unwrap().unpack(board.ram()).unwrap();
            snapshot.put(&mut machine).unwrap();
        }
        match machine.run_until(part * 30_000_000, &mut all) {
            None => {
                let identity = flick_machine::snapshot::RunIdentity::of(&machine, &[]);
                let mut next = vec![];
                write_snapshot(&mut next, &identity, &Snapshot::take(&machine, None)).unwrap();
                file = Some(next);
            }
            Some(end) => {
                assert_eq!(end, End::Exit(0));
                assert_eq!(whole, Some((all.0.clone(), machine.cycles())));
                break;
            }
        }
    }
    all.0
}

#[test]
fn a_driver_sees_the_faults_of_its_requests() {
    let program = build("disk_faults", DRIVER);
    let fault = |action: &str| {
        let text = format!("[[fault]]\nat = {{ time = \"0 s\" }}\ndo = \"{action}\n");
        printed(&program, &text)
    };
    // Without an effect: the third request reads what the second has written.
    let good = "0:7:0 0:2:0 0:2:0 0:4:0 0:4:0 0:4:0 ";
    assert_eq!(fault("repeat-request\"\nrequests = 6"), good);
    assert_eq!(
        fault("fail-request\"\nrequests = 2"),
        "1:1:0 1:2:0 0:7:0 0:4:0 0:4:0 0:4:0 "
    );
    assert_eq!(
        fault("delay-request\"\nby = \"50 us\"\nrequests = 2"),
        "0:7:5 0:2:5 0:2:0 0:4:0 0:4:0 0:4:0 "
    );
    // It is never answered, and what is behind it is.
    assert_eq!(
        fault("drop-request\""),
        "-:1:30 0:2:0 0:2:0 0:4:0 0:4:0 0:4:0 "
    );
    // In the middle of the run.
    let text = "[[fault]]\nat = { hart = 0, cycle = 60_000 }\ndo = \"corrupt-input\"\nbits = 1\n\
                [[fault]]\nat = { time = \"0 s\" }\ndo = \"delay-request\"\nby = \"100 us\"\n\
                [[fault]]\nat = { time = \"20 us\" }\ndo = \"fail-request\"\nrequests = 1\n";
    assert_eq!(
        printed(&program, text),
        "0:7:10 1:2:0 0:7:0 0:4:0 0:4:0 0:4:0 "
    );
}
