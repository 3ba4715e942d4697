//! Which tests a run takes, by their names.

/// Names, or parts of names; none takes every test.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub words: Vec<String>,
    /// A word is a whole name, not a part of one.
    pub exact: bool,
}

impl Filter {
    /// Takes exactly the tests with one of these names.
    pub fn names(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            words: names.into_iter().map(Into::into).collect(),
            exact: true,
        }
    }

    /// Whether it takes every test.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn takes(&self, name: &str) -> bool {
        let mut words = self.words.iter();
        self.is_empty()
            || words.any(|w| {
                if self.exact {
                    w == name
                } else {
                    name.contains(w)
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::Filter;

    #[test]
    fn takes_parts_of_names_or_names() {
        let mut filter = Filter::default();
        assert!(filter.takes("signal_mask"));
        filter.words = vec!["signal_".into(), "hello".into()];
        assert!(filter.takes("signal_mask") && filter.takes("hello") && !filter.takes("sigbus"));
        filter.exact = true;
        assert!(filter.takes("hello") && !filter.takes("signal_mask"));
    }
}
