//! The platform files that are part of Flick (`platforms/`).

const SHIPPED: [(&str, &str); 5] = [
    (
        "flick-isca20",
        include_str!("../../../../platforms/flick-isca20.toml"),
    ),
    (
        "flick-isca20-fitted",
        include_str!("../../../../platforms/flick-isca20-fitted.toml"),
    ),
    (
        "flick-isca20-500us",
        include_str!("../../../../platforms/flick-isca20-500us.toml"),
    ),
    (
        "flick-isca20-1ms",
        include_str!("../../../../platforms/flick-isca20-1ms.toml"),
    ),
    (
        "near-memory",
        include_str!("../../../../platforms/near-memory.toml"),
    ),
];

/// The names that [`super::Platform::load`] knows.
pub fn names() -> [&'static str; SHIPPED.len()] {
    SHIPPED.map(|(name, _)| name)
}

pub fn text(name: &str) -> Option<&'static str> {
    let known = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Some(known.1)
}

#[cfg(test)]
mod tests {
    use super::super::{Platform, Region};
    use super::*;

    #[test]
    fn shipped_platforms_can_be_read() {
        for name in names() {
            let platform = Platform::load(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(platform.name, name);
        }
    }

    #[test]
    fn one_constant_is_fitted() {
        let load = |name: &str| Platform::load(name).unwrap();
        let plain = load("flick-isca20");
        let mut same = load("flick-isca20-fitted,nxp.memory.host.load=825 ns");
        (same.name, same.description) = (plain.name.clone(), plain.description.clone());
        assert!(same == plain);
        let host = Region::Host as usize;
        let fitted = load("flick-isca20-fitted").nxp.memory[host].load;
        assert_ne!(fitted, plain.nxp.memory[host].load);
    }
}
