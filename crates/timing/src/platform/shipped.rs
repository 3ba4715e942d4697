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
    use super::super::Platform;
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
        let keys = |name: &str| -> Vec<String> {
            let lines = text(name).unwrap().lines();
            let keys = lines.map(|line| line.split('#').next().unwrap().trim().to_owned());
            let named =
                |key: &String| key.starts_with("name =") || key.starts_with("description =");
            keys.filter(|key| !key.is_empty() && !named(key)).collect()
        };
        let (plain, fitted) = (keys("flick-isca20"), keys("flick-isca20-fitted"));
        assert_eq!(plain.len(), fitted.len());
        let differ = plain
            .iter()
            .zip(&fitted)
            .filter(|(plain, fitted)| plain != fitted);
        let differ: Vec<_> = differ.collect();
        assert_eq!(differ.len(), 1, "{differ:?}");
        let before = fitted.iter().position(|key| key == differ[0].1).unwrap() - 1;
        assert_eq!(fitted[before], "[nxp.memory.host]");
    }
}
