//! The limit on the size of a trace: `flick record --max-size`.
use flick_report::record_command::LEAST_SIZE;

/// Bytes; `None`: there is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimit(pub Option<u64>);

/// `65536`, `64K`, `256M`, `2G` or `none`.
pub fn parse(text: &str) -> Result<SizeLimit, String> {
    if text == "none" {
        return Ok(SizeLimit(None));
    }
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let unit = units.into_iter().find_map(|(unit, shift)| {
        let number = text.strip_suffix([unit, unit.to_ascii_lowercase()])?;
        Some((number, shift))
    });
    let (number, shift) = unit.unwrap_or((text, 0));
    let number: u64 = number
        .parse()
        .map_err(|_| "it is neither a size such as 256M nor `none`".to_owned())?;
    let bytes = number
        .checked_mul(1 << shift)
        .ok_or_else(|| "it is larger than any file".to_owned())?;
    if bytes < LEAST_SIZE {
        return Err(format!("a trace takes {}K at least", LEAST_SIZE >> 10));
    }
    Ok(SizeLimit(Some(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flick_report::record_command::MAX_SIZE;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("65536", LEAST_SIZE),
            ("64K", LEAST_SIZE),
            ("256M", MAX_SIZE),
            ("2g", 2 << 30),
            ("1T", 1 << 40),
        ] {
            assert_eq!(parse(text), Ok(SizeLimit(Some(bytes))));
        }
        assert_eq!(parse("none"), Ok(SizeLimit(None)));
        for text in ["", "M", "-1", "1.5G", "12KB", "63K", "99999999999T"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
