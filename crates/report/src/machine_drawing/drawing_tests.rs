//! Drawings of the shipped machines.
use flick_timing::machine::{Machine, names};

use super::{svg, text};

#[test]
fn all_shipped_machines_are_drawn() {
    for name in names() {
        let machine = Machine::load(name, &[]).unwrap();
        let (text, svg) = (text(&machine), svg(&machine));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        // Each tag that is opened is closed.
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        for tile in &machine.tiles {
            for memory in &tile.memories {
                let place = format!("{:#010x} to ", memory.base);
                assert!(
                    text.contains(&place) && svg.contains(&place),
                    "{name} {place}"
                );
            }
            for device in &tile.devices {
                assert!(text.contains(device.kind.name()), "{name} {device:?}");
            }
        }
        // What runs has no mark.
        let missing = machine.missing();
        assert_eq!(text.contains(" *"), !missing.is_empty(), "{name}: {text}");
        for missing in missing {
            assert!(text.contains(&missing.to_string()), "{name} {missing}");
            assert!(svg.contains(&missing.to_string()), "{name} {missing}");
        }
    }
}

#[test]
fn the_text_of_virt_is_short() {
    let text = text(&Machine::load("virt", &[]).unwrap());
    for part in [
        "tile board: harts\n",
        "  harts 0 to 3  rv64imafdc_",
        "memory main   0x80000000 to 0x8fffffff; 256 MiB\n",
        "virtio-mmio   0x10001000 to 0x10008fff; sources 1 to 8; 8 slots for disks\n",
        "coherent, at no cost",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().count() < 20, "{text}");
}

/// `FLICK_BLESS=1` draws it again.
#[test]
fn the_picture_in_the_documentation_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/img/rocket-rvv.svg");
    let drawn = svg(&Machine::load("rocket-rvv", &[]).unwrap());
    if std::env::var_os("FLICK_BLESS").is_some() {
        std::fs::write(path, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(
        kept == drawn,
        "draw it again: FLICK_BLESS=1 cargo test -p flick-report drawing"
    );
}
