//! The lines of the card's kernel on the console, with names: behind each address of the kernel's own
//! code comes its function, and names of functions are those of the source. All other bytes go through
//! as they are.
use std::io::{self, Write};

use flick_machine::FunctionNames;
use flick_names::demangled;

/// How a line of the kernel's begins, perhaps behind what a program has begun.
const BEGIN: &[u8] = b"kernel: ";
/// In a line with an address to which a function returns.
const RETURN: &[u8] = b"called from ";
/// Lines that are longer have no names.
const MOST: usize = 8192;

/// Where in a line the output is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The last bytes are so many of [`BEGIN`].
    Begin(usize),
    /// In a line of the kernel's.
    Kernel,
    /// In a number there, behind `0x`.
    Number,
    /// In what may be the name of a function, which is kept.
    Name,
}

/// See the module.
pub struct KernelLines {
    to: Box<dyn Write>,
    functions: FunctionNames,
    place: Place,
    /// What the line has so far, behind its beginning.
    line: Vec<u8>,
    /// Where its number or name begins.
    begun: usize,
}

impl KernelLines {
    /// Writes to a console. The functions are those of the kernel.
    pub fn new(to: Box<dyn Write>, functions: FunctionNames) -> Self {
        Self {
            to,
            functions,
            place: Place::Begin(0),
            line: vec![],
            begun: 0,
        }
    }

    /// Puts a byte, or what it stands for, behind the others.
    fn put(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.place == Place::Number && !byte.is_ascii_hexdigit() {
            self.place = Place::Kernel;
            out.extend(self.function().unwrap_or_default().bytes());
        }
        match self.place {
            Place::Begin(at) => {
                out.push(byte);
                self.place = match at + 1 {
                    // No other byte is as the first one.
                    _ if byte != BEGIN[at] => Place::Begin(usize::from(byte == BEGIN[0])),
                    all if all == BEGIN.len() => Place::Kernel,
                    some => Place::Begin(some),
                };
            }
            Place::Kernel if byte == b'<' => self.begin(Place::Name),
            Place::Kernel => {
                out.push(byte);
                if byte == b'x' && self.line.ends_with(b"0") {
                    self.begin(Place::Number);
                }
            }
            Place::Number => out.push(byte),
            Place::Name if matches!(byte, b'>' | b'\n') || self.line.len() > MOST => {
                self.place = Place::Kernel;
                out.extend(with_name(&self.line[self.begun..]));
                out.push(byte);
            }
            Place::Name => {}
        }
        match (self.place, byte) {
            (_, b'\n') => {
                self.place = Place::Begin(0);
                self.line.clear();
            }
            (Place::Begin(_), _) => {}
            _ => self.line.push(byte),
        }
    }

    fn begin(&mut self, place: Place) {
        (self.place, self.begun) = (place, self.line.len());
    }

    /// The kernel's function with the number that ends here.
    fn function(&self) -> Option<String> {
        // Behind the `x`.
        let digits = std::str::from_utf8(&self.line[self.begun + 1..]).ok()?;
        let address = u64::from_str_radix(digits, 16).ok()?;
        // A call may be the last instruction of its function.
        let behind = u64::from(self.line.windows(RETURN.len()).any(|part| part == RETURN));
        let (name, offset) = self.functions.at(address.checked_sub(behind)?)?;
        Some(format!(" <{}+{:#x}>", demangled(name), offset + behind))
    }
}

/// `<name+0x10`, whose end follows, with the name of the source.
fn with_name(bytes: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).ok();
    let parts = text.and_then(|text| text.strip_prefix('<')?.split_once('+'));
    match parts {
        Some((name, behind)) => format!("<{}+{behind}", demangled(name)).into_bytes(),
        None => bytes.to_vec(),
    }
}

impl Write for KernelLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = Vec::with_capacity(bytes.len());
        bytes.iter().for_each(|&byte| self.put(byte, &mut out));
        self.to.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_of_the_kernel_have_names() {
        let console = Shared::default();
        let mut lines = KernelLines::new(Box::new(console.clone()), FunctionNames::default());
        let text = "a <_Z3foov+0x1>\r\nkekernel: process 0x1 ends at 0x20 <_Z3foov+0x4>, value 0x0\r\n\
                    kernel:   called from 0x40 <main+0x2>\nkernel: <unfinished\nkern";
        // It comes in pieces.
        text.as_bytes()
            .chunks(3)
            .for_each(|piece| lines.write_all(piece).unwrap());
        let expected = text.replace("0x20 <_Z3foov", "0x20 <foo()");
        assert_eq!(String::from_utf8_lossy(&console.0.borrow()), expected);
    }
}
