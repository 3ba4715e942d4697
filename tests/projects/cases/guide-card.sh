# docs/card-programs.md, literally; where there is no toolchain of the card, this is skipped.
. "$FLICK_TEST_PROJECTS/lib.sh"
need_card kernel.elf libcard.a c++/libstdc++.a
"$projects/transcript.py" "$projects/../../docs/card-programs.md" "$flick_root"
