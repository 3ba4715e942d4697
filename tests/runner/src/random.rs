//! How much of what random placement asked for was really placed.
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use flick_abi::names::SEC_PLACE;
use object::{Object, ObjectSection};

use crate::program::sorted_entries;

/// One number per build: placed functions / functions that the dice chose.
#[derive(Default)]
pub struct Shares {
    seen: Mutex<Vec<f64>>,
}

impl Shares {
    /// Reads the placement lines of a built program and of the shared libraries beside it. A build
    /// whose dice chose nothing adds nothing.
    pub fn add(&self, program: &Path) -> Result<(), String> {
        let mut files = vec![program.to_owned()];
        let folder = program.parent().unwrap_or(Path::new("."));
        files.extend(
            sorted_entries(folder)?
                .into_iter()
                .filter(|p| p.extension().is_some_and(|e| e == "so")),
        );
        let mut text = String::new();
        for file in files {
            let bytes = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let lines = section_text(&bytes).map_err(|e| format!("{}: {e}", file.display()))?;
            text.push_str(&lines);
            text.push('\n');
        }
        if let Some(share) = share_of(&text) {
            self.seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(share);
        }
        Ok(())
    }

    /// Builds counted, and their median share.
    pub fn median(&self) -> Option<(usize, f64)> {
        let mut shares = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        shares.sort_by(f64::total_cmp);
        let n = shares.len();
        match n {
            0 => None,
            _ if n % 2 == 1 => Some((n, shares[n / 2])),
            _ => Some((n, f64::midpoint(shares[n / 2 - 1], shares[n / 2]))),
        }
    }
}

fn section_text(bytes: &[u8]) -> Result<String, String> {
    let file = object::File::parse(bytes).map_err(|e| e.to_string())?;
    let Some(section) = file.section_by_name(SEC_PLACE) else {
        return Ok(String::new());
    };
    let data = section.uncompressed_data().map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(&data).into_owned())
}

/// `v1 unit function placement reason detail file line`, separated by tabs; a function that the
/// dice chose has reason `random`, or `refused:…` when it had to stay on the host.
fn share_of(text: &str) -> Option<f64> {
    let (mut placed, mut refused) = (0u32, 0u32);
    for line in text.split(['\n', '\0']) {
        let mut fields = line.split('\t').skip(3);
        match (fields.next(), fields.next()) {
            (Some("nxp"), Some("random")) => placed += 1,
            (Some("host"), Some(reason)) if reason.starts_with("refused:") => refused += 1,
            _ => {}
        }
    }
    let chosen = placed + refused;
    (chosen > 0).then(|| f64::from(placed) / f64::from(chosen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_placed_and_refused() {
        let text = "v1\tu\tf\tnxp\trandom\t\ta.c\t1\nv1\tu\tg\thost\trefused:FLK0204\t\ta.c\t2\n\
                    v1\tu\th\tboth\tinline\t\ta.c\t3\n";
        assert_eq!(share_of(text), Some(0.5));
        assert_eq!(share_of(""), None);
    }

    #[test]
    fn median_of_shares() {
        let shares = Shares::default();
        shares.seen.lock().unwrap().extend([1.0, 0.0, 0.5, 0.25]);
        assert_eq!(shares.median(), Some((4, 0.375)));
    }
}
