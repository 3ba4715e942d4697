#!/usr/bin/env python3
"""The rules of prose (CONTRIBUTING.md, "Words") that a program can check, for Markdown pages and for
the parts of manual pages (`.man`).

Usage: check.py FILE...

Prints `FILE:LINE: RULE: what is wrong` for each offence; the exit status is 3 if there was one.
`words.txt` has the words that the project replaces, `verbs.txt` the verbs that its pages use.

rule       holds for
columns    every line outside of code, tables and lines that end in a link
sentence   at most 35 words in a sentence; a code span is one word
semicolon  at most one `;` in a sentence
verb       a sentence that ends with a full stop has a finite verb
pronoun    no sentence begins with a "what" that stands for a noun
word       no word or phrase of words.txt
cell       at most 140 columns in a cell of a table, without the targets of links
link       a relative link leads to a file, and its anchor to a heading of it
proselint  proselint finds nothing; proselint.conf turns off its checks of typography and topics that are not ours
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS, WORDS, CELL = 100, 35, 140
# Made from tests, whose output and lists of names are as wide as they are.
GENERATED = {"mistakes.md", "transparency.md"}
AUXILIARY = set(
    "am is are was were be has have had do does did can could may might must shall should will would "
    "cannot".split()
)
# A word behind one of these is a noun, whatever else it may be elsewhere.
BEFORE_NOUNS = set(
    "a an the its their our your each every no any some another such "
    "of in by with without from for on at as into per over under between behind beside".split()
)
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|no|al)\.$")


def lines_of(name):
    for line in (HERE / name).read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            yield line


def verbs():
    """Finite forms: each verb, its third person, and irregular past forms as they are listed."""
    forms = set(AUXILIARY)
    for word in " ".join(lines_of("verbs.txt")).split():
        forms.add(word)
        if re.search(r"(?:s|x|z|ch|sh|o)$", word):
            forms.add(word + "es")
        elif re.search(r"[^aeiou]y$", word):
            forms.add(word[:-1] + "ies")
        else:
            forms.add(word + "s")
    return forms


def replaced():
    """Pairs of pattern and advice from `words.txt`."""
    for line in lines_of("words.txt"):
        pattern, _, advice = line.partition("=>")
        yield re.compile(rf"\b(?:{pattern.strip()})\b", re.IGNORECASE), advice.strip()


def markdown(page):
    """The page's text; that of a manual page with its macros as Markdown, line by line."""
    text = page.read_text()
    if page.suffix != ".man":
        return text
    out, term = [], False
    for line in text.splitlines():
        macro, _, rest = line.partition(" ") if line.startswith(".") else ("", "", line)
        rest = re.sub(r"\\f[BIR]|\"", "", rest).replace("\\-", "-")
        if macro in (".nf", ".fi"):
            out.append("```")
        elif macro in (".SH", ".PP", ".TP") or line.startswith("@OPTIONS@"):
            out.append("")
        elif term:  # it names what the next lines explain
            out.append(f"# {rest}")
        else:
            out.append(f"`{rest}`" if macro else rest)
        term = macro == ".TP"
    return "\n".join(out)


def blocks(text):
    """Yields (line number, kind, text): `prose` is a paragraph or a list item, lines joined by
    newlines; `cell` is a cell of a table; `line` is every line that prose or a heading has."""
    paragraph, start, fence, comment = [], 0, False, False

    def flush():
        nonlocal paragraph
        if paragraph:
            yield start, "prose", "\n".join(paragraph)
        paragraph = []

    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if comment or stripped.startswith("<!--"):
            comment = "-->" not in stripped
            continue
        if stripped.startswith("```"):
            fence = not fence
            yield from flush()
        elif fence:
            continue
        elif not stripped or stripped.startswith(("#", "|")):
            yield from flush()
            if stripped.startswith("|"):
                cells = re.split(r"(?<!\\)\|", stripped.strip("|"))
                yield from ((number, "cell", cell.strip()) for cell in cells)
            elif stripped:
                yield number, "line", line
        elif line.startswith("    ") and not paragraph:
            continue
        else:
            yield number, "line", line
            if re.match(r"(?:[-*]|\d+\.) ", stripped):
                yield from flush()
            if not paragraph:
                start = number
            paragraph.append(stripped)
    yield from flush()


def plain(text):
    """Without code, link targets, emphasis and the marker of a list item; newlines stay."""
    text = re.sub(r"`[^`]*`", lambda m: "CODE" + "\n" * m[0].count("\n"), text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^(?:[-*]|\d+\.) ", "", text)
    text = re.sub(r"^\*\*[^*]*[.:]\*\*\s*", "", text)  # a heading within the line
    return re.sub(r"\*+", "", text)


def sentences(text):
    """Yields (lines before it, sentence)."""
    begin = 0
    for match in re.finditer(r"[.!?][)\"]?(?=\s+[A-Z(\"]|\s*$)", text):
        if ABBREVIATION.search(text[begin : match.start() + 1]):
            continue
        piece = text[begin : match.end()]
        lead = len(piece) - len(piece.lstrip())
        yield text.count("\n", 0, begin + lead), piece.strip()
        begin = match.end()
    rest = text[begin:]
    if rest.strip():
        yield text.count("\n", 0, begin), rest.strip()


def anchors(page):
    fence = False
    for line in page.read_text().splitlines():
        yield from re.findall(r'<a (?:id|name)="([^"]+)"', line)
        if line.startswith("```"):
            fence = not fence
        if not fence and line.startswith("#"):
            title = re.sub(r"[`*]", "", line.lstrip("#").strip()).lower()
            yield re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def check(page, known_verbs, words):
    text = markdown(page)
    for number, kind, piece in blocks(text):
        bare = plain(piece)
        if kind == "line":
            wide = len(piece) > COLUMNS and page.name not in GENERATED
            if wide and not re.search(r"\S*(?:\]\(|://)\S*$", piece):
                yield number, "columns", f"{len(piece)} columns, more than {COLUMNS}"
            continue
        for pattern, advice in words:
            for match in pattern.finditer(bare):
                at = number + bare.count("\n", 0, match.start())
                yield at, "word", f"'{match[0]}': {advice}"
        shown = len(re.sub(r"\]\([^)]*\)", "]", piece))
        if kind == "cell" and shown > CELL and page.name not in GENERATED:
            yield number, "cell", f"{shown} columns, more than {CELL}: write it below the table"
        if kind == "cell":
            continue
        for offset, sentence in sentences(bare):
            at = number + offset
            sentence = " ".join(sentence.split())
            tokens = re.findall(r"[A-Za-z'’]+", sentence)
            if len(tokens) > WORDS:
                yield at, "sentence", f"{len(tokens)} words, more than {WORDS}: '{sentence[:40]}…'"
            if sentence.rstrip(";").count(";") > 1:
                yield at, "semicolon", f"more than one ';': '{sentence[:40]}…'"
            if re.match(r"What\b", sentence) and sentence.endswith((".", ":", ";")):
                yield at, "pronoun", f"name the thing: '{sentence[:40]}…'"
            if sentence.endswith(".") and len(tokens) > 1:
                # Contractions count by their first half: "it's", "doesn't".
                words_of = [w.split("'")[0] for w in re.findall(r"[a-z'’]+|\d+", sentence.lower())]
                before = [""] + words_of
                if not any(
                    word in known_verbs and (word in AUXILIARY or before[i] not in BEFORE_NOUNS)
                    for i, word in enumerate(words_of)
                ):
                    yield at, "verb", f"no finite verb: '{sentence[:60]}'"
    # Links may be broken over two lines; those in code are none.
    without_code = re.sub(r"```.*?```|`[^`\n]*`", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    for match in re.finditer(r"\]\(([^)\s]+)\)", without_code):
        target, _, anchor = match[1].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        at = without_code.count("\n", 0, match.start()) + 1
        other = page.parent / target if target else page
        if not other.exists():
            yield at, "link", f"there is no {target}"
        elif anchor and other.suffix == ".md" and anchor not in set(anchors(other)):
            yield at, "link", f"{target or page.name} has no heading #{anchor}"


def bare(page):
    """The page's lines without code and tables; each stays where it is."""
    text = markdown(page)
    out = [""] * (text.count("\n") + 1)
    for number, kind, piece in blocks(text):
        if kind == "prose":
            for offset, line in enumerate(plain(piece).split("\n")):
                out[number - 1 + offset] = line
    return out


def proselint(pages):
    """What proselint says of all pages. It takes half a second for each text, however short, so it
    gets them as one."""
    where, lines = [], []
    for page in pages:
        for number, line in enumerate(bare(page), 1):
            where.append((page, number))
            lines.append(line)
    with tempfile.TemporaryDirectory() as home:
        # It looks for its settings in the first directory, and writes a cache to the second.
        config = pathlib.Path(home) / "proselint" / "config"
        config.parent.mkdir()
        config.write_text((HERE / "proselint.conf").read_text())
        environment = dict(os.environ, XDG_CONFIG_HOME=home, XDG_CACHE_HOME=home)
        text = "\n".join(lines) + "\n"
        run = subprocess.run(
            ["proselint", "-j"], input=text, capture_output=True, text=True, env=environment
        )
    for error in json.loads(run.stdout)["data"]["errors"]:
        page, number = where[error["line"] - 1]
        yield page, number, "proselint", f"{error['message']} ({error['check']})"


def main():
    pages = [pathlib.Path(name) for name in sys.argv[1:]]
    known_verbs, words = verbs(), list(replaced())
    found = set(proselint(pages))
    for page in pages:
        found |= {(page, *offence) for offence in check(page, known_verbs, words)}
    for page, number, rule, why in sorted(found):
        print(f"{page}:{number}: {rule}: {why}")
    return 3 if found else 0


if __name__ == "__main__":
    sys.exit(main())
