//! The functions of firmware, by their addresses.
use object::{Object, ObjectSymbol, SectionKind, SymbolKind};
use object::{ObjectSection, SymbolSection};

struct Function {
    start: u64,
    /// 0: up to the next one.
    size: u64,
    name: String,
}

/// The functions of an ELF file.
#[derive(Default)]
pub struct FunctionNames {
    /// By their addresses.
    all: Vec<Function>,
}

impl FunctionNames {
    /// Those of a file; none if it is no ELF file, or has no symbols.
    pub fn of(file: &[u8]) -> Self {
        let Ok(file) = object::File::parse(file) else {
            return Self::default();
        };
        let is_code = |section: SymbolSection| {
            let section = section
                .index()
                .and_then(|index| file.section_by_index(index).ok());
            section.is_some_and(|section| section.kind() == SectionKind::Text)
        };
        let mut all: Vec<_> = file
            .symbols()
            .filter(|symbol| {
                matches!(
                    symbol.kind(),
                    SymbolKind::Text | SymbolKind::Unknown | SymbolKind::Label
                ) && is_code(symbol.section())
            })
            .filter_map(|symbol| {
                // Labels of the compiler's are no functions.
                let name = symbol
                    .name()
                    .ok()
                    .filter(|name| !name.starts_with(['.', '$']))?;
                Some(Function {
                    start: symbol.address(),
                    size: symbol.size(),
                    name: name.into(),
                })
            })
            .collect();
        all.sort_by_key(|function| (function.start, function.size));
        Self { all }
    }

    /// The function with an address, and how far behind its start that is.
    pub fn at(&self, address: u64) -> Option<(&str, u64)> {
        let behind = self
            .all
            .partition_point(|function| function.start <= address);
        let function = self.all.get(behind.checked_sub(1)?)?;
        let offset = address - function.start;
        // What is behind the last one may be anything.
        let is_within = offset < function.size || function.size == 0 && behind < self.all.len();
        is_within.then_some((&*function.name, offset))
    }
}
