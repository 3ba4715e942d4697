# docs/guide-two-clusters.md, literally; instructions and cycles change with the kernel.
. "$FLICK_TEST_PROJECTS/lib.sh"
need_card kernel.elf libcard.a
"$projects/transcript.py" "$projects/../../docs/guide-two-clusters.md" "$flick_root" --near=50
