#!/bin/bash
# The pages of docs/ and of the tests, and the manual pages, keep the rules of prose in
# CONTRIBUTING.md. First the linter must find each offence that is planted in planted/page.md, and
# no other.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
cd "$root"

passed=0 failed=0
verdict() { # STATUS NAME
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: $2"; fi
}

found=$(cd "$here/planted" && ../check.py page.md)
diff "$here/planted/expected.txt" - < <(sed -E 's/^([^:]*:[0-9]+: [a-z]+): .*/\1/' <<<"$found")
verdict $? "planted offences"

# docs/mistakes.md and docs/transparency.md are made from tests/mistakes and tests/transparency.
mapfile -t pages < <(find README.md CONTRIBUTING.md docs bench/RESULTS.md crates/cli/man tests/*.md \
  -type f -name '*.m[da]*' | sort)
[ ${#pages[@]} -gt 50 ]
verdict $? "the pages were found"
offences=$("$here/check.py" "${pages[@]}")
status=$?
# Status 3 says that the linter printed offences. Any other status is an error of the linter.
[ $status = 0 ] || [ $status = 3 ]
verdict $? "the linter runs"
for page in "${pages[@]}"; do
  ! grep "^$page:" <<<"$offences"
  verdict $? "$page"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
