# Lines of a placement file that are not understood, or match nothing, and what they may have meant.
. "$FLICK_TEST_ERRORS/lib.sh"
cxx=$FLICK_TEST_CXX
cat >shapes.cpp <<'C'
struct Square {
  double side;
  double area() const;
};
double Square::area() const { return side * side; }
namespace geometry {
double scale(double x) { return 2 * x; }
double scale(int x) { return 2 * x; }
struct Circle {
  double radius;
  double area() const;
};
double Circle::area() const { return 3 * radius * radius; }
template <class T> T half(T x) { return x / 2; }
template double half(double);
} // namespace geometry
extern "C" int sum(int a, int b) { return a + b; }
int main() { return sum(0, 0); }
C
clang-19 -c shapes.cpp -o plain.o
# offers LINE SUGGESTION...: the line is refused, and each of these lines would be taken.
offers() {
  local line=$1 want=
  shift
  for suggestion; do
    want="$want${want:+ or }'$suggestion'"
  done
  echo "$line" >shapes.place
  refuses FLK0210 shapes.place:1 "\`$line\`" "did you mean $want?" -- "$cxx" --flick-place=shapes.place shapes.cpp -o prog
  for suggestion; do
    echo "$suggestion" >shapes.place
    status 0 "$cxx" --flick-place=shapes.place shapes.cpp -o prog
  done
}
offers 'nxp area' 'nxp Square::area() const' 'nxp geometry::Circle::area() const'
offers 'nxp scale' 'nxp geometry::scale(double)' 'nxp geometry::scale(int)'
offers 'nxp geometry::scale(long)' 'nxp geometry::scale(double)' 'nxp geometry::scale(int)'
offers 'nxp double Square::area() const' 'nxp Square::area() const'
offers 'nxp Sqare::area' 'nxp Square::area() const'
offers 'both Square.area' 'both Square::area() const'
offers 'nxp class Sqare' 'nxp class Square'
offers 'nxp class Circle' 'nxp class geometry::Circle'
offers 'nxp namespace Geometry' 'nxp namespace geometry'
offers 'nxp Circle::*' 'nxp geometry::Circle::*'
offers 'nxp half' 'nxp geometry::half<double>(double)'
offers 'nxp sums' 'nxp sum'
offers 'nxp int sum(int, int)' 'nxp sum'

# The same of finished programs.
echo 'nxp sum' >shapes.place
status 0 "$cxx" --flick-place=shapes.place shapes.cpp -o prog
printf 'nxp sum\nnxp area\nnxp size\n' >shapes.place
refuses FLK0210 shapes.place:2 "did you mean 'nxp Square::area() const'" 'one more entry' -- \
  "$flick" place --check shapes.place prog
printf 'nxp sum\nnxp render\n' >shapes.place
refuses FLK0210 'correct the name' -- "$flick" place --check shapes.place prog

# Right names: of an object that was compiled without the file, and of what nobody compiles here.
echo 'nxp Square::area' >shapes.place
refuses FLK0210 'plain.o, which has the function, was compiled without' 'give --flick-place=shapes.place' -- \
  "$cxx" --flick-place=shapes.place plain.o -o prog
echo 'nxp puts' >shapes.place
echo '#include <cstdio>
int main() { return puts("x") < 0; }' >puts.cpp
refuses FLK0210 'uses this function' -- "$cxx" --flick-place=shapes.place puts.cpp -o prog

# Assembly is not compiled, whether its functions have types or not, and whoever assembled it.
cat >words.S <<'S'
.text
.globl copy_words, count_words
copy_words:
  ret
.type count_words, @function
count_words:
  ret
.size count_words, . - count_words
.section .note.GNU-stack, "", @progbits
S
cat >words.c <<'C'
void copy_words(void), count_words(void);
__asm__(".globl fill_words\nfill_words: ret\n");
int main(void) {
  copy_words();
  count_words();
  return 0;
}
C
gcc -c words.S -o gnu.o
clang-19 -g -c words.S -o words.o
clang-19 -fno-ident -c words.c -o silent.o
assembly() {
  refuses FLK0210 words.place:1 "\`nxp $1\`" "function of $2 that is x86-64 assembly" 'write it in C' -- "${@:3}"
}
for name in copy_words count_words; do
  echo "nxp $name" >words.place
  assembly $name 'a file of this command' "$cc" --flick-place=words.place words.c words.S -o prog
  for object in words.o gnu.o; do
    assembly $name $object "$cc" --flick-place=words.place words.c $object -o prog
  done
done
echo 'nxp fill_words' >words.place
assembly fill_words words.c "$cc" --flick-place=words.place words.c words.o -o prog
"$cc" words.c words.o -o prog
echo 'nxp copy_words' >words.place
assembly copy_words prog "$flick" place --check words.place prog
# Compiled code without its compiler's name is none.
echo 'nxp main' >words.place
refuses FLK0210 'silent.o, which has the function, was compiled without' -- \
  "$cc" --flick-place=words.place silent.o words.o -o prog

# Lines that are not understood.
line() {
  echo "$1" >shapes.place
  refuses FLK0209 shapes.place:1 "did you mean '$2'?" -- "$cxx" --flick-place=shapes.place -c shapes.cpp -o x.o
}
line 'sum: nxp' 'nxp sum'
line 'sum nxp' 'nxp sum'
line 'NXP sum' 'nxp sum'
line 'npx sum' 'nxp sum'
line 'nxp: sum' 'nxp sum'
line 'nxp = sum' 'nxp sum'
line 'FLICK_BOTH sum' 'both sum'
line 'hots sum' 'host sum'
line 'sum' 'nxp sum'
line 'class Square' 'nxp class Square'
line 'int sum(int, int)' 'nxp int sum(int, int)'
line 'nxp struct Square' 'nxp class Square'
line 'nxp namespce geometry' 'nxp namespace geometry'
line 'Project' 'project'
line 'overide' 'override'
echo 'nxp sum, area' >shapes.place
refuses FLK0209 'each name has a line of its own' -- "$cxx" --flick-place=shapes.place -c shapes.cpp -o x.o
echo 'somewhere over the rainbow' >shapes.place
refuses FLK0209 "'somewhere'; a line reads" -- "$cxx" --flick-place=shapes.place -c shapes.cpp -o x.o
