#!/bin/bash
# Tests examples/bfs, built with the address sanitizer, on right and wrong graph files of the kinds
# that users have. Tests debian-graph.sh on a package list of known dependencies. The last line is
# `N passed, N failed`.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
result_log=$work/log
# The output must be EXPECTED, lines joined by `;`.
graph() { # NAME FILE-TEXT EXPECTED ARGUMENTS...
  local name=$1 text=$2 expected=$3
  shift 3
  printf "$text" >"$work/graph"
  { "$work/bfs" "$@" "$work/graph" 2>&1 | grep -v checksum | tr '\n' ';'; } >"$work/log"
  [ "$(cat "$work/log")" = "$expected" ]
  result "$name" $?
}
# It must end with exit status 1 and a message that has EXPECTED.
wrong() { # NAME FILE-TEXT EXPECTED ARGUMENTS...
  local name=$1 text=$2 expected=$3 status
  shift 3
  printf "$text" >"$work/graph"
  "$work/bfs" "$@" "$work/graph" >"$work/log" 2>&1
  status=$?
  [ $status = 1 ] && grep -qF -- "$expected" "$work/log"
  result "$name" $?
}

make -s -C "$root/examples" CC=gcc CFLAGS='-g -O1 -fsanitize=address,undefined -fno-sanitize-recover' \
  OUT="$work" "$work/bfs" || exit 1

two='vertices 2;edges 1;source 1, degree 1;iterations 1;level 0: 1;level 1: 1;reached 2;'
graph 'SNAP: plain' '1 2\n' "$two"
graph 'SNAP: no end of line' '1 2' "$two"
graph 'SNAP: CR LF, tabs, comments, empty lines' '# Nodes\r\n\r\n%% x\r\n1\t2\r\n' "$two"
graph 'SNAP: blanks before and after' '  1 \t 2  \n' "$two"
graph 'SNAP: byte order mark' '\xef\xbb\xbf1 2\n' "$two"
graph 'SNAP: weight and time are read over' '1 2 -0.5 1e9\n' "$two"
graph 'SNAP: sparse, unordered numbers' '18446744073709551615 7\n0 18446744073709551615\n7 0\n' \
  'vertices 3;edges 3;source 18446744073709551615, degree 1;iterations 1;level 0: 1;level 1: 1;level 2: 1;reached 3;'
graph 'SNAP: loops and repeated edges' '5 5\n5 6\n5 6\n' \
  'vertices 2;edges 3;source 5, degree 3;iterations 1;level 0: 1;level 1: 1;reached 2;'
graph 'numbers of one residue class' "$(for i in $(seq 300); do printf '%d 1\\n' $((i << 40)); done)" \
  'vertices 301;edges 300;source 1099511627776, degree 1;iterations 2;level 0: 1;level 1: 1;reached 2;' -n 2
graph 'undirected' '1 2\n1 1\n3 2\n' \
  'vertices 3;edges 5;source 1, degree 2;iterations 1;level 0: 1;level 1: 1;level 2: 1;reached 3;' -u
graph 'a given source' '1 2\n2 3\n' \
  'vertices 3;edges 2;source 2, degree 1;iterations 1;level 0: 1;level 1: 1;reached 2;' -s 2
graph 'no iteration' '1 2\n' 'vertices 2;edges 1;source 1, degree 1;iterations 0;reached 0;' -n 0
mm='%%%%MatrixMarket matrix coordinate'
graph 'Matrix Market: pattern symmetric' "$mm pattern symmetric\n%% c\n\n4 4 3\n1 2\n2 2\n2 3\n" \
  'vertices 4;edges 5;source 2, degree 3;iterations 1;level 0: 1;level 1: 2;reached 3;'
graph 'Matrix Market: complex general' "$mm complex general\n3 3 2\n1 2 1.5 -2e3\n2 3 0 0\n" \
  'vertices 3;edges 2;source 1, degree 1;iterations 1;level 0: 1;level 1: 1;level 2: 1;reached 3;'
graph 'Matrix Market: real skew-symmetric, CR LF' "$mm real skew-symmetric\r\n2 2 1\r\n2 1 -3.5\r\n" \
  'vertices 2;edges 2;source 1, degree 1;iterations 1;level 0: 1;level 1: 1;reached 2;'
graph 'Matrix Market: upper case, integer' '%%%%MatrixMarket MATRIX Coordinate INTEGER General\n2 2 1\n1 2 9\n' "$two"
graph 'Matrix Market: empty rows are vertices' "$mm pattern general\n3 3 0\n" \
  'vertices 3;edges 0;source 1, degree 0;iterations 1;level 0: 1;reached 1;'

wrong 'empty file' '' 'the file is empty'
wrong 'comments only' '# x\n' 'no edges'
wrong 'one number' '1 2\n3\n' 'graph:2: an edge needs two vertex numbers: "3"'
wrong 'negative' '1 -2\n' 'graph:1: a negative vertex number'
wrong 'letters' '1 2x\n' 'graph:1: not a vertex number'
wrong 'commas' '1,2\n' 'graph:1: not a vertex number'
wrong 'third column' '1 2 x\n' 'graph:1: not a number'
wrong '65 bits' '18446744073709551616 1\n' 'more than 64 bits'
wrong 'NUL byte' '1 2\0\n' 'graph:1: a NUL byte'
wrong 'gzip' '\x1f\x8b\x08\x00\n' 'gzip -dc'
wrong 'banner too short' '%%%%MatrixMarket matrix coordinate real\n' 'graph:1: a Matrix Market banner'
wrong 'dense matrix' '%%%%MatrixMarket matrix array real general\n1 1\n0\n' 'only the Matrix Market format'
wrong 'unknown field' "$mm quaternion general\n1 1 0\n" 'the field must be'
wrong 'unknown symmetry' "$mm real odd\n1 1 0\n" 'the symmetry must be'
wrong 'no sizes' "$mm real general\n%% only comments\n" 'the line with rows'
wrong 'sizes too few' "$mm real general\n3 3\n" 'graph:2: rows, columns and entries'
wrong 'not square' "$mm real general\n3 4 0\n" 'is square'
wrong 'outside' "$mm real general\n3 3 1\n1 4 1\n" 'graph:3: row or column outside'
wrong 'zero-based' "$mm pattern general\n3 3 1\n0 1\n" 'graph:3: row or column outside'
wrong 'no value' "$mm real general\n3 3 1\n1 2\n" 'graph:3: the entry has no value'
wrong 'too many values' "$mm pattern general\n3 3 1\n1 2 3\n" 'graph:3: more columns'
wrong 'too few entries' "$mm pattern general\n3 3 2\n1 2\n" '1 of the 2 announced entries are missing'
wrong 'too many entries' "$mm pattern general\n3 3 1\n1 2\n2 3\n" 'graph:4: more entries'
wrong 'no such source' '1 2\n' 'has no vertex 3' -s 3
wrong 'bad option value' '1 2\n' '-n x' -n x
"$work/bfs" "$work/no-such-file" >"$work/log" 2>&1
[ $? = 1 ] && grep -q 'No such file' "$work/log"
result 'missing file' $?

# The list has every form of dependency: a real alternative, a virtual package with two providers,
# a package that does not exist, and a second version with another dependency.
mkdir "$work/bin"
cat >"$work/bin/apt-cache" <<'LIST'
#!/bin/sh
[ "$1" = dumpavail ] && cat <<'END'
Package: a
Version: 1
Depends: b (>= 1.0), c:any | d [amd64] <!nocheck>, missing
Pre-Depends: virtual
Description: text
 Depends: d
 .

Package: b
Recommends: a,
 c
Provides: virtual (= 1), other

Package: c
Suggests: a
Provides: virtual

Package: d
Conflicts: a
Depends: d, virtual2 | b, b

Package: a
Version: 2
Depends: d, c
END
LIST
chmod +x "$work/bin/apt-cache"
PATH=$work/bin:$PATH "$root/scripts/debian-graph.sh" "$work/edges" "$work/names" >"$work/log" 2>&1
grep -v '^#' "$work/edges" | sort | tr '\t\n' '> ' >"$work/log"
[ "$(cat "$work/log")" = '1>2 1>3 1>4 2>1 2>3 4>2 4>4 ' ]
result 'debian-graph: edges' $?
tr '\t\n' '= ' <"$work/names" >"$work/log"
[ "$(cat "$work/log")" = '1=a 2=b 3=c 4=d ' ]
result 'debian-graph: names' $?
printf '#!/bin/sh\n' >"$work/bin/apt-cache"
PATH=$work/bin:$PATH "$root/scripts/debian-graph.sh" "$work/none" "$work/none.names" >"$work/log" 2>&1
[ $? = 3 ] && [ ! -e "$work/none" ] && [ ! -e "$work/none.part" ]
result 'debian-graph: no list' $?

echo "$passed passed, $failed failed"
[ $failed = 0 ]
