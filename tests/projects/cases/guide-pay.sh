# docs/guide-will-it-pay.md, literally. Its times are of code that this clang makes: near, not
# equal.
. "$FLICK_TEST_PROJECTS/lib.sh"
"$projects/transcript.py" "$projects/../../docs/guide-will-it-pay.md" "$flick_root" --near=10
