//! Settings of machines: what they change, and what their mistakes are.
use super::machine_tests::{GOOD, parse};

#[test]
fn settings_change_keys() {
    let set =
        |settings: &[&str]| parse(GOOD, settings).unwrap_or_else(|e| panic!("{e} {}", e.help));
    let machine = set(&["memory=2M", "isa=rv64imac", "tile.a.hart.vector.count=4"]);
    let tile = &machine.tiles[0];
    assert_eq!((tile.harts.len(), tile.memories[0].size), (5, 2 << 20));
    assert!(
        tile.harts
            .iter()
            .all(|hart| hart.isa == "rv64imac".parse().unwrap())
    );
    let machine = set(&[
        "memory=4096 KiB",
        "tile.*.clock=2 GHz",
        "link.latency = 20 ns",
    ]);
    assert_eq!(machine.tiles[0].memories[0].size, 4 << 20);
    assert_eq!(
        (machine.tiles[0].harts[0].period, machine.links[0].latency),
        (5e5, 20_000_000)
    );
    let machine = set(&[
        "tile.0.dtu.endpoints=8",
        "tile.0.hart.0.kernel=false",
        "tile.fft.count=5",
    ]);
    assert_eq!(machine.tiles[0].dtu.unwrap().endpoints, 8);
    assert!(machine.tiles[0].kernel_hart().is_none());
    let set = |settings: &[&str]| {
        let error = parse(GOOD, settings).expect_err(settings[0]);
        let line = error.line;
        let message = format!("{error}; {}", error.help);
        assert!(line == 0 && message.starts_with("--set "), "{message}");
        message
    };
    for (setting, parts) in [
        ("harts", &["it has no ="][..]),
        ("harts=4", &["in 2 groups", "tile.0.hart.0.count=4"]),
        ("cores=2", &["`cores` is not known", "'core'"]),
        (
            "tile.a.hart.vector.cuont=2",
            &["`tile.hart.cuont` is not known", "'count'"],
        ),
        ("tile.b.clock=1 GHz", &["`tile` has no item b", "a, fft"]),
        ("tile.9.clock=1 GHz", &["`tile` has no item 9"]),
        ("tile.0.hart.0.isa=rv64iq", &["no extension \"q\""]),
        ("tile.0.clock=fast", &["does not begin with a number"]),
        ("tile.0.clock.x=1", &["`tile.0.clock` is a single value"]),
        ("tile.0.hart=1", &["no single value"]),
        ("memory=1X", &["none of the units"]),
        ("memory=4097", &["not of whole pages"]),
        ("memory=", &["does not begin with a number"]),
        ("a..b=1", &["a part of the key is empty"]),
        ("=1", &["a part of the key is empty"]),
        ("tile.0.memory.0.base=\u{1}\"", &["it is a text"]),
    ] {
        let message = set(&[setting]);
        for part in parts {
            assert!(message.contains(part), "{setting}: {part}: {message}");
        }
    }
    let error = parse("name = 'x'", &["harts=2"]).unwrap_err();
    assert!(error.what.contains("no harts"), "{error}");
}

/// A machine of alike tiles has as many as a setting says, one of them, too.
#[test]
fn settings_choose_how_many_tiles_there_are() {
    for (count, columns) in [(1, 1), (2, 2), (4, 2), (12, 4)] {
        let settings = [
            format!("tile.cluster.count={count}"),
            format!("link.noc.columns={columns}"),
            "tile.cluster.hart.user.count=3".to_owned(),
        ];
        let machine = super::Machine::load("mppa256", &settings).unwrap();
        assert_eq!(
            (machine.tiles.len(), machine.links[0].tiles.len()),
            (count, count)
        );
        let names = machine.tiles[count - 1]
            .harts
            .iter()
            .map(|hart| &*hart.name);
        assert!(names.eq(["kernel", "user0", "user1", "user2"]));
    }
}

#[test]
fn settings_may_stand_behind_a_name() {
    let load = |name: &str| super::Machine::load(name, &["tile.0.name=b".to_owned()]);
    let machine = load("virt,harts=2,timebase=5 MHz").unwrap();
    assert_eq!(
        (machine.tiles[0].harts.len(), machine.timebase),
        (2, 5_000_000)
    );
    assert_eq!(machine.tiles[0].name, "b");
    let error = load("virt,harts").unwrap_err();
    assert!(error.to_string().contains("it has no ="), "{error}");
    let platform = crate::Platform::load("near-memory,nxp.clock=2 GHz").unwrap();
    assert_eq!(platform.nxp.cycle, 5e5);
    for (name, what) in [
        ("near-memory,nxp.clock=2 parsecs", "nxp.clock"),
        ("near-memory,nxp.clocks=2 GHz", "nxp.clocks"),
        ("near-memory,", "it has no ="),
    ] {
        let error = crate::Platform::load(name).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    }
}
