//! x86-64 code under the lines of a disassembly, for `flick objdump --translated`.
use crate::file_translation::FileTranslation;
use crate::translated::Translated;

/// Where the x86-64 code comes from.
pub enum Shown {
    /// The file has it. The image's first byte is shown at this address.
    File(FileTranslation, u64),
    /// It is made as in a process.
    Process(Box<Translated>),
}

impl Shown {
    fn begin(&mut self, address: u64) -> String {
        match self {
            Self::File(file, base) => file.head(address.wrapping_sub(*base)),
            Self::Process(translated) => translated.begin(address),
        }
    }

    fn of(&mut self, address: u64) -> String {
        match self {
            Self::File(file, base) => file.of_instruction(address.wrapping_sub(*base)),
            Self::Process(translated) => translated.of(address),
        }
    }

    fn end(&mut self) -> String {
        match self {
            Self::File(..) => String::new(),
            Self::Process(translated) => translated.end(),
        }
    }
}

/// Puts the translation beside the lines of the tool.
pub struct Beside {
    translated: Option<Shown>,
    in_function: bool,
}

impl Beside {
    pub fn new(translated: Option<Shown>) -> Self {
        Self {
            translated,
            in_function: false,
        }
    }

    /// The line as it is shown, and what stands before and behind it; an empty one is the end.
    pub fn line(&mut self, line: &str, plain: &dyn Fn(&str) -> String) -> String {
        let shown = plain(line);
        let Some(translated) = &mut self.translated else {
            return shown;
        };
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        if line.trim_end().is_empty() && std::mem::take(&mut self.in_function) {
            return translated.end() + &shown;
        }
        let text = line.trim_start();
        if let Some((address, name)) = text.trim_end().split_once(" <")
            && let (Some(address), true) = (number(address), name.ends_with(">:"))
        {
            self.in_function = true;
            return shown + &translated.begin(address);
        }
        match text
            .split_once(":")
            .and_then(|(address, _)| number(address))
        {
            Some(address) if self.in_function => shown + &translated.of(address),
            _ => shown,
        }
    }
}
