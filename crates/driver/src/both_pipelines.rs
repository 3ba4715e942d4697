//! Options of clang's that set up LLVM's pipeline and leave no trace in the code that it gets: the
//! pass must know them, for the NxP half has a pipeline of its own.
use std::ffi::OsString;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BothPipelines {
    unroll: Option<bool>,
    vectorize: Option<bool>,
    local_bounds: bool,
}

impl BothPipelines {
    /// One more option of the command line.
    pub fn see(&mut self, option: &str) {
        match option {
            "-funroll-loops" => self.unroll = Some(true),
            "-fno-unroll-loops" => self.unroll = Some(false),
            "-fvectorize" | "-ftree-vectorize" => self.vectorize = Some(true),
            "-fno-vectorize" | "-fno-tree-vectorize" => self.vectorize = Some(false),
            _ => self.see_sanitizers(option),
        }
    }

    fn see_sanitizers(&mut self, option: &str) {
        let (list, wanted) = match option.strip_prefix("-fsanitize=") {
            Some(list) => (list, true),
            None => (
                option.strip_prefix("-fno-sanitize=").unwrap_or_default(),
                false,
            ),
        };
        for name in list.split(',') {
            if matches!(name, "local-bounds" | "bounds") || (name == "all" && !wanted) {
                self.local_bounds = wanted;
            }
        }
    }

    /// What the pass understands.
    pub fn pass_options(&self) -> Vec<OsString> {
        let switch = |name: &str, on: bool| OsString::from(format!("-flick-nxp-{name}={on}"));
        let unroll = self.unroll.map(|on| switch("unroll", on));
        let vectorize = self.vectorize.map(|on| switch("vectorize", on));
        let bounds = self.local_bounds.then(|| switch("local-bounds", true));
        unroll.into_iter().chain(vectorize).chain(bounds).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::BothPipelines;

    #[test]
    fn the_last_one_counts() {
        let options = |line: &str| {
            let mut seen = BothPipelines::default();
            line.split_whitespace().for_each(|option| seen.see(option));
            seen.pass_options()
        };
        assert!(options("-O2 -fsanitize=address").is_empty());
        assert_eq!(
            options("-funroll-loops -fno-unroll-loops -fno-vectorize"),
            ["-flick-nxp-unroll=false", "-flick-nxp-vectorize=false"]
        );
        assert_eq!(
            options("-fsanitize=undefined,local-bounds"),
            ["-flick-nxp-local-bounds=true"]
        );
        assert!(options("-fsanitize=bounds -fno-sanitize=local-bounds").is_empty());
        assert!(options("-fsanitize=bounds -fno-sanitize=all").is_empty());
    }
}
