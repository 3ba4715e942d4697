//! `flick place --explain` and `flick objdump` on finished programs and on files that are none.
mod common;

use common::{Bench, fixture};
use flick_diagnostics::Code;
use flick_driver::verify::verify_bytes;
use flick_driver::{Objdump, objdump, place_explain, verify};
use flick_image::host_memory::HostMemory;
use flick_image::module_in_file::{ModuleInFile, TranslationInFile};
use flick_names::Demangle;
use flick_support::output::{quiet, stdout};

fn dump(options: &Objdump) -> Result<String, flick_driver::Error> {
    let mut out = Vec::new();
    objdump::objdump_to(options, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn a_linked_program() {
    let bench = Bench::new();
    let payload = bench.payload(&["OTHER=__flick_nxp_third"]);
    bench.fat("unit", "placed", &payload, &[]);
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    bench.cc_quiet("main.o unit.o -o prog");
    let prog = bench.path("prog");

    let text = place_explain(&prog, Demangle::Yes).unwrap();
    assert!(
        text.contains("placed    nxp    marked in the source  unit.c  unit.c:3\n"),
        "{text}"
    );
    assert!(text.ends_with(
        "1 on the NxP, 0 on both sides, 0 on the host (0 of them could not be placed)\n"
    ));
    assert_eq!(
        place_explain(&bench.path("unit.o"), Demangle::Yes).unwrap(),
        text
    );

    let options = Objdump {
        file: prog.clone(),
        nxp: true,
        ..Objdump::default()
    };
    let text = dump(&options).unwrap();
    for want in [
        "<placed>:",
        "<third>:",
        "<memcpy>:",
        "<host_function on the host>",
        "auipc",
        "addw",
    ] {
        assert!(text.contains(want), "no {want:?} in {text}");
    }
    assert!(
        !text.contains("__flick_nxp_") && !text.contains(".L") && !text.contains("<main>"),
        "{text}"
    );
    assert!(!text.contains("<unknown>"), "{text}");
    let both = dump(&Objdump {
        host: true,
        source: true,
        ..options.clone()
    })
    .unwrap();
    for want in [
        "<main>:",
        "<placed>:",
        "endbr64",
        "host_function(values[i])",
    ] {
        assert!(both.contains(want), "no {want:?} in {both}");
    }
    let translated = dump(&Objdump {
        translated: true,
        function: Some("placed".into()),
        ..options.clone()
    })
    .unwrap();
    for want in [
        "<placed>:\nx86-64 in the file: ",
        "\tret",
        ":\tretq\n",
        "            cold ",
        "<host_function on the host>",
    ] {
        assert!(translated.contains(want), "no {want:?} in {translated}");
    }
    assert!(
        !translated.contains("<third>:") && !translated.contains("<engine>"),
        "{translated}"
    );
    let mistyped = dump(&Objdump {
        function: Some("placd".into()),
        ..options.clone()
    });
    let said = mistyped.unwrap_err();
    assert_eq!(said.code, Code::BadOption);
    assert!(
        said.to_string().contains("did you mean 'placed'?"),
        "{said}"
    );
    // Addresses are the program's, and without symbols offsets.
    let at = |text: &str| {
        let line = text
            .lines()
            .find(|line| line.ends_with("<placed>:"))
            .unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    };
    quiet(std::process::Command::new("strip").arg(&prog));
    assert!(stdout(&bench.run("prog")).contains("gate placed -> placed"));
    assert!(at(&dump(&options).unwrap()) < at(&text));
}

#[test]
fn a_translation_is_compared() {
    let bench = Bench::new();
    let payload = bench.payload(&["OTHER=__flick_nxp_third"]);
    bench.fat("unit", "placed", &payload, &[]);
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    bench.cc_quiet("main.o unit.o -o prog");
    let right = verify(&bench.path("prog")).unwrap();
    assert_eq!(right.differences, []);
    let good = std::fs::read(bench.path("prog")).unwrap();
    let memory = HostMemory::parse(&good).unwrap();
    let module = ModuleInFile::find(&memory).unwrap();
    let translation = TranslationInFile::read(&memory, module.translation.unwrap()).unwrap();
    // Each byte of the code belongs to an instruction, a constant, a table, a displacement or the
    // padding.
    let code = translation.code.as_ptr() as usize - good.as_ptr() as usize;
    let states = translation.states.as_ptr() as usize - good.as_ptr() as usize;
    let parts = [
        (code, translation.code.len()),
        (states, translation.states.len()),
    ];
    for (start, len) in parts {
        for at in start..start + len {
            let mut bad = good.clone();
            bad[at] ^= 1;
            let wrong = verify_bytes(&bad).unwrap().differences;
            assert_eq!(wrong.len(), 1, "{at}: {wrong:?}");
            assert_eq!(wrong[0].code, Code::WrongTranslation);
        }
    }
    let stamp = translation.stamp.unwrap().to_le_bytes();
    let mut windows = good.windows(8);
    let stamp = windows.position(|word| word == stamp).unwrap();
    let mut other = good.clone();
    other[stamp] ^= 1;
    let wrong = verify_bytes(&other).unwrap().differences;
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    // With other bytes, too, it is another version's.
    other[code] ^= 1;
    let verified = verify_bytes(&other).unwrap();
    assert_eq!(verified.differences, []);
    assert!(
        verified.summary.contains("another version"),
        "{}",
        verified.summary
    );
    bench.cc_quiet("--flick-translate=run main.o unit.o -o none");
    let none = verify(&bench.path("none")).unwrap();
    assert!(none.differences.is_empty() && none.summary.starts_with("no translation"));
}

#[test]
fn files_without_nxp_code() {
    let bench = Bench::new();
    bench.fat("unit", "placed", &bench.payload(&[]), &[]);
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    let code = |file: &str| {
        let options = Objdump {
            file: bench.path(file),
            nxp: true,
            ..Objdump::default()
        };
        dump(&options).unwrap_err().code
    };
    assert_eq!(code("main.o"), Code::NoNxpCode);
    assert_eq!(code("unit.o"), Code::NoNxpCode);
    assert_eq!(code("payload.o"), Code::OtherMachine);
    assert_eq!(code("missing"), Code::FileAccess);
    assert_eq!(
        place_explain(&bench.path("main.o"), Demangle::Yes)
            .unwrap_err()
            .code,
        Code::NoNxpCode
    );
    assert_eq!(
        place_explain(&bench.path("payload.o"), Demangle::Yes)
            .unwrap_err()
            .code,
        Code::OtherMachine
    );
}

#[test]
fn a_damaged_program_never_panics() {
    let bench = Bench::new();
    bench.fat("unit", "placed", &bench.payload(&[]), &[]);
    bench.host("main", &fixture("main.c"), &["-fPIE"]);
    bench.cc_quiet("main.o unit.o -o prog");
    let good = std::fs::read(bench.path("prog")).unwrap();
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let check = |bytes: &[u8]| match flick_image::FinalFile::parse(bytes) {
        Ok(_) => None,
        Err(error) => Some(error.code),
    };
    assert_eq!(check(&good), None);
    let mut codes = std::collections::BTreeSet::new();
    for _ in 0..300 {
        codes.insert(check(&good[..random(good.len())]));
    }
    let headers = good.len() - 64 * 40;
    for _ in 0..3000 {
        let mut bad = good.clone();
        // The ends of the file have the headers, where a bit matters most.
        let at = match random(3) {
            0 => random(64),
            1 => headers + random(64 * 40),
            _ => random(good.len()),
        };
        bad[at] ^= 1 << random(8);
        codes.insert(check(&bad));
        if let Ok(file) = flick_image::FinalFile::parse(&bad) {
            let _ = flick_image::Linked::parse(file.nxp_elf);
            let _ = verify_bytes(&bad);
        }
    }
    assert!(
        codes.contains(&Some(Code::CorruptedImage)) && codes.contains(&Some(Code::OtherMachine)),
        "{codes:?}"
    );
    let expected = [
        None,
        // A bit of a version.
        Some(Code::OtherVersion),
        Some(Code::OtherMachine),
        Some(Code::NoNxpCode),
        Some(Code::CorruptedImage),
    ];
    assert!(
        codes.iter().all(|code| expected.contains(code)),
        "{codes:?}"
    );
}
