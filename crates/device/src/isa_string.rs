//! ISA strings of the device tree.
use flick_abi::march;

/// An ISA string as the newer properties have it: the base, and each extension by its name.
pub fn isa_parts(isa: &str) -> Option<(String, Vec<String>)> {
    let mut extensions: Vec<String> = Vec::new();
    march::extensions(isa, |name| {
        if !extensions.iter().any(|known| known == name) {
            extensions.push(name.to_owned());
        }
    })?;
    let base = extensions
        .first()
        .filter(|base| ["i", "e"].contains(&&***base))?;
    Some((format!("rv64{base}"), extensions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isa_strings_are_taken_apart() {
        let parts = |isa| isa_parts(isa).map(|(base, parts)| (base, parts.join(" ")));
        let (base, names) = parts("rv64imafdc_zicsr_sstc").unwrap();
        assert_eq!((&*base, &*names), ("rv64i", "i m a f d c zicsr sstc"));
        let (base, names) = parts("rv64gcvzba_zicsr").unwrap();
        assert_eq!(base, "rv64i");
        assert_eq!(names, "i m a f d zicsr zifencei c v zba");
        assert_eq!(parts("rv64emc").unwrap().0, "rv64e");
        for bad in [
            "",
            "rv64",
            "RV64I",
            "rv128i",
            "rv64i zba",
            "rv64mac",
            "rv64mi",
            "rv64i_2",
        ] {
            assert!(parts(bad).is_none(), "{bad}");
        }
    }
}
