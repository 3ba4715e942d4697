#!/usr/bin/env python3
"""Carries out a page of the documentation and compares what it shows.

    transcript.py PAGE FLICK-ROOT [--print] [--near=PERCENT]

In PAGE, a block ```console has commands behind `$ ` (`> ` where one goes on) and what they print. All of
them run in one bash in the current directory, in order. A block ```LANGUAGE NAME is a file that is
written at that point. In what is shown, `…` stands for anything, a line of `…` alone for any lines;
the width of columns does not count;
/usr/local stands for FLICK-ROOT, in commands also, and /home/you for the current directory. A command
that fails says so in a comment: `# fails`. --print: the page with what the commands print now. --near: a
number may be that much more or less than the page's.
"""
import os
import re
import subprocess
import sys

MARK = "==transcript=="


def parse(text):
    """Yields ("text", lines), ("file", lines, name) and ("console", [(command, shown)])."""
    lines = iter(text.split("\n"))
    plain = []
    for line in lines:
        if not line.startswith("```"):
            plain.append(line)
            continue
        yield "text", plain
        plain = []
        fence, inside = line, []
        for line in lines:
            if line == "```":
                break
            inside.append(line)
        else:
            sys.exit(f"no end of the block {fence}")
        if fence == "```console":
            commands = []
            for line in inside:
                if line.startswith("$ "):
                    commands.append([line[2:], []])
                elif line.startswith("> ") and commands and not commands[-1][1]:
                    commands[-1][0] += "\n" + line[2:]
                elif commands:
                    commands[-1][1].append(line)
                else:
                    sys.exit(f"output before a command: {line}")
            yield "console", commands
        elif " " in fence:
            yield "file", inside, fence
        else:
            yield "text", [fence, *inside, "```"]
    yield "text", plain


def matches(shown, have, near):
    """Whether the lines `have` are what `shown` says."""
    if not shown:
        return not have
    if shown[0] == "…":
        return any(matches(shown[1:], have[n:], near) for n in range(len(have) + 1))
    return bool(have) and alike(spaces(shown[0]), spaces(have[0]), near) and matches(shown[1:], have[1:], near)


NUMBER = r"(\d[\d,]*(?:\.\d+)?)"


def alike(shown, have, near):
    """Whether two lines are the same but for `…` and, where they need not be equal, numbers."""
    parts = re.split(r" *… *", shown)
    if not near:
        return bool(re.fullmatch(".*".join(map(re.escape, parts)), have))
    lines = ["".join(NUMBER if n % 2 else re.escape(text) for n, text in enumerate(re.split(NUMBER, part))) for part in parts]
    found = re.fullmatch(".*?".join(lines), have)
    if not found:
        return False
    value = lambda text: float(text.replace(",", ""))
    pairs = zip(re.findall(NUMBER, " ".join(parts)), found.groups())
    return all(abs(value(a) - value(b)) <= near / 100 * max(value(a), value(b)) for a, b in pairs)


def spaces(line):
    return re.sub(" +", " ", line.rstrip())


def main():
    page, root = sys.argv[1:3]
    near = next((float(word[7:]) for word in sys.argv if word.startswith("--near=")), 0)
    here = os.getcwd()
    blocks = list(parse(open(page, encoding="utf-8").read()))
    script = []
    for kind, *rest in blocks:
        if kind == "file":
            name = rest[1].split(" ", 1)[1]
            body = "\n".join(rest[0])
            script.append(f"cat >{here}/{name} <<'{MARK}'\n{body}\n{MARK}")
        elif kind == "console":
            for command, _ in rest[0]:
                command = command.replace("/usr/local", root).replace("/home/you", here)
                script.append(f"{command}\nprintf '{MARK}%d\\n' $?")
    done = subprocess.run(
        ["bash", "-c", "exec 2>&1 </dev/null\n" + "\n".join(script)],
        stdout=subprocess.PIPE, text=True, check=False,
    )
    results = re.split(f"{MARK}(\\d+)\n", done.stdout.replace(here, "/home/you").replace(root, "/usr/local"))
    if results.pop():
        sys.exit(f"the shell ended early: {done.stdout[-2000:]}")
    outputs, statuses = iter(results[0::2]), iter(results[1::2])

    bad = 0
    for kind, *rest in blocks:
        if kind == "text" and "--print" in sys.argv:
            print("\n".join(rest[0]))
        elif kind == "file" and "--print" in sys.argv:
            print("\n".join([rest[1], *rest[0], "```"]))
        elif kind == "console":
            if "--print" in sys.argv:
                print("```console")
            for command, shown in rest[0]:
                output, status = next(outputs), next(statuses)
                have = output.removesuffix("\n").split("\n") if output else []
                fails = bool(re.search(r"#.*\bfails\b", command))
                if "--print" in sys.argv:
                    print("\n".join(["$ " + command.replace("\n", "\n> "), *have]))
                    continue
                print(f"$ {command}\n{output}", end="")
                if fails != (status != "0"):
                    print(f"--- exit status {status}")
                    bad += 1
                elif not matches(shown, have, near):
                    print("--- but the page shows:", *shown, sep="\n")
                    bad += 1
            if "--print" in sys.argv:
                print("```")
    sys.exit(bad != 0)


main()
