# docs/card-programs.md, literally; where there is no toolchain of the card, this is skipped.
. "$FLICK_TEST_PROJECTS/lib.sh"
for part in kernel.elf libcard.a c++/libstdc++.a; do
  [ -e "$flick_root/lib/flick/card/$part" ] && continue
  echo "skipped: no $part (make says why)"
  [ -z "${CI:-}" ]
  exit
done
"$projects/transcript.py" "$projects/../../docs/card-programs.md" "$flick_root"
