//! SiFive's test finisher: a register by which software ends the machine (device tree binding
//! `sifive,test0`).
use crate::device::{BadState, Device, Finish, Refused, Surroundings, load_state, save_state};

const FAIL: u16 = 0x3333;
const PASS: u16 = 0x5555;
const RESET: u16 = 0x7777;

/// The finisher: a register of 4 bytes at offset 0. The lower half of a write says how the machine
/// ends, and the upper half is the code of a failure. The register reads as 0, and other values
/// and offsets do nothing.
#[derive(Clone, Debug, Default)]
pub struct TestFinisher;

/// The finisher takes accesses of 2 and 4 bytes.
fn check_access(offset: u64, size: u32) -> Result<(), Refused> {
    match (size == 2 || size == 4) && offset.is_multiple_of(size.into()) {
        true => Ok(()),
        false => Err(Refused),
    }
}

impl Device for TestFinisher {
    fn read(
        &mut self,
        offset: u64,
        size: u32,
        _around: &mut dyn Surroundings,
    ) -> Result<u64, Refused> {
        check_access(offset, size).map(|()| 0)
    }

    fn write(
        &mut self,
        offset: u64,
        size: u32,
        value: u64,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refused> {
        check_access(offset, size)?;
        if offset == 0 {
            let code = match size {
                4 => (value >> 16) as u16,
                _ => 0,
            };
            match value as u16 {
                // A failure is one whatever its code.
                FAIL => around.finish(Finish::Exit(u32::from(code).max(1))),
                PASS => around.finish(Finish::Exit(0)),
                RESET => around.finish(Finish::Reset),
                _ => {}
            }
        }
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        save_state(&())
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        load_state("test finisher", state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    fn write(offset: u64, size: u32, value: u64) -> (Result<(), Refused>, Vec<Finish>) {
        let mut around = Mock::default();
        let result = TestFinisher.write(offset, size, value, &mut around);
        (result, around.finished)
    }

    #[test]
    fn software_ends_the_machine() {
        for (value, how) in [
            (0x5555, Finish::Exit(0)),
            (0x0001_3333, Finish::Exit(1)),
            (0xffff_3333, Finish::Exit(0xffff)),
            (0x0000_3333, Finish::Exit(1)),
            (0x7777, Finish::Reset),
        ] {
            assert_eq!(write(0, 4, value), (Ok(()), vec![how]));
        }
        assert_eq!(write(0, 2, 0x5555), (Ok(()), vec![Finish::Exit(0)]));
    }

    #[test]
    fn all_else_does_nothing() {
        assert_eq!(write(0, 4, 0x5556), (Ok(()), vec![]));
        assert_eq!(write(4, 4, 0x5555), (Ok(()), vec![]));
        assert_eq!(write(0, 1, 0x55), (Err(Refused), vec![]));
        assert_eq!(write(0, 8, 0x5555), (Err(Refused), vec![]));
        assert_eq!(TestFinisher.read(0, 4, &mut Mock::default()), Ok(0));
        TestFinisher.load(&TestFinisher.save()).unwrap();
        assert!(TestFinisher.load(&[1]).is_err());
    }
}
