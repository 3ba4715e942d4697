#!/bin/bash
# Servers of files and pipes, and their clients: programs of a root's tile, and its accelerators.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/files
need kernel-root.elf file-server pipe-server terminal-server
rm -rf "$work" && mkdir -p "$work"
cd "$work"
source=$here/files
machine=$here/accelerators/root_chain.toml

# First contents: an archive of each kind.
mkdir in && echo hello >in/hello && ln in/hello in/link
tar --format=ustar -cf first.tar in
verdict $? "an archive of tar"
if command -v cpio >/dev/null; then
  find in | cpio --quiet -o -H newc >first.cpio
  verdict $? "an archive of cpio"
else
  skip "an archive of cpio" "no cpio (make deps)"
  cp first.tar first.cpio
fi

run() { # OPTION PROGRAM ARCHIVE SESSIONS MIB WORD...: PROGRAM, a server of ARCHIVE, and further programs
  # shellcheck disable=SC2086
  timeout 120 "$flick" machine run --machine "$machine" $1 --program "$2" --file "$3" --program "$card/file-server" \
    -- --size "$5" --sessions "$4" "$3" "${@:6}" </dev/null >"$2.out" 2>&1
  verdict $? "$2 ends${1:+ with $1}"
  diff "$source/$2.expected" "$2.out"
  verdict $? "what $2 prints${1:+ with $1}"
}
for program in file_chain file_calls file_clients file_posix file_numbers pipe_chain pipe_calls; do
  "$flick" card cc -O2 -Wall -Wextra -Werror -o $program "$source/$program.c"
  verdict $? "$program is compiled"
done
clients=(--program file_clients -- second first third --program file_clients -- third first --program file_clients -- leaves)
for option in "" --timed; do
  run "$option" file_chain first.cpio 1 4
  run "$option" file_clients first.tar 4 2 "${clients[@]}"
done
run "" file_calls first.cpio 3 2
run "" file_calls first.tar 3 2
run "" file_posix first.tar 2 4 --program file_posix -- after

# A test of the library's files, in the folder of a server.
"$flick" card cc -O2 -Wall -Wextra -Werror -o folders "$here/programs/folders.c"
timeout 120 "$flick" machine run --machine "$machine" --program folders --file first.tar -- /srv/files --program "$card/file-server" \
  -- --size 4 --sessions 1 first.tar </dev/null >folders.out 2>&1
verdict $? "folders ends"
diff "$here/programs/folders.expected" folders.out
verdict $? "what folders prints"

pipes() { # OPTION PROGRAM SESSIONS WORD...: PROGRAM, a server of pipes, and further programs
  # shellcheck disable=SC2086
  timeout 120 "$flick" machine run --machine "$machine" $1 --program "$2" --program "$card/pipe-server" \
    -- --sessions "$3" "${@:4}" </dev/null >"$2.out" 2>&1
  verdict $? "$2 ends${1:+ with $1}"
  diff "$source/$2.expected" "$2.out"
  verdict $? "what $2 prints${1:+ with $1}"
}
for option in "" --timed; do
  pipes "$option" pipe_chain 1
  pipes "$option" pipe_calls 3 --program pipe_calls -- writes --program pipe_calls -- leaves
done

# Programs that start others, with files and a pipe as their input and output.
for option in "" --timed; do
  # shellcheck disable=SC2086
  timeout 120 "$flick" machine run --machine "$machine" $option --program file_numbers --program "$card/file-server" -- \
    --sessions 1 --program "$card/pipe-server" -- --sessions 2 </dev/null >file_numbers.out 2>&1
  verdict $? "file_numbers ends${option:+ with $option}"
  diff "$source/file_numbers.expected" file_numbers.out
  verdict $? "what file_numbers prints${option:+ with $option}"
done

# An accelerator of requests, whose pages are files.
"$flick" card cc -O2 -Wall -Wextra -Werror -o file_pager "$source/file_pager.c"
verdict $? "file_pager is compiled"
{ sed '/^root = true/q' "$machine" && sed '1,/^root = true/d' "$here/accelerators/requests.toml"; } >requests.toml
for option in "" --timed; do
  # shellcheck disable=SC2086
  timeout 120 "$flick" machine run --machine ./requests.toml $option --program file_pager --program "$card/file-server" \
    -- --size 2 --sessions 1 </dev/null >file_pager.out 2>&1
  verdict $? "file_pager ends${option:+ with $option}"
  diff "$source/file_pager.expected" file_pager.out
  verdict $? "what file_pager prints${option:+ with $option}"
done

# poll, by a program alone, with the tile's servers, and with one of pipes.
"$flick" card cc -O2 -Wall -Wextra -Werror -o poll_calls "$source/poll_calls.c"
verdict $? "poll_calls is compiled"
polls() { # NAME OPTION...
  echo "a line" | timeout 120 "$flick" machine run --program poll_calls "${@:2}" >poll_calls.out 2>&1
  verdict $? "poll_calls ends $1"
  diff "$source/poll_calls.expected" poll_calls.out
  verdict $? "what poll_calls prints $1"
}
polls "alone" -- console
polls "with servers" --servers
for option in "" --timed; do
  # shellcheck disable=SC2086
  polls "with a server of pipes${option:+ and $option}" --machine "$machine" $option -- pipes --program "$card/pipe-server" -- --sessions 1
done

# Several chains share the accelerators, which take turns.
turns() { # COUNT PROGRAM SERVER WORD...: COUNT programs, a server, and its words with the other programs
  for option in "" --timed; do
    # shellcheck disable=SC2086
    timeout 120 "$flick" machine run --machine "$machine" --set 'tile.0.dtu.slice="20 us"' $option --program "$2" \
      --program "$card/$3" "${@:4}" </dev/null >turns.out 2>&1
    verdict $? "$1 of $2 end${option:+ with $option}"
    for _ in $(seq "$1"); do cat "$source/$2.expected"; done | sort | diff - <(sort turns.out)
    verdict $? "what $1 of $2 print${option:+ with $option}"
  done
}
turns 3 file_chain file-server -- --sessions 3 --program file_chain -- 2 --program file_chain -- 3
turns 2 pipe_chain pipe-server -- --sessions 2 --program pipe_chain

# Programs that start servers themselves: servers that end, and others beside programs that are hostile.
for program in file_restart forged_calls; do
  "$flick" card cc -O2 -Wall -Wextra -Werror -o $program "$source/$program.c"
  verdict $? "$program is compiled"
  for option in "" --timed; do
    # shellcheck disable=SC2086
    timeout 120 "$flick" machine run --machine "$machine" $option --servers --program $program --file "$card/file-server" \
      --file "$card/pipe-server" --file "$card/terminal-server" -- 20000 </dev/null >$program.out 2>&1
    verdict $? "$program ends${option:+ with $option}"
    diff "$source/$program.expected" $program.out
    verdict $? "what $program prints${option:+ with $option}"
  done
done

# What a server is given that is wrong.
wrong() { # NAME MESSAGE WORD...: words of its command line
  timeout 60 "$flick" machine run --machine "$machine" --program "$card/file-server" --file first.tar --file in/hello \
    -- "${@:3}" </dev/null >wrong.out 2>&1
  [ $? = 1 ] && grep -q "$2" wrong.out
  verdict $? "$1"
}
wrong "an archive that is not there" 'file-server: no file none.tar' none.tar
wrong "a file that is no archive" 'file-server: hello: Format' hello
wrong "too much memory" 'file-server: no memory of 65 MiB' --size 65 first.tar
wrong "an option without a number" '^--sessions: it has no number' --sessions x
conclude
