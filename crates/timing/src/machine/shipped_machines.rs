//! The machine files that are part of Flick (`machines/`).

macro_rules! shipped {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../../machines/", $name, ".toml")))),*]
    };
}

const SHIPPED: [(&str, &str); 12] = shipped!(
    "virt",
    "spike-rvv",
    "rocket-rvv",
    "mppa256",
    "card",
    "card-two",
    "card-accelerators",
    "accelerators",
    "m3x-noc",
    "m3x-pcie",
    "flick-isca20",
    "flick-isca20-harts"
);

/// The names that [`super::Machine::load`] knows.
pub fn names() -> [&'static str; SHIPPED.len()] {
    SHIPPED.map(|(name, _)| name)
}

pub fn text(name: &str) -> Option<&'static str> {
    let known = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Some(known.1)
}
