//! "Did you mean": the nearest of some names.

/// How far `word` is from `name`, in edits of one character (a swap of two is one), if they are
/// near enough to be mixed up: a third of the word's letters, at least one. Case is the smallest of
/// slips.
pub fn distance(word: &str, name: &str) -> Option<usize> {
    let (word, name) = (word.to_lowercase(), name.to_lowercase());
    let length = word.chars().count().max(name.chars().count());
    let edits = strsim::osa_distance(&word, &name);
    // Of words of one or two letters everything is near.
    (edits == 0 || (length > 2 && edits <= (length / 3).max(1))).then_some(edits)
}

/// The nearest of `names`; the first of several.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |name: &'a str| Some((distance(word, name)?, name));
    let found = names.into_iter().filter_map(near);
    found.min_by_key(|&(edits, _)| edits).map(|(_, name)| name)
}

/// `did you mean 'NAME'? `, or nothing: to stand before a list of what there is. `prefix`: what all
/// the names begin with, and `word` and `names` leave out.
pub fn did_you_mean<'a>(
    word: &str,
    prefix: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> String {
    nearest(word, names).map_or(String::new(), |name| {
        format!("did you mean '{prefix}{name}'? ")
    })
}

/// The help for a bad value of a setting that takes one of some words.
pub fn use_one_of(word: &str, values: &[&str]) -> String {
    let meant = did_you_mean(word, "", values.iter().copied());
    format!("{meant}use one of: {}", values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_and_only_near_ones() {
        let names = ["auto", "require", "off"];
        assert_eq!(nearest("requrie", names), Some("require"));
        assert_eq!(nearest("Auto", names), Some("auto"));
        assert_eq!(nearest("of", names), Some("off"));
        assert_eq!(nearest("yes", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(did_you_mean("of", "", names), "did you mean 'off'? ");
        assert_eq!(did_you_mean("never", "", names), "");
        assert_eq!(
            use_one_of("of", &names),
            "did you mean 'off'? use one of: auto, require, off"
        );
    }
}
