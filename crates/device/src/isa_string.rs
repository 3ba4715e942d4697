//! ISA strings of the device tree (unprivileged manual, chapter "ISA Extension Naming Conventions").

/// An ISA string as the newer properties have it: the base, and each extension by its name.
pub fn isa_parts(isa: &str) -> Option<(String, Vec<String>)> {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let width = ["rv32", "rv64"].into_iter().find(|w| isa.starts_with(w));
    let (Some(width), true) = (width, isa.chars().all(word)) else {
        return None;
    };
    let rest = &isa[width.len()..];
    // Extensions of several letters start with one of these, with or without a `_` before.
    let letters = rest.find(['_', 'z', 's', 'x']).unwrap_or(rest.len());
    let (letters, names) = rest.split_at(letters);
    let mut words = names.split('_').filter(|name| !name.is_empty());
    if !letters.starts_with(['i', 'e', 'g']) || words.any(|w| w.starts_with(|c: char| c < 'a')) {
        return None;
    }
    let mut extensions = Vec::new();
    let mut add = |name: &str| {
        if !extensions.iter().any(|known| known == name) {
            extensions.push(name.to_owned());
        }
    };
    let base = if letters.starts_with('e') { 'e' } else { 'i' };
    for letter in letters.chars() {
        match letter {
            'g' => {
                for name in ["i", "m", "a", "f", "d", "zicsr", "zifencei"] {
                    add(name);
                }
            }
            'a'..='z' => add(&letter.to_string()),
            _ => return None,
        }
    }
    for name in names.split('_').filter(|name| !name.is_empty()) {
        add(name);
    }
    Some((format!("{width}{}", base), extensions))
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
        assert_eq!(parts("rv32emc").unwrap().0, "rv32e");
        for bad in [
            "",
            "rv64",
            "RV64I",
            "rv128i",
            "rv64i zba",
            "rv64mac",
            "rv64i2",
            "rv64mi",
            "rv64i_2",
        ] {
            assert!(parts(bad).is_none(), "{bad}");
        }
    }
}
