//! Numbers with units as people write them.

/// `256 MiB`
pub fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = |shift: &u32| bytes != 0 && bytes.is_multiple_of(1 << shift);
    match units.iter().find(|(shift, _)| fits(shift)) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} B"),
    }
}

/// Femtoseconds: `10 ns`
pub fn time(time: u64) -> String {
    let units = [(1e12, "ms"), (1e9, "us"), (1e6, "ns"), (1e3, "ps")];
    let unit = units.iter().find(|(unit, _)| time as f64 >= *unit);
    match unit {
        Some((unit, name)) => format!("{} {name}", short(time as f64 / unit)),
        None => format!("{time} fs"),
    }
}

/// Of a cycle's femtoseconds: `1 GHz`
pub fn clock(period: f64) -> String {
    let hertz = 1e15 / period;
    let units = [(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz")];
    let unit = units.iter().find(|(unit, _)| hertz >= unit * 0.999_999);
    match unit {
        Some((unit, name)) => format!("{} {name}", short(hertz / unit)),
        None => format!("{} Hz", short(hertz)),
    }
}

/// Of a byte's femtoseconds: `12.8 GB/s`
pub fn bandwidth(byte: f64) -> String {
    format!("{} GB/s", short(1e6 / byte))
}

/// Three digits behind the point, without zeros at the end.
pub fn short(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Numbers of a range, or one: `0 to 3`
pub fn span(first: impl std::fmt::Display, last: impl std::fmt::Display) -> String {
    let (first, last) = (first.to_string(), last.to_string());
    match first == last {
        true => first,
        false => format!("{first} to {last}"),
    }
}

/// `1 cycle`
pub fn cycles(number: f64) -> String {
    let s = if number == 1.0 { "" } else { "s" };
    format!("{} cycle{s}", short(number))
}
