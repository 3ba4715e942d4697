# docs/sweep.md, literally. Then a sweep of real programs is killed half-way, and goes on to the same
# table.
. "$FLICK_TEST_PROJECTS/lib.sh"
"$projects/transcript.py" "$projects/../../docs/sweep.md" "$flick_root"

cp sweep.results/results.csv whole.csv
flick sweep -j 1 --results killed sweep.toml >killed.out 2>&1 &
sweep=$!
until [ "$(find killed/points -name '*.json' 2>/dev/null | wc -l)" -ge 5 ]; do sleep 0.02; done
kill -9 $sweep
wait $sweep || :
done=$(find killed/points -name '[0-9a-f]*.json' | wc -l)
[ "$done" -lt 32 ]
flick sweep -j 2 --results killed sweep.toml
cmp whole.csv killed/results.csv
