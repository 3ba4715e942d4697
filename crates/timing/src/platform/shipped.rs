//! The platform files that are part of Flick (`platforms/`).

const SHIPPED: [(&str, &str); 9] = [
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
    (
        "cxl-memory",
        include_str!("../../../../platforms/cxl-memory.toml"),
    ),
    (
        "pcie5-card",
        include_str!("../../../../platforms/pcie5-card.toml"),
    ),
    (
        "in-dram",
        include_str!("../../../../platforms/in-dram.toml"),
    ),
    (
        "smartnic",
        include_str!("../../../../platforms/smartnic.toml"),
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

    /// Of a design point each figure says beside it where it is from, or that it is an assumption.
    #[test]
    fn design_points_have_sources() {
        for name in ["cxl-memory", "pcie5-card", "in-dram", "smartnic"] {
            let own = super::super::figures(name).unwrap();
            let own = own.iter().filter(|figure| {
                let key = figure.key.rsplit('.').next().unwrap();
                figure.place.starts_with(name) && !["name", "description", "holds"].contains(&key)
            });
            let own: Vec<_> = own.collect();
            assert!(own.len() > 15, "{name}");
            for figure in own {
                assert!(!figure.remark.is_empty(), "{figure:?}");
            }
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
