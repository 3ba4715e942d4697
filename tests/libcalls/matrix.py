#!/usr/bin/env python3
"""What LLVM's code generator and its knowledge of libraries may call, by Flick and by plain clang.

The names come from LLVM's own headers, so that those of another LLVM fail here until cells.txt says
what they compute. A unit has every cell in four functions (plain, cold, minsize, optnone); it is
compiled by both, for each level and each kind of flags, and what the cells compute is compared.

  matrix.py [--sample] [--jobs N] [--work DIR] [--flick PATH] [LEVEL[:FLAGS]...]
"""
import argparse
import concurrent.futures
import fnmatch
import math
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LEVELS = ["O0", "O1", "O2", "O3", "Os", "Oz"]
FLAGS = {
    "none": [],
    "fast": ["-ffast-math", "-DFAST"],
    "nobuiltin": ["-fno-builtin"],
    "strict": ["-ffp-model=strict", "-DSTRICT"],
}
# Code for size and code that is not optimised have the most calls.
SAMPLE = [("Os", "none")]
SAMPLE_ATTRIBUTES = ["plain", "none"]
CLANG = "clang-19"
INCLUDE = "/usr/lib/llvm-19/include/llvm"

# The relative difference that results of an operation may have under -ffast-math (docs/limits.md,
# "Where RV64 shows").
FAST = {"d": 1e-13, "f": 1e-5, "h": 5e-3}


def fail(text):
    sys.exit(f"matrix.py: {text}")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def runtime_names():
    """(name, symbol) of every call that a code generator may make."""
    text = read(f"{INCLUDE}/IR/RuntimeLibcalls.def")
    names = re.findall(r'^HANDLE_LIBCALL\((\w+),\s*(?:"([^"]*)"|nullptr)\)', text, re.M)
    if len(names) < 500:
        fail("RuntimeLibcalls.def has another form")
    return [(name, symbol) for name, symbol in names if symbol or name == "BZERO"]


def library_names():
    """(name, types) of every function that LLVM knows."""
    text = read(f"{INCLUDE}/Analysis/TargetLibraryInfo.def")
    pattern = r'TLI_DEFINE_STRING_INTERNAL\("([^"]*)"\)\s*TLI_DEFINE_SIG_INTERNAL\(([^)]*)\)'
    found = re.findall(pattern, text)
    if len(found) < 480:
        fail("TargetLibraryInfo.def has another form")
    return [(name, [t.strip() for t in types.split(",")]) for name, types in found]


def library_symbols():
    """What a program can link with."""
    names = set()
    for library in ["libc.so.6", "libm.so.6"]:
        path = subprocess.run([CLANG, f"-print-file-name={library}"], capture_output=True,
                              text=True, check=True).stdout.strip()
        out = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True,
                             check=True).stdout
        names.update(re.findall(r" [TWi] (\w+)@@", out))
    return names


def cells_file():
    """{part: [(patterns, statements of each cell)]}"""
    parts = {}
    for line in read(f"{HERE}/cells.txt").splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            part = parts.setdefault(line[1:-1], [])
            continue
        if line.startswith("+"):
            part[-1][1].append(line[1:].strip())
            continue
        match = re.match(r"([\w*?\[\] ]+)([:!])\s*(.*)", line)
        if not match:
            fail(f"cells.txt: {line}")
        part.append((match[1].split(), [match[3]] if match[2] == ":" else []))
    return parts


MADE = {
    ("Dbl", "Dbl"): "D({0}(x));",
    ("Dbl", "Dbl", "Dbl"): "D({0}(x, y));",
    ("Dbl", "Dbl", "Int"): "D({0}(x, n - 8));",
    ("Flt", "Flt"): "F({0}((float)x));",
    ("Flt", "Flt", "Flt"): "F({0}((float)x, (float)y));",
    ("Flt", "Flt", "Int"): "F({0}((float)x, n - 8));",
}


def mathematical(name, types):
    """The cell of a function of numbers."""
    if "Floating" in types:
        kind = {"f": "Flt", "l": "LDbl"}.get(name[-1], "Dbl")
        types = [kind] * len(types)
    if "LDbl" in types:
        return None, True
    made = MADE.get(tuple(types))
    return (made.format(name) if made else None), made is not None


def atomic(name):
    """The cell of an atomic operation, from its name."""
    bits = int(name.rsplit("_", 1)[1]) * 8
    if bits > 64:
        return None
    unsigned, signed = f"uint{bits}_t", f"int{bits}_t"
    start = f"{{ {unsigned} x = ({unsigned})u, y = ({unsigned})v; "
    operation = name.split("_", 1)[1].rsplit("_", 1)[0].lower()
    if operation == "load":
        body = "L(__atomic_load_n(&x, 5));"
    elif operation == "store":
        body = "__atomic_store_n(&x, y, 5);"
    elif operation in ("exchange", "lock_test_and_set"):
        body = "L(__atomic_exchange_n(&x, y, 5));"
    elif operation in ("compare_exchange", "val_compare_and_swap"):
        body = f"L(__sync_val_compare_and_swap(&x, ({unsigned})u, y)); " \
               f"L(__atomic_compare_exchange_n(&x, &y, 3, 0, 5, 5)); L(y);"
    else:
        which = operation.removeprefix("fetch_and_").removeprefix("fetch_")
        target = "&x"
        if which in ("max", "min"):
            target = f"({signed} *)&x"
        which = which.removeprefix("u")
        body = f"L(__atomic_fetch_{which}({target}, y, 5));"
    return f"{start}{body} L(x); }}"


def plan():
    """[(name, statements)], and names that nothing is said of."""
    parts, cells, unknown = cells_file(), {}, []
    used = set()

    def listed(part, name):
        for number, (patterns, statements) in enumerate(parts[part]):
            if any(fnmatch.fnmatchcase(name, p) for p in patterns):
                used.add((part, number))
                for cell in statements:
                    cells.setdefault(cell, name)
                return True
        return False

    there = library_symbols()
    known = library_names()
    for name, types in known:
        statements, simple = mathematical(name, types)
        if statements and name in there:
            cells.setdefault(statements, name)
        elif not simple and not listed("library", name):
            unknown.append(f"TargetLibraryInfo.def: {name} ({', '.join(types)})")
    named = {name for name, _ in known}
    for name, symbol in runtime_names():
        if name.startswith(("SYNC_", "ATOMIC_")) and name[-1].isdigit() and atomic(name):
            cells.setdefault(atomic(name), name)
        elif not listed("runtime", name) and symbol not in named:
            unknown.append(f"RuntimeLibcalls.def: {name} (\"{symbol}\")")
    for part, entries in parts.items():
        for number, (patterns, _) in enumerate(entries):
            if (part, number) not in used:
                unknown.append(f"cells.txt: nothing is called {' '.join(patterns)}")
    if unknown:
        fail("these names need a cell, or a reason, in cells.txt:\n  " + "\n  ".join(unknown))
    return [(name, statements) for statements, name in cells.items()]


ATTRIBUTES = {
    "plain": "",
    "cold": "__attribute__((cold))",
    "small": "__attribute__((minsize))",
    "none": "__attribute__((optnone))",
}


def source(cells, attributes):
    text = ['#include "cells.h"\n']
    table = []
    for number, (name, statements) in enumerate(cells):
        # Half precision is refused there (FLK0212), and clang itself has no conversions of _BitInt.
        loose = re.search(r"\b(H\(|h\b|k\b|__bf16|_BitInt)", statements)
        text.append("#ifndef STRICT\n" if loose else "")
        for kind in attributes:
            head = f"CELL {ATTRIBUTES[kind]} static void {kind}_{number}(void)"
            text.append(f"{head} {{ EACH({statements}) }}\n")
        text.append("#endif\n" if loose else "")
        for kind in attributes:
            line = f'  {{"{name}", "{kind}", {kind}_{number}}},\n'
            table.append(f"#ifndef STRICT\n{line}#endif\n" if loose else line)
    text.append("const struct cell cells[] = {\n" + "".join(table) + "  {0, 0, 0}};\n")
    return "".join(text)


def run(words, cwd, **more):
    return subprocess.run(words, cwd=cwd, capture_output=True, check=False, **more)


def build(compiler, level, flags, work, name):
    unit = run([compiler, f"-{level}", *FLAGS[flags], "-w", "-fPIE", f"-I{ROOT}/include",
                f"-I{HERE}", "-c", "cells.c", "-o", f"{name}.o"], work)
    if unit.returncode == 0:
        unit = run([compiler, "-pie", f"{name}.o", "host.o", "-lm", "-o", name], work)
    if unit.returncode != 0:
        return f"{name} does not build\n{unit.stderr.decode(errors='replace')[:3000]}"
    return None


def number(word):
    kind, bits = word[0], word[1:]
    if kind == "d":
        return struct.unpack("<d", struct.pack("<Q", int(bits, 16)))[0]
    return struct.unpack("<f", struct.pack("<I", int(bits, 16)))[0]


def alike(cell, want, have, fast):
    if want == have:
        return True
    kind = want[:1]
    if kind not in "dfh" or have[:1] != kind:
        return False
    x, y = number(want), number(have)
    if math.isnan(x) and math.isnan(y):
        return True  # sign and payload of a NaN are open
    if x == y == 0 and cell.startswith(("fmin", "fmax")):
        return True  # which zero they give is open
    if not fast:
        return False
    if not (math.isfinite(x) and math.isfinite(y)):
        return True  # -ffast-math promises that there are none
    return abs(x - y) <= FAST[kind] * max(abs(x), abs(y)) or max(abs(x), abs(y)) < 1e-30


def compare(want, have, fast):
    """The first differences, a line for each cell."""
    want, have = want.splitlines(), have.splitlines()
    out = []
    for one, other in zip(want, have):
        if one == other:
            continue
        left, right = one.split(" "), other.split(" ")
        bad = [i for i, (a, b) in enumerate(zip(left, right)) if not alike(left[0], a, b, fast)]
        if bad or len(left) != len(right):
            i = bad[0] if bad else 0
            out.append(f"{left[0]}: result {i}: clang {left[i]}, Flick {right[i]}")
    if len(want) != len(have):
        out.append(f"clang printed {len(want)} lines, Flick {len(have)}; its last: {have[-1:]}")
    return out


def combination(level, flags, options):
    work = os.path.join(options.work, f"{level}-{flags}")
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(work, "cells.c"), "w", encoding="utf-8") as file:
        file.write(options.source)
    host = run([CLANG, "-O1", "-fPIE", "-Wall", "-Wextra", "-Werror", "-c", f"{HERE}/host.c", "-o",
                "host.o"] + (["-DSTRICT"] if flags == "strict" else []), work)
    if host.returncode:
        return [host.stderr.decode()]
    printed = []
    for compiler, name in [(CLANG, "native"), (options.flick, "flick")]:
        broken = build(compiler, level, flags, work, name)
        if broken:
            return [broken]
        ran = run([f"./{name}"], work, timeout=300,
                  env={**os.environ, "FLICK_OFFLOAD": "require"})
        text = ran.stdout.decode(errors="replace")
        printed.append(text)
        if ran.returncode != 0:
            last = text.splitlines()[-1:] or ["nothing"]
            return [f"{name} ended with {ran.returncode} behind {last[0][:60]}"]
    return compare(*printed, flags == "fast")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", default=f"{ROOT}/build/test/libcalls")
    parser.add_argument("--flick", default=f"{ROOT}/build/bin/flick-cc")
    parser.add_argument("which", nargs="*")
    options = parser.parse_args()
    cells = plan()
    attributes = SAMPLE_ATTRIBUTES if options.sample else list(ATTRIBUTES)
    options.source = source(cells, attributes)
    chosen = SAMPLE if options.sample else [(a, b) for a in LEVELS for b in FLAGS]
    if options.which:
        chosen = [(word.split(":") + ["none"])[:2] for word in options.which]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = [(a, b, pool.submit(combination, a, b, options)) for a, b in chosen]
        for level, flags, result in results:
            problems = result.result()
            failed += bool(problems)
            print(f"{'FAILED' if problems else 'passed'} -{level} {flags}", flush=True)
            for line in problems[:20]:
                print(f"  {line}")
            if len(problems) > 20:
                print(f"  and {len(problems) - 20} more")
    print(f"{len(cells)} cells, {len(cells) * len(attributes)} functions a unit: "
          f"{len(chosen) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
