# Options and inputs that are not handled, or have bad values.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
for stage in -c -S; do
  for option in -m32 -mx32 --target=riscv64-linux-gnu; do
    refuses FLK0101 "${option%%=*}" -- "$cc" $option $stage part.c -o x.o
    [ ! -e x.o ] || die "$stage $option: it left a file"
  done
  for option in -flto -flto=thin -fsanitize=memory -fsanitize=thread -mcmodel=large; do
    refuses FLK0101 "$option" part.c:3 -- "$cc" $option $stage part.c -o x.o
    [ ! -e x.o ] || die "$stage $option: it left a file"
    status 0 "$cc" $option $stage main.c -o x.o
    clang-19 $option $stage main.c -o clang.o
    cmp x.o clang.o
    rm x.o
  done
done
refuses FLK0101 --wrap=free -- "$cc" -static -Wl,--wrap=free part.c main.c -o prog
refuses FLK0101 -fsanitize=thread part.o -- "$cc" -fsanitize=thread main.o part.o -o prog
refuses FLK0101 x.cu -- "$cc" x.cu -o prog
refuses FLK0101 '-x objective-c' -- "$cc" -x objective-c main.c -o prog
for value in random: random:1 random:x:50 random:1:101 ''; do
  refuses FLK0104 "--flick-place=$value" -- "$cc" --flick-place="$value" -c main.c -o x.o
done
for option in --flick-plaice -flick-place --flick_place; do
  refuses FLK0104 $option "did you mean '--flick-place'?" -- "$cc" $option=x -c main.c -o x.o
done
refuses FLK0105 no/such.place -- "$cc" --flick-place=no/such.place -c main.c -o x.o
refuses FLK0104 zbc 'rv64 with i, m, a, f, d, c, v, zicond' -- "$cc" --nxp-march=rv64gc_zba_zbc -c part.c -o x.o
refuses FLK0104 zvbb -- "$cc" --nxp-march=rv64gcv_zvbb -c part.c -o x.o
refuses FLK0104 zvl8192b -- "$cc" --nxp-march=rv64gcv_zvl8192b -c part.c -o x.o
refuses FLK0104 -mtune=i486 -- "$cc" -Xnxp=-mtune=i486 -c part.c -o x.o
refuses FLK0104 -DX -- "$cc" -Xnxp=-DX -c part.c -o x.o
