# Custom opcodes in NxP code: harts with a unit execute them, and threads move there. Without such a hart,
# inline and on the host they are illegal. Hints name the harts with units, too.
. "$FLICK_TEST_ERRORS/lib.sh"
card=$(dirname "$FLICK_TEST_FLICK")/../lib/flick/card/kernel-host.elf
machines=$FLICK_TEST_ERRORS/../../machines
cat >prog.c <<'END'
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#define UNIT(name, opcode)                                                                         \
  FLICK_NXP __attribute__((noinline)) uint64_t name(uint64_t a, uint64_t b) {                      \
    uint64_t result;                                                                               \
    __asm__(".insn r " opcode ", 7, 0, %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));               \
    return result + 1;                                                                             \
  }
UNIT(dot, "0x0b")
UNIT(sad, "CUSTOM_1")
UNIT(crc, "0x5b")
UNIT(gather, "CUSTOM_3")
int main(int argc, char **argv) {
  uint64_t ones = 0x0101010101010101;
  if (argc < 2) {
    printf("%ld %ld\n", (long)dot(0x0102030405060708, ones), (long)dot(~0UL, ones));
    printf("%ld %lx\n", (long)sad(0x0105, 0x0302), (unsigned long)gather(0xabcdef01, 0xff0000f0));
    printf("%lx\n", (unsigned long)crc(~0U, 0x3837363534333231));
  } else {
    printf("%ld\n", (long)dot(1, 1));
  }
  return 0;
}
END
"$cc" -O2 -g prog.c -o prog
# Inline there is no unit, and on the host neither.
status 132 ./prog
has err '[FLK0501] SIGILL in NxP code at' 'dot' 'there is no card, whose harts may have flick.dot (xflickdot)'
FLICK_OFFLOAD=off status 132 ./prog
# Other assembly is x86-64's, as ever.
for other in '.insn r 0x33, 0, 0, %0, %0, %0' '.insn i 0x0b, 7, %0, %0, 0' '.insn r 0x0b, 7, 0, %0, %0, %0; rdtsc'; do
  printf '#include <flick.h>\nFLICK_NXP long f(long x) { __asm__("%s" : "+r"(x)); return x; }\n' "$other" >other.c
  status 1 "$cc" -c other.c -o other.o
  has err '[FLK0202]'
done
# A machine without a compiler for the card's harts has no kernel.
[ -e "$card" ] || exit 0
# The hart with vectors has units, too; on the other machine it is a tile of its own.
units() { # MACHINE
  sed '/name = "vector"/,/^isa/s/_zvl256b/_zvl256b_xflickdot_xflicksad_xflickcrc_xflickgather/' "$machines/$1.toml"
}
all() {
  has out '37 -7' '6 ab1'
  # CRC-32C of "12345678": 6087809a, inverted at its end, and 1 more.
  has out "$(printf '%x' $(((0x6087809a ^ 0xffffffff) + 1)))"
}
units card >units.toml
status 0 timeout 60 "$FLICK_TEST_FLICK" stat --machine ./units.toml ./prog
all
has err 'dot  on hart 5: ' 'it has an instruction that other harts lack' 'flick.dot (xflickdot)'
units card-two >tiles.toml
status 0 timeout 60 "$FLICK_TEST_FLICK" stat --machine ./tiles.toml ./prog
all
has err 'on storage.hart0: default' 'on compute.vector0: for an instruction' 'flick.gather (xflickgather)'
# A unit of the machine file: it is one extension more.
awk '{ print } /^name = "vector"/ { print "unit = \"dots\"" } /^name = "nxp"/ { tile = 1 }
  tile && /^clock/ { print "\n[[tile.unit]]\nname = \"dots\"\nopcodes = [\"custom-0\"]"; tile = 0 }' "$machines/card.toml" >unit.toml
FLICK_BACKEND=card FLICK_MACHINE=./unit.toml status 0 timeout 60 ./prog dot
has out 2
FLICK_BACKEND=card FLICK_MACHINE=./unit.toml status 132 timeout 60 ./prog
has err 'no hart of the machine ./unit.toml has flick.sad (xflicksad)'
FLICK_BACKEND=card FLICK_MACHINE=card-two status 132 timeout 60 ./prog
has err '[FLK0501] SIGILL in NxP code at' 'no hart of the machine card-two has flick.dot (xflickdot)'
# Interpreted, and timed: the unit is where the machine has it.
FLICK_ENGINE=interp FLICK_BACKEND=card FLICK_MACHINE=./tiles.toml status 0 timeout 60 ./prog
all
"$cc" -O2 -g --flick-timed prog.c -o timed
for machine in ./units.toml ./tiles.toml; do
  FLICK_BACKEND=card FLICK_MACHINE=$machine FLICK_PLATFORM=flick-isca20 status 0 timeout 60 ./timed
  all
done
FLICK_BACKEND=card FLICK_MACHINE=card FLICK_PLATFORM=flick-isca20 status 132 timeout 60 ./timed
has err 'no hart of the machine card has flick.dot (xflickdot)'
