# lit's configuration of the tests of the compiler pass. The substitutions that RUN lines may use, besides
# lit's own, are:
#   %flick, %flickxx    clang or clang++ with the pass
#   %plain, %plainxx    the same compiler with the same macros and headers, without the pass
#   %clang, %clangxx    the compiler alone
#   %include            the directory of flick.h
#   %nxp FAT OUT        writes the RV64 object of a fat object
#   %dis FAT            disassembles it, with relocations
#   %links [-o OUT] FAT...  links the RV64 objects of fat objects into an image
#   %places FAT         prints the placement lines
#   %known OUT          writes the names of functions that LLVM knows
import os

import lit.formats

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
llvm = "/usr/lib/llvm-19/bin"

config.name = "flick-pass"
config.suffixes = [".c", ".cpp"]
config.test_format = lit.formats.ShTest(execute_external=True)
config.test_source_root = here
config.test_exec_root = os.environ.get("FLICK_PASS_WORK", os.path.join(root, "build/test/pass"))
# A failure anywhere in a pipeline is one.
config.pipefail = True

plugin = os.environ.get("FLICK_PASS", os.path.join(root, "build/lib/flick/flick-pass.so"))
if not os.path.exists(plugin):
    lit_config.fatal(f"there is no {plugin}: `make build` makes it, and FLICK_PASS names another")

# With the tools that the caller has put in front, and behind all others LLVM's `not`.
config.environment.update(os.environ)
config.environment["PATH"] = os.environ["PATH"] + os.pathsep + llvm

include = os.path.join(root, "include")
macros = f"-D__FLICK__=1 -I{include}"
load = f"-fpass-plugin={plugin} -Xclang -load -Xclang {plugin}"
tools = os.path.join(here, "objects.sh")
config.substitutions += [
    ("%flickxx", f"clang++-19 {macros} {load}"),
    ("%flick", f"clang-19 {macros} {load}"),
    ("%plainxx", f"clang++-19 {macros}"),
    ("%plain", f"clang-19 {macros}"),
    ("%clangxx", "clang++-19"),
    ("%clang", "clang-19"),
    ("%include", include),
    (r"\bFileCheck\b", "FileCheck-19 --dump-input-context=2"),
] + [("%" + name, f"{tools} {name}") for name in ["nxp", "dis", "links", "places", "known"]]
