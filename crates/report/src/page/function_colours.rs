//! The colour of a function: the same wherever the page shows it, and on every page. It is light in
//! both themes, so that dark text can be read on it, and paler than the colours of sides.

/// What is no function: the whole of a flame graph.
const NONE: &str = "#d5d9df";

/// The colour of the function that is shown by this name, for CSS and SVG.
pub fn colour(name: &str) -> String {
    if name == "all" {
        return NONE.into();
    }
    // FNV-1a, as it is short and the same for ever.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let hash = hash ^ hash >> 29;
    let hue = (hash % 360) as f64;
    let lightness = 0.76 + (hash / 360 % 5) as f64 * 0.03;
    of_hue(hue, 0.62, lightness)
}

/// From hue, saturation and lightness.
fn of_hue(hue: f64, saturation: f64, lightness: f64) -> String {
    let most = saturation * lightness.min(1.0 - lightness);
    let part = |offset: f64| {
        let k = (offset + hue / 30.0) % 12.0;
        let value = lightness - most * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (255.0 * value).round() as u8
    };
    let (red, green, blue) = (part(0.0), part(8.0), part(4.0));
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A square of that colour in front of a function's name.
pub fn square(name: &str) -> String {
    format!("<i style=\"background:{}\"></i>", colour(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hues() {
        assert_eq!(of_hue(0.0, 1.0, 0.5), "#ff0000");
        assert_eq!(of_hue(120.0, 1.0, 0.5), "#00ff00");
        assert_eq!(of_hue(240.0, 1.0, 0.5), "#0000ff");
        assert_eq!(of_hue(77.0, 0.0, 1.0), "#ffffff");
    }

    /// Dark text has a contrast of 7 at least, as the guidelines for readable pages ask.
    #[test]
    fn text_can_be_read_on_all() {
        let linear = |hex: &str| {
            let value = f64::from(u8::from_str_radix(hex, 16).unwrap()) / 255.0;
            match value {
                v if v <= 0.04045 => v / 12.92,
                v => ((v + 0.055) / 1.055).powf(2.4),
            }
        };
        let light = |colour: &str| {
            0.2126 * linear(&colour[1..3])
                + 0.7152 * linear(&colour[3..5])
                + 0.0722 * linear(&colour[5..7])
        };
        let ink = light("#14181e");
        for hue in 0..360 {
            let ratio = (light(&of_hue(hue.into(), 0.62, 0.76)) + 0.05) / (ink + 0.05);
            assert!(ratio >= 7.0, "{hue}: {ratio}");
        }
    }

    #[test]
    fn functions_differ() {
        let names = (0..100).map(|n| colour(&format!("function_{n}")));
        let different: std::collections::BTreeSet<_> = names.collect();
        assert!(different.len() > 80, "{}", different.len());
        assert_eq!(colour("walk"), colour("walk"));
    }
}
