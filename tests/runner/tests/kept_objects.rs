//! A build that begins at the objects of another gives the same program as one that compiles.
use std::fs;
use std::path::Path;

use flick_support::tree;
use flick_tests::build::{self, Compiler, Shape};
use flick_tests::filter::Filter;
use flick_tests::mode::{Engine, Link, Linker, Mode, Opt};
use flick_tests::program::{self, Program};
use flick_tests::suite::Setup;
use flick_tests::warm::Warm;

/// One unit; several; a library; objects in an archive; both languages.
const PROGRAMS: [&str; 5] = [
    "hello",
    "arity",
    "shared_library",
    "archive",
    "exception_mixed",
];

fn shape(link: Link, linker: Linker, engine: Engine) -> Shape {
    Shape::from(Mode {
        link,
        linker,
        engine,
        opt: Opt::O2,
        ..Mode::QUICK
    })
}

/// The program, and the libraries beside it.
fn made(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let files = program::sorted_entries(dir).unwrap().into_iter();
    let files = files.map(|file| (program::name_of(&file), fs::read(file).unwrap()));
    let linked = |(_, bytes): &(String, Vec<u8>)| bytes.starts_with(b"\x7fELF") && bytes[16] != 1;
    files.filter(linked).collect()
}

fn check(setup: &Setup, program: &Program, [first, other]: [Shape; 2]) {
    let dir = |name: &str| setup.work.join(name);
    let compiler = |shape: Shape| {
        let extra = format!("--flick-translate={}", shape.translate);
        Compiler::flick(&setup.flick_cc, vec![extra])
    };
    assert!(first.same_objects(other));
    let folder = dir("objects");
    let (_, kept) = build::keep_objects(
        program,
        &compiler(first),
        first,
        setup,
        &dir("first"),
        &folder,
    )
    .unwrap();
    // At the same place, so that paths in the program are no difference.
    build::build(program, &compiler(other), other, setup, &dir("other")).unwrap();
    let compiled = made(&dir("other"));
    assert!(!compiled.is_empty());
    build::link_again(
        program,
        &compiler(other),
        other,
        setup,
        &dir("other"),
        &kept,
    )
    .unwrap();
    let linked = made(&dir("other"));
    let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&compiled), names(&linked));
    for ((name, compiled), (_, linked)) in compiled.iter().zip(&linked) {
        assert!(compiled == linked, "{}: {name} differs", program.name);
    }
    // It did begin at them.
    for object in program::sorted_entries(&folder).unwrap() {
        fs::write(object, "no object").unwrap();
    }
    let built = build::link_again(
        program,
        &compiler(other),
        other,
        setup,
        &dir("other"),
        &kept,
    );
    assert!(built.is_err(), "{}", program.name);
}

#[test]
fn the_program_is_the_same() {
    let repository = tree::repository();
    let tests = repository.join("tests");
    let work = tempfile::tempdir().unwrap();
    let setup = Setup {
        flick_cc: tree::tool("flick-cc"),
        include: repository.join("include"),
        work: work.path().to_owned(),
        keep: false,
        again: false,
        timed: false,
        warm: Some(Warm::start(&tests.join("runner/warm")).unwrap()),
        tests: tests.clone(),
    };
    let programs = program::discover(&tests, &Filter::names(PROGRAMS)).unwrap();
    assert_eq!(programs.len(), PROGRAMS.len());
    let dynamic = shape(Link::NoPie, Linker::Bfd, Engine::Translate);
    let pie = |linker| shape(Link::Pie, linker, Engine::Ahead);
    for program in &programs {
        let of_static = Mode {
            link: Link::Static,
            ..Mode::QUICK
        };
        if program.directives.skips(of_static).is_some() {
            check(&setup, program, [pie(Linker::Bfd), pie(Linker::Lld)]);
        } else {
            check(&setup, program, [dynamic, of_static.into()]);
        }
    }
}
