#!/bin/bash
# Measures the cost of Flick at compile time: flick-cc and flick-c++ against plain clang 19 over
# real sources from Debian's source packages, and a link with a large image against clang's link of
# the same program.
#
#   bench/compile.sh [-r ROUNDS] [-o OPTIONS] [c|c++|link]...
#
# The script needs a built tree (`make build`) and, the first time, a network. By default ROUNDS is
# 5 and OPTIONS is -O2. Runs of the compilers alternate unit by unit, and the order rotates, so that
# other work on the machine meets all alike. Ratios are those within a round: median and quartiles
# over the rounds. `cpu` is user and system time, and `wall` is the clock's. On a machine with other
# work, `cpu` is more exact.
set -euo pipefail
. "$(dirname "$0")/../scripts/lib.sh"
flick_cxx=$build/bin/flick-c++
rounds=5 options=-O2 parts=()
while [ $# -gt 0 ]; do
  case $1 in
    -r) rounds=$2 && shift ;;
    -o) options=$2 && shift ;;
    c | c++ | link) parts+=("$1") ;;
    *) sed -n '2,/^set/s/^# \?//p' "$0" >&2 && exit 2 ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(c c++ link)
work=$build/bench/compile-$(IFS=-; echo "${parts[*]}")
rm -rf "$work"
mkdir -p "$work"
unset "${!FLICK_@}"

sources() { "$root/scripts/debian-source.sh" "$build/real/packages" "$@"; }

# Lines `LANGUAGE FILE OPTIONS...`: the files that a build of these projects compiles, with the
# options that matter. Generated files and files of other platforms are left out.
units() {
  local zlib bzip2 lz4 lua yaml re2 file
  { read -r zlib && read -r bzip2 && read -r lz4 && read -r lua && read -r yaml && read -r re2; } < <(
    sources zlib bzip2 lz4 lua5.4 yaml-cpp re2)
  for file in "$zlib"/*.c "$zlib"/test/{example,minigzip,infcover}.c; do
    echo "c $file -D_LARGEFILE64_SOURCE=1 -DHAVE_HIDDEN -I$zlib"
  done
  for file in blocksort huffman crctable randtable compress decompress bzlib bzip2 bzip2recover; do
    echo "c $bzip2/$file.c -D_FILE_OFFSET_BITS=64"
  done
  for file in "$lz4"/lib/*.c "$lz4"/programs/*.c; do
    echo "c $file -I$lz4/lib -DXXH_NAMESPACE=LZ4_"
  done
  for file in "$lua"/src/*.c; do echo "c $file -DLUA_USE_LINUX"; done
  for file in "$yaml"/src/*.cpp "$yaml"/src/contrib/*.cpp; do echo "c++ $file -I$yaml/include"; done
  for file in "$re2"/re2/*.cc "$re2"/util/{rune,strutil}.cc; do echo "c++ $file -I$re2"; done
}

clock() { # FILE WORDS COMMAND...: appends WORDS, wall and CPU seconds
  local file=$1 words=$2 TIMEFORMAT='%R %U %S' spent
  shift 2
  { spent=$({ time "$@" >"$work/out" 2>&1; } 2>&1); } || { cat "$work/out" >&2 && echo "failed: $*" >&2 && return 1; }
  awk -v words="$words" '{ print words, $1, $2 + $3 }' <<<"$spent" >>"$file"
}

# Median and quartiles of the numbers on standard input, in FORMAT.
quartiles() { # FORMAT
  sort -n | awk -v f="$1" '{ v[NR] = $1 }
    function q(p,  x) { x = p * (NR - 1) + 1; return v[int(x)] + (x - int(x)) * (v[int(x) + (x > int(x))] - v[int(x)]) }
    END { printf f, q(.5), q(.25), q(.75) }'
}

compile_units() { # LANGUAGE
  local language=$1 plain flick round file at i variant variants=(clang unmarked nomatch all) line
  local log=$work/$language.times
  if [ "$language" = c ]; then plain=clang-19 flick=$flick_cc; else plain=clang++-19 flick=$flick_cxx; fi
  mapfile -t lines < <(grep "^$language " "$work/units")
  : >"$log"
  awk '{ print $2 }' <(printf '%s\n' "${lines[@]}") | xargs cat >"$work/sources" # into the file cache
  "$flick" -w -c "$work/empty.c" -o "$work/empty.o" "--flick-place=$work/all.place"
  for ((round = 1; round <= rounds; round++)); do
    for ((at = 0; at < ${#lines[@]}; at++)); do
      read -r -a line <<<"${lines[at]}"
      file=("${line[@]:1}" $options -w -c)
      for i in 0 1 2 3; do
        variant=${variants[(i + round + at) % 4]}
        case $variant in
          clang) set -- $plain ;;
          unmarked) set -- "$flick" ;;
          nomatch) set -- "$flick" "--flick-place=$work/nomatch.place" ;;
          all) set -- "$flick" "--flick-place=$work/all.place" ;;
        esac
        clock "$log" "$round $variant" "$@" "${file[@]}" -o "$work/$language-$variant.o"
      done
      for variant in unmarked nomatch; do
        if [ $round = 1 ] && ! cmp -s "$work/$language-clang.o" "$work/$language-$variant.o"; then
          echo "not clang's object ($variant): ${line[1]}" >&2
        fi
      done
      if [ $round = 1 ]; then
        "$build/bin/flick" place --explain "$work/$language-all.o" 2>/dev/null | sed -n '$p' >>"$work/$language.placed" || true
      fi
    done
  done
  echo
  echo "$language, ${#lines[@]} units, $(wc -l <"$work/sources") lines, $options, $rounds rounds;" \
    "with \`nxp *\`: $(awk '{ nxp += $1; both += $5; host += $9 } END {
      print nxp " functions on the NxP, " both " on both sides, " host " refused" }' "$work/$language.placed")"
  echo
  echo '| build | cpu s | x clang, cpu (quartiles) | x clang, wall (quartiles) |'
  echo '|---|------:|------:|------:|'
  for variant in "${variants[@]}"; do
    case $variant in
      clang) name='clang 19' ;;
      unmarked) name='flick, nothing marked' ;;
      nomatch) name='flick, a placement file without a match' ;;
      all) name='flick, `nxp *`' ;;
    esac
    echo "| $name | $(ratios "$log" "$variant" 4 1 | quartiles '%.2f') | $(ratios "$log" "$variant" 4 clang |
      quartiles '%.3f (%.3f - %.3f)') | $(ratios "$log" "$variant" 3 clang | quartiles '%.3f (%.3f - %.3f)') |"
  done
}
# For each round the sum of COLUMN over VARIANT's lines, divided by that of BASE (or by 1).
ratios() { # LOG VARIANT COLUMN BASE
  awk -v v="$2" -v c="$3" -v b="$4" '$2 == v { n[$1] += $c } $2 == b { d[$1] += $c }
    END { for (r in n) print n[r] / (b == 1 ? 1 : d[r]) }' "$1"
}

# The program of the link: Lua's interpreter with the other C projects and zstd whole in it, all of
# it on the NxP.
link_program() {
  local line round linker form name file objects=() needed=() main='' i log=$work/link.times way ways=(clang flick)
  local zstd file
  mkdir -p "$work/clang" "$work/flick"
  while read -r -a line; do
    case ${line[1]} in
      */luac.c | */programs/lz4cli.c | */test/*.c | */bzip2.c | */bzip2recover.c) continue ;;
    esac
    name=${line[1]#"$build"/real/packages/src/}
    name=$(tr / - <<<"${name%.c}").o
    clang-19 -O2 -w -c "${line[@]:1}" -o "$work/clang/$name"
    "$flick_cc" "--flick-place=$work/all.place" -O2 -w -c "${line[@]:1}" -o "$work/flick/$name"
    if [[ ${line[1]} = */lua.c ]]; then main=$name; else objects+=("$name"); fi
  done < <(
    grep "^c " "$work/units"
    zstd=$(sources libzstd)
    for file in "$zstd"/lib/{common,compress,decompress,dictBuilder,legacy}/*.c; do
      echo "c $file -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=1 -DXXH_NAMESPACE=ZSTD_ -I$zstd/lib"
    done
  )
  for way in "${ways[@]}"; do (cd "$work/$way" && rm -f all.a && ar rcs all.a "${objects[@]}"); done
  # The program refers to each of the archive's members, so that the linker takes them.
  for name in "${objects[@]}"; do
    needed+=("-Wl,-u,$(llvm-nm-19 -jg --defined-only "$work/clang/$name" | head -n 1)")
  done
  : >"$log"
  for ((round = 0; round <= 2 * rounds; round++)); do
    for linker in bfd lld; do
      for form in objects archive; do
        if [ $form = objects ]; then set -- "${objects[@]}"; else set -- "${needed[@]}" all.a; fi
        for i in 0 1; do
          way=${ways[(i + round) % 2]}
          cd "$work/$way"
          clock "$([ $round = 0 ] && echo "$work/warm" || echo "$log")" "$round $way-$linker-$form" \
            "$([ $way = clang ] && echo clang-19 || echo "$flick_cc")" "-fuse-ld=$linker" "$main" "$@" -o prog -lm -ldl
          cd "$root"
        done
      done
    done
  done
  "$work/flick/prog" -e 'print(string.format("the NxP says %d", 6 * 7))' | grep -q 'says 42'
  echo
  echo "Link of $(($(wc -w <<<"${objects[*]}") + 1)) objects, $((2 * rounds)) rounds; image of" \
    "$(image_kib "$work/flick/prog") KiB in a program of $(($(stat -c %s "$work/flick/prog") / 1024)) KiB"
  echo
  echo '| linker, inputs | clang s | flick s | overhead s, wall (quartiles) | overhead s, cpu (quartiles) |'
  echo '|---|------:|------:|------:|------:|'
  for linker in bfd lld; do
    for form in objects archive; do
      echo "| $linker, $form | $(ratios "$log" clang-$linker-$form 3 1 | quartiles '%.2f') |" \
        "$(ratios "$log" flick-$linker-$form 3 1 | quartiles '%.2f') |" \
        "$(differences "$log" $linker-$form 3 | quartiles '%.2f (%.2f - %.2f)') |" \
        "$(differences "$log" $linker-$form 4 | quartiles '%.2f (%.2f - %.2f)') |"
    done
  done
}
# The bytes that the linked RV64 code and its data take in memory.
image_kib() {
  llvm-objcopy-19 --dump-section ".flick.elf=$work/image.elf" "$1" "$work/copy"
  llvm-readelf-19 -lW "$work/image.elf" | awk '
    function hex(s,  i, n) { for (i = 3; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
    $1 == "LOAD" { n += hex($6) } END { printf "%d", n / 1024 }'
}
differences() { # LOG LINK COLUMN
  awk -v l="$2" -v c="$3" '$2 == "flick-" l { d[$1] += $c } $2 == "clang-" l { d[$1] -= $c }
    END { for (r in d) print d[r] }' "$1"
}

# This is one compound command, so that bash has read all of it before an edit can reach it.
{
echo 'nxp *' >"$work/all.place"
echo 'int empty;' >"$work/empty.c"
printf 'project\nnxp no_such_function_anywhere\n' >"$work/nomatch.place"
units >"$work/units"
echo "$(date -u +%F), $("$build/bin/flick" --version), $(clang-19 --version | head -n 1)," \
  "$(ld --version | head -n 1), $(ld.lld-19 --version | sed 's/ (.*//'), $(nproc) cores," \
  "load $(cut -d' ' -f1 /proc/loadavg), \`bench/compile.sh -r $rounds -o '$options'\`"
for part in "${parts[@]}"; do
  case $part in
    link) link_program ;;
    *) compile_units "$part" ;;
  esac
done
exit 0
}
