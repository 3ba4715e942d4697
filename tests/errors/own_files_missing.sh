# A copy of the command without the tree it belongs to, and a tree from which one file was deleted.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
cp "$flick" ./flick-cc
refuses FLK0102 lib/flick -- ./flick-cc main.o part.o -o prog
tree=$(dirname "$(dirname "$flick")")
for file in flick-pass.so libflick.so flickcrt.o libnxp.a; do
  rm -rf tree && mkdir -p tree/bin && cp -r "$tree/lib" "$tree/include" tree/ && cp "$flick" tree/bin/flick && ln -s flick tree/bin/flick-cc
  rm "tree/lib/flick/$file"
  refuses FLK0102 "$file" -- tree/bin/flick-cc main.c part.c -o prog
done
