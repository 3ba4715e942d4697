#!/bin/bash
# Threads that move to harts which have their extension (migration/): on machines of unequal harts, and on
# some of alike ones. What `flick machine stat` says of it, and the measurements, few of them.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card-migration
need kernel.elf kernel-symmetric.elf libcard.a
rm -rf "$work" && mkdir -p "$work" && cd "$work"
unequal=$here/migration/unequal.toml

# Threads, and what they compute.
build_bare moves "$here/migration/moves.c"
moves() { # NAME KERNEL LINE OPTION...
  timeout 120 "$flick" machine run "${@:4}" --firmware "$card/$2" --initrd moves.tar --append "$3" \
    --max-instructions 4000000000 </dev/null >"$1.all" 2>&1
  of_program <"$1.all" | grep -v '^kernel:   no hart' | diff "$here/migration/moves.expected" -
  verdict $? "moves, $1"
}
moves unequal kernel.elf moves --machine "$unequal"
moves unequal-timed kernel.elf moves --machine "$unequal" --timed
moves unequal-symmetric kernel-symmetric.elf moves --machine "$unequal"
build_bare classes "$here/migration/classes.c"
classes() { # NAME KERNEL LINE OPTION...
  timeout 120 "$flick" machine run "${@:4}" --firmware "$card/$2" --initrd classes.tar --append "$3" \
    --max-instructions 4000000000 --machine "$unequal" </dev/null 2>&1 |
    of_program | grep -v '^kernel:   no hart' | diff "$here/migration/classes.expected" -
  verdict $? "classes, $1"
}
classes functional kernel.elf classes
classes timed kernel.elf classes --timed
classes symmetric kernel-symmetric.elf classes
# With an argument it has no instructions of Zba and Zbb, which these machines lack, and with two no custom
# opcode.
moves spike-rvv kernel.elf "moves 0" --machine spike-rvv
moves rocket-rvv kernel.elf "moves 0" --machine rocket-rvv --timed
moves alike kernel.elf moves --set isa=rv64gcv_zicntr_zihpm_zba_zbb_xflickdot
grep -q '^kernel:   no hart that it may run on has this instruction' unequal.all &&
  grep -q "^kernel:   no hart that it may run on has this vendor's instruction" unequal.all
verdict $? "an instruction that no hart has"
if has_qemu moves; then
  no_kernel
  timeout 120 qemu-system-riscv64 -accel tcg,thread=single -machine virt -cpu rv64,v=true,vlen=256,vext_spec=v1.0 -smp 4 \
    -m 256M -nographic -bios "$card/kernel.elf" -kernel no-kernel.bin -initrd moves.tar -append "moves 0 0" </dev/null 2>&1 |
    of_program | diff "$here/migration/moves.expected" -
  verdict $? "moves on QEMU"
fi

"$flick" card cc -g -O2 -Wall -Wextra -Werror -o thrashing "$here/migration/thrashing.c"
verdict $? "thrashing is compiled"
timeout 60 "$flick" machine stat --machine spike-rvv --program thrashing >thrashing.out 2>&1
grep -q '^thrashing.c:[0-9]*: vsetivli (v)  *200 ' thrashing.out && grep -q '^thrashing: hints' thrashing.out
verdict $? "thrashing has a line, and a name"
# Threads of the host: the same program inline, and on a card whose harts differ.
if [ -e "$card/kernel-host.elf" ]; then
  "$flick_cc" -g -O2 -Wall -Wextra -Werror -pthread -o host "$here/migration/host.c" && ./host >host.expected
  verdict $? "a program of the host is compiled"
  FLICK_BACKEND=card FLICK_MACHINE=$here/migration/unequal_card.toml timeout 60 "$flick" stat -o host.stat ./host | diff host.expected -
  verdict $? "threads of the host move"
  grep -q 'host.c:[0-9]*: sh3add (zba)$' host.stat && grep -q '^ thrashing: threads' host.stat
  verdict $? "their migrations have a line, and thrashing a name"
  FLICK_BACKEND=card timeout 60 "$flick" stat -o alike.stat ./host | diff host.expected - && ! grep -q migrations alike.stat
  verdict $? "where harts are alike nothing moves"
  # No hart has what the code needs.
  sed '/^name = "bits"/,/^isa/s/^isa = .*/isa = "rv64gc_zicntr_zihpm_sstc_svadu"/' "$here/migration/unequal_card.toml" >lesser.toml
  FLICK_BACKEND=card FLICK_MACHINE=$PWD/lesser.toml timeout 60 ./host >lesser.out 2>lesser.err
  [ $? = 132 ] && grep -q 'FLK0501.*SIGILL' lesser.err
  verdict $? "an instruction that no hart has, in a program of the host"
else
  skip "threads of the host" "no kernel-host.elf (make says why)"
fi
timeout 120 "$flick" bench paper migration --quick -o results >page.md 2>log
verdict $? "the measurements end"
timeout 60 "$flick" bench paper migration --only-report -o results 2>>log | diff page.md -
verdict $? "the tables are made again of the raw output"
for bar in "dgemm many times" "dgemm with calls" "8 threads" "another thread"; do
  grep -q "^| $bar.* held |\$" page.md
  verdict $? "the bar holds: $bar"
done
conclude
