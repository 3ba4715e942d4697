# Tools that look into finished files: no NxP code there, cut off, changed.
. "$FLICK_TEST_ERRORS/lib.sh"
program
for tool in "objdump -d" "place --explain"; do
  status 0 "$flick" $tool prog
  has out sum
  refuses FLK0307 main.o -- "$flick" $tool main.o
  clang-19 -x c - -o plain <<<'int main(void) { return 0; }'
  refuses FLK0307 plain -- "$flick" $tool plain
  refuses FLK0304 main.c -- "$flick" $tool main.c
  refuses FLK0304 empty -- sh -c ': >empty; exec "$@"' sh "$flick" $tool empty
  refuses FLK0105 nosuch -- "$flick" $tool nosuch
  head -c $(($(stat -c %s prog) / 2)) prog >cut
  refuses FLK0308 cut -- "$flick" $tool cut
done
read -r offset size < <(section prog .flick.elf)
for at in 0 18; do
  cp prog bad
  flip bad $((offset + at))
  refuses FLK0308 bad -- "$flick" objdump -d bad
done
# Wherever else its bytes change, the tool ends by itself.
for at in $(seq 40 $((size / 40)) $((size - 1))); do
  cp prog bad
  flip bad $((offset + at))
  got=0
  timeout 20 "$flick" objdump -d bad >out 2>err || got=$?
  [ $got -lt 124 ] || die "status $got with byte $at changed" "$(cat err)"
  ! grep -F -e 'panicked at' -e 'Stack dump' err || die "a tool crashed with byte $at changed"
done
