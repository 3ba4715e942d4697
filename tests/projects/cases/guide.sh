# docs/guide-first-function.md, literally.
. "$FLICK_TEST_PROJECTS/lib.sh"
"$projects/transcript.py" "$projects/../../docs/guide-first-function.md" "$flick_root"
