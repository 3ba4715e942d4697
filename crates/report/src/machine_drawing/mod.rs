//! Drawings of machines, as text and as SVG: what is on each tile, what connects the tiles, and what
//! cannot run yet.
mod drawing_svg;
#[cfg(test)]
mod drawing_tests;
mod drawing_text;
mod drawn_parts;
mod drawn_units;

use flick_timing::machine::Machine;

/// The machine as text, for a terminal.
pub fn text(machine: &Machine) -> String {
    drawing_text::text(&drawn_parts::drawing(machine))
}

/// The machine as an SVG document.
pub fn svg(machine: &Machine) -> String {
    drawing_svg::svg(&drawn_parts::drawing(machine))
}
