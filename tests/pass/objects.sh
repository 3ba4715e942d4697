#!/bin/bash
# What the tests of the compiler pass do with fat objects; lit.cfg.py says which substitution is which.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nxp() { # FAT OUT
  llvm-objcopy-19 --dump-section=.flick.nxp="$work/raw" "$1" "$work/copy.o"
  dd if="$work/raw" of="$2" bs=32 skip=1 status=none
}
dis() { # FAT
  nxp "$1" "$work/dis.o"
  llvm-objdump-19 -dr --no-show-raw-insn "$work/dis.o"
}
links() { # [-o OUT] FAT...
  local fat i=0 objects=() out=$work/link.so
  if [ "$1" = -o ]; then
    out=$2
    shift 2
  fi
  for fat; do
    nxp "$fat" "$work/link$i.o"
    objects+=("$work/link$i.o")
    i=$((i + 1))
  done
  ld.lld-19 -shared -Bsymbolic -z now --fatal-warnings "${objects[@]}" -o "$out"
}
# Not by way of /dev/stdout: where root runs this, llvm-objcopy may replace the link by a file.
places() { # FAT
  llvm-objcopy-19 --dump-section=.flick.place="$work/places" "$1" "$work/copy.o"
  cat "$work/places"
}
known() { # OUT
  sed -n 's/^TLI_DEFINE_STRING_INTERNAL("\([A-Za-z0-9_]*\)")$/\1/p' \
    "$(llvm-config-19 --includedir)/llvm/Analysis/TargetLibraryInfo.def" | sort -u >"$1"
}

"$@"
