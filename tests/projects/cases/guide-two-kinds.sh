# docs/guide-two-kinds.md, literally; instructions change with compiler and kernel.
. "$FLICK_TEST_PROJECTS/lib.sh"
need_card kernel-host.elf
"$projects/transcript.py" "$projects/../../docs/guide-two-kinds.md" "$flick_root" --near=50
