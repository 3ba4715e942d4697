//! QEMU beside the devices, for the tests that compare both.
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// QEMU with its protocol for tests of devices.
pub struct Qemu {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Qemu {
    pub fn start(options: &[&str]) -> Option<Self> {
        let process = Command::new("qemu-system-riscv64")
            .args([
                "-M", "virt", "-smp", "2", "-m", "64M", "-S", "-bios", "none",
            ])
            .args(["-display", "none", "-serial", "null", "-monitor", "none"])
            .args(["-rtc", "clock=vm,base=2020-01-01"])
            .args(["-qtest", "stdio", "-qtest-log", "none"])
            .args(["-global", "virtio-mmio.force-legacy=false"])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut process) = process else {
            eprintln!("qemu-system-riscv64 is not installed: nothing is compared");
            return None;
        };
        Some(Self {
            commands: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            process,
        })
    }

    pub fn command(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let result = answer.trim_end().strip_prefix("OK");
        let result = result.unwrap_or_else(|| panic!("{command}: {answer}"));
        result.trim().to_owned()
    }

    pub fn read(&mut self, address: u64, size: u32) -> u64 {
        let answer = self.command(&format!("read{} {address:#x}", letter(size)));
        u64::from_str_radix(answer.trim_start_matches("0x"), 16).unwrap()
    }

    pub fn write(&mut self, address: u64, size: u32, value: u64) {
        self.command(&format!("write{} {address:#x} {value:#x}", letter(size)));
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn letter(size: u32) -> char {
    match size {
        1 => 'b',
        2 => 'w',
        4 => 'l',
        _ => 'q',
    }
}

pub fn pick<T: Copy>(random: &mut Pcg64Mcg, from: &[T]) -> T {
    from[random.next_u32() as usize % from.len()]
}
