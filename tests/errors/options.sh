# Options and inputs that are not handled, or have bad values.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
for option in -flto -flto=thin -m32 -mx32 --target=riscv64-linux-gnu; do
  refuses FLK0101 "${option%%=*}" -- "$cc" $option -c part.c -o x.o
done
for option in -fsanitize=address -fsanitize=thread -pg --coverage -mcmodel=large; do
  refuses FLK0101 "$option" -- "$cc" $option part.c main.c -o prog
  status 0 "$cc" $option -c main.c -o x.o
done
refuses FLK0101 --wrap=free -- "$cc" -static -Wl,--wrap=free part.c main.c -o prog
echo 'int main() {}' >x.cc
refuses FLK0101 x.cc -- "$cc" x.cc -o prog
refuses FLK0101 -- "$cc" -x c++ main.c -o prog
for value in random: random:1 random:x:50 random:1:101 ''; do
  refuses FLK0104 "--flick-place=$value" -- "$cc" --flick-place="$value" -c main.c -o x.o
done
refuses FLK0104 --flick-plaice -- "$cc" --flick-plaice=x -c main.c -o x.o
refuses FLK0105 no/such.place -- "$cc" --flick-place=no/such.place -c main.c -o x.o
