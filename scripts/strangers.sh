#!/bin/bash
# Runs programs that Flick's makers have not written, in all ways, against plain clang's builds
# (tests/other-programs.md). They are GCC's tests that run and, with SUITE=DIR, a checkout of LLVM's
# test-suite.
#
#   strangers.sh [OPTIONS]   of flick-test: --filter TEXT, --level O0,O2,Os, --sample N --seed S, …
#
# The builds of runs that differ stay in build/strangers/work/, with the lists of the run.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
"${CARGO:-cargo}" build -q --release -p flick-tests
tests=$(scripts/gcc-tests.sh "$build/strangers/gcc")
exec "$CARGO_TARGET_DIR/release/flick-test" --flick "$flick_cc" --work "$build/strangers/work" \
  --strangers "$tests" ${SUITE:+--suite "$SUITE"} "$@"
