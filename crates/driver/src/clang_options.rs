//! The facts about clang's options by which Flick distinguishes inputs from values.

/// Options whose value is the next word; clang says of each "argument to '…' is missing" where
/// there is none.
pub const SEPARATE: &[&str] = &[
    "--assert",
    "--config",
    "--define-macro",
    "--dyld-prefix",
    "--for-linker",
    "--force-link",
    "--imacros",
    "--include",
    "--include-directory",
    "--include-directory-after",
    "--include-prefix",
    "--include-with-prefix",
    "--include-with-prefix-after",
    "--include-with-prefix-before",
    "--language",
    "--library-directory",
    "--no-system-header-prefix",
    "--output",
    "--param",
    "--prefix",
    "--print-file-name",
    "--resource",
    "--rtlib",
    "--serialize-diagnostics",
    "--specs",
    "--std",
    "--stdlib",
    "--sysroot",
    "--system-header-prefix",
    "--undefine-macro",
    "--vfsoverlay",
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-V",
    "-Xanalyzer",
    "-Xarch_device",
    "-Xarch_host",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xoffload-linker",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-arch",
    "-b",
    "-ccc-gcc-name",
    "-ccc-install-dir",
    "-cxx-isystem",
    "-dependency-dot",
    "-dependency-file",
    "-dumpdir",
    "-e",
    "-fdebug-compilation-dir",
    "-fexperimental-openacc-macro-override",
    "-fmodules-user-build-path",
    "-ftrapv-handler",
    "-gen-cdb-fragment-path",
    "-idirafter",
    "-iframework",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-l",
    "-meabi",
    "-mllvm",
    "-module-dependency-dir",
    "-mthread-model",
    "-o",
    "-resource-dir",
    "-rpath",
    "-serialize-diagnostics",
    "-stdlib++-isystem",
    "-target",
    "-u",
    "-vfsoverlay",
    "-working-directory",
    "-x",
    "-z",
];

/// Languages of clang's that Flick does not follow, by how their names for `-x` begin.
pub const REFUSED_LANGUAGES: &[&str] = &[
    "objective-c",
    "objc-cpp-output",
    "cuda",
    "hip",
    "cl",
    "ir",
    "f77",
    "f95",
    "ada",
    "d",
    "go",
    "hlsl",
    "java",
    "renderscript",
    "treelang",
    "api-information",
];

/// Whether the option makes clang instrument host code, so that functions which nobody placed are
/// expected to run there.
pub fn instruments_host(option: &str) -> bool {
    const EXACT: [&str; 9] = [
        "--coverage",
        "-coverage",
        "-fprofile-arcs",
        "-ftest-coverage",
        "-fcoverage-mapping",
        "-pg",
        "-finstrument-functions",
        "-finstrument-functions-after-inlining",
        "-finstrument-function-entry-bare",
    ];
    let sanitizers = option.strip_prefix("-fsanitize=").unwrap_or_default();
    EXACT.contains(&option)
        || sanitizers.split(',').any(|name| name == "address")
        || [
            "-fprofile-generate",
            "-fprofile-instr-generate",
            "-fcs-profile-generate",
        ]
        .iter()
        .any(|prefix| option.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    #[test]
    fn separate_values() {
        for option in super::SEPARATE {
            let output = Command::new("clang-19")
                .args(["-###", "-c", "a.c", option])
                .output();
            let text = String::from_utf8(output.unwrap().stderr).unwrap();
            assert!(
                text.contains("is missing (expected 1 value)"),
                "{option}: {text}"
            );
        }
    }
}
