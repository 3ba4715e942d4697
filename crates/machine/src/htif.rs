//! The host-target interface of bare programs (riscv-isa-sim, `fesvr`): a program stores a command to the
//! word at the symbol `tohost`, and waits for the answer at `fromhost`.
use flick_device::Refused;

use crate::board::Board;
use crate::hart_order::Console;

/// The words of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Htif {
    /// The address of `tohost`.
    pub to_host: u64,
    /// The address of `fromhost`, if there is one.
    pub from_host: Option<u64>,
}

/// Numbers of system calls (Linux, RV64).
const WRITE: u64 = 64;
const EXIT: u64 = 93;
/// `ENOSYS`, negated.
const NO_CALL: u64 = -38_i64 as u64;
/// What a program may print at once.
const MOST: u64 = 1 << 20;

impl Htif {
    /// Executes the command that the program has stored, if there is one. Returns the exit status if
    /// it is the program's end.
    pub fn poll(&mut self, board: &Board, console: &mut dyn Console) -> Option<u32> {
        let command = word(board, self.to_host).ok()?;
        if command == 0 {
            return None;
        }
        let (device, kind, payload) = (command >> 56, command >> 48 & 0xff, command << 16 >> 16);
        let mut answer = 1;
        match (device, kind) {
            (0, 0) if payload & 1 != 0 => return Some((payload >> 1) as u32),
            (0, 0) => match system_call(board, payload, console) {
                Ok(Some(status)) => return Some(status),
                Ok(None) => {}
                Err(Refused) => answer = NO_CALL,
            },
            (1, 1) => {
                console.output(&[payload as u8]);
                answer = command >> 48 << 48;
            }
            // Input: nothing has come.
            _ => answer = 0,
        }
        let cleared = board.write_memory(self.to_host, &[0; 8]);
        let answered = match self.from_host.filter(|_| answer != 0) {
            Some(from_host) => board.write_memory(from_host, &answer.to_le_bytes()),
            None => Ok(()),
        };
        // Both are words of the program that was loaded.
        cleared.and(answered).err().map(|Refused| u32::MAX)
    }
}

/// `payload`: the address of eight words, the number and the arguments; the result takes the first.
fn system_call(
    board: &Board,
    payload: u64,
    console: &mut dyn Console,
) -> Result<Option<u32>, Refused> {
    let at = |n: u64| word(board, payload.wrapping_add(8 * n));
    let result = match at(0)? {
        EXIT => return Ok(Some(at(1)? as u32)),
        WRITE => {
            let size = at(3)?.min(MOST);
            let mut bytes = vec![0; size as usize];
            board.read_memory(at(2)?, &mut bytes)?;
            console.output(&bytes);
            size
        }
        _ => NO_CALL,
    };
    board.write_memory(payload, &result.to_le_bytes())?;
    Ok(None)
}

fn word(board: &Board, address: u64) -> Result<u64, Refused> {
    let mut bytes = [0; 8];
    board.read_memory(address, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
