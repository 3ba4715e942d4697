use super::*;
use flick_abi::accelerator::STATE_NAMES;

const TILES: &[(&str, usize)] = &[("big", 4), ("small", 2)];

fn one(text: &str) -> Result<Fault, Error> {
    parse("faults.toml", &format!("[[fault]]\n{text}"), TILES).map(|faults| faults[0])
}

#[test]
fn all_faults_are_read() {
    let at = "at = { hart = 1, address = 0xffff_ffff_8000_0000, times = 3 }\n";
    let fault = one(&format!(
        "{at}do = \"flip-register\"\nhart = 2\nregister = \"a0\"\nbits = 0x8000000000000000\n"
    ))
    .unwrap();
    let (hart, address, times) = (1, 0xffff_ffff_8000_0000, 3);
    assert_eq!(
        fault.when,
        When::Address {
            hart,
            address,
            times
        }
    );
    let (hart, register, bits) = (2, Register::X(10), 1 << 63);
    assert_eq!(
        fault.action,
        Action::FlipRegister {
            hart,
            register,
            bits
        }
    );
    for (when, wanted) in [
        ("time = \"2 s\"", When::Time(2_000_000_000_000)),
        ("hart = 0, cycle = 7", When::Cycle { hart: 0, cycle: 7 }),
        (
            "hart = 3, instruction = 1_000",
            When::Instruction {
                hart: 3,
                instruction: 1000,
            },
        ),
    ] {
        for action in [
            "\"stop-hart\"\nhart = 1\ncycles = 5",
            "\"flip-memory\"\naddress = 0x8000_0000\nbits = 1",
            "\"raise-line\"\nhart = 0\nline = \"MEIP\"",
            "\"suppress-line\"\nhart = 0\nline = \"MTIP\"\nfor = \"1 us\"",
            "\"delay-line\"\nhart = 0\nline = \"SSIP\"\nby = \"1 us\"",
            "\"drop-request\"",
            "\"delay-request\"\nby = \"1 ms\"\ndisk = 1",
            "\"repeat-request\"\nrequests = 4",
            "\"fail-request\"",
            "\"refuse-access\"\naddress = 0x1000_0000\nsize = \"8 B\"\nfor = \"1 ms\"",
            "\"corrupt-input\"\nbits = 0x20\nbytes = 3",
            "\"drop-message\"\nfrom = \"big\"\nto = \"small\"\nclass = \"answer\"\nevery = 3\npackets = 9",
            "\"delay-message\"\nby = \"1 us\"",
            "\"repeat-message\"\nto = \"small\"",
            "\"corrupt-descriptor\"\nfield = \"sp\"\nbits = 1\ndescriptors = 2",
        ] {
            let fault = one(&format!("at = {{ {when} }}\ndo = {action}\n")).unwrap();
            assert_eq!((fault.when, fault.line), (wanted, 1), "{action}");
        }
    }
}

#[test]
fn harts_and_memories_are_those_of_tiles() {
    let fault = one(concat!(
        "at = { tile = \"small\", hart = 1, cycle = 9 }\n",
        "do = \"stop-hart\"\ntile = \"big\"\nhart = 3\n",
    ));
    let fault = fault.unwrap();
    assert_eq!(fault.when, When::Cycle { hart: 5, cycle: 9 });
    let (hart, cycles) = (3, None);
    assert_eq!(fault.action, Action::StopHart { hart, cycles });
    let fault = one(concat!(
        "at = { time = \"1 ms\" }\n",
        "do = \"flip-memory\"\ntile = \"small\"\naddress = 0x8000_0000\nbits = 2\n",
    ));
    let (tile, address, bits) = (1, 0x8000_0000, 2);
    let expected = Action::FlipMemory {
        tile,
        address,
        bits,
    };
    assert_eq!(fault.unwrap().action, expected);
    for (keys, what) in [
        (
            "tile = \"small\"\nhart = 2",
            "there is no hart 2: tile small has 2",
        ),
        (
            "tile = \"smal\"\nhart = 0",
            "\"smal\" is no tile of the machine",
        ),
    ] {
        let text = format!("at = {{ time = \"1 ms\" }}\ndo = \"stop-hart\"\n{keys}\n");
        let error = one(&text).unwrap_err();
        assert!(error.what.contains(what), "{error:?}");
    }
}

#[test]
fn packets_pass_between_tiles() {
    let fault = one(concat!(
        "at = { time = \"1 ms\" }\n",
        "do = \"repeat-message\"\nfrom = \"small\"\nclass = \"credit\"\nevery = 2\nby = \"5 ns\"\n",
    ));
    let choice = PacketChoice {
        from: Some(1),
        to: None,
        class: Some(PacketClass::Credit),
        every: 2,
        packets: 1,
    };
    let fault_of_packets = PacketFault::Repeat(5_000);
    let expected = Action::Packets {
        choice,
        fault: fault_of_packets,
    };
    assert_eq!(fault.unwrap().action, expected);
    let text = "[[fault]]\nat = { time = \"1 ms\" }\ndo = \"drop-message\"\n";
    let error = parse("faults.toml", text, &TILES[..1]).unwrap_err();
    assert!(error.what.contains("no packets pass"), "{error:?}");
}

#[test]
fn tiles_stop_and_packets_fail_at_a_state() {
    const TILES: &[(&str, usize)] = &[("root", 2), ("fft", 0), ("dram", 0)];
    let one = |text: &str| {
        let all = parse("faults.toml", &format!("[[fault]]\n{text}"), TILES);
        all.map(|all| all[0])
    };
    let fault = one(concat!(
        "at = { tile = \"fft\", state = \"waits for input\", times = 3 }\n",
        "do = \"stop-tile\"\ntile = \"dram\"\n",
    ));
    let state = STATE_NAMES
        .iter()
        .position(|name| *name == "waits for input");
    let (tile, state, times) = (1, state.unwrap(), 3);
    let fault = fault.unwrap();
    assert_eq!(fault.when, When::State { tile, state, times });
    assert_eq!(fault.action, Action::StopTile { tile: 2 });
    let fault = one(concat!(
        "at = { tile = \"fft\", state = \"writes\" }\n",
        "do = \"drop-message\"\nfrom = \"fft\"\n",
    ));
    assert!(matches!(fault.unwrap().when, When::State { times: 1, .. }));
    for (text, what) in [
        (
            "at = { tile = \"fft\", state = \"sleeps\" }\ndo = \"stop-tile\"\ntile = \"fft\"\n",
            "\"sleeps\" is not known",
        ),
        (
            "at = { state = \"writes\" }\ndo = \"stop-tile\"\ntile = \"fft\"\n",
            "`fault.at.tile` is missing",
        ),
        (
            "at = { tile = \"fft\", state = \"writes\" }\ndo = \"reset\"\n",
            "it cannot happen at a state",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"stop-tile\"\ntile = \"root\"\n",
            "tile root has harts",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"stop-tile\"\n",
            "`fault.tile` is missing",
        ),
    ] {
        let error = one(text).unwrap_err();
        assert!(error.what.contains(what), "{text}: {error:?}");
    }
}

#[test]
fn mistakes_have_their_line() {
    for (text, what) in [
        ("do = \"stop-hart\"\nhart = 0\n", "`fault.at` is missing"),
        ("at = { time = \"1 ms\" }\n", "`fault.do` is missing"),
        ("at = { }\ndo = \"drop-request\"\n", "it needs one of time"),
        (
            "at = { time = \"1 ms\", hart = 1 }\ndo = \"drop-request\"\n",
            "`fault.at.hart` is not known",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"stop\"\n",
            "\"stop\" is not known",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"corrupt-message\"\n",
            "is a fault to come",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"fill-queue\"\nfor = \"1 ms\"\n",
            "`fault.queue` is missing",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"fill-queue\"\nqueue = \"disk\"\nfor = \"1 ms\"\n",
            "\"disk\" is not known",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"fill-queue\"\nqueue = \"ring\"\n",
            "`fault.for` is missing",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"reset\"\nhart = 1\n",
            "`fault.hart` is not known",
        ),
        ("at = { time = 5 }\ndo = \"drop-request\"\n", "has no unit"),
        (
            "at = { time = \"1 ms\" }\ndo = \"flip-register\"\nhart = 0\nregister = \"x0\"\nbits = 1\n",
            "\"x0\" is not known",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"flip-memory\"\naddress = 0x8000_0004\nbits = 1\n",
            "it is no doubleword's",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"corrupt-input\"\nbits = 0x100\n",
            "is not in the range",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"corrupt-descriptor\"\nfield = \"stack\"\nbits = 1\n",
            "\"stack\" is not known",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"corrupt-descriptor\"\nfield = \"tile\"\nbits = 0x10000\n",
            "is not in the range",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"drop-message\"\nclass = \"letter\"\n",
            "\"letter\"",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"delay-message\"\n",
            "`fault.by` is missing",
        ),
        (
            "at = { time = \"1 ms\" }\ndo = \"drop-request\"\nhart = 1\n",
            "`fault.hart` is not known",
        ),
    ] {
        let error = one(text).unwrap_err();
        assert!(error.what.contains(what), "{text}: {error:?}");
        assert!(error.line != 0 && !error.help.is_empty(), "{error:?}");
    }
    assert!(parse("faults.toml", "", TILES).is_err());
    assert!(parse("faults.toml", "[[fault", TILES).is_err());
}

#[test]
fn any_texts_are_read_or_refused() {
    let text = "[[fault]]\nat = { hart = 1, address = 0x8000_0000, times = 3 }\ndo = \"delay-request\"\nby = \"1 ms\"\n";
    const PIECES: [&str; 12] = [
        "0",
        "-",
        "\"",
        "[",
        "]",
        "{",
        "}",
        "=",
        "\n",
        "99999999999999999999",
        "0x",
        "nan",
    ];
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    for _ in 0..3000 {
        let mut changed = text.to_owned();
        for _ in 0..1 + next(3) {
            let at = next(changed.len());
            let end = (at + next(9)).min(changed.len());
            changed.replace_range(at..end, PIECES[next(PIECES.len())]);
        }
        if let Err(error) = parse("faults.toml", &changed, TILES) {
            assert!(!error.what.is_empty() && !error.help.is_empty());
        }
    }
}
