#!/bin/bash
# The shell of the card: command lines, and pipelines of accelerators and commands.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/shell
need kernel-root.elf file-server pipe-server terminal-server shell
rm -rf "$work" && mkdir -p "$work"
cd "$work"

# An image of 20 blocks, a filter that leaves each point as it is, and text.
perl -e 'print pack("f<*", map { $_ * 31 % 255 } 0 .. 10239)' >image
perl -e 'print pack("f<*", map { $_ % 2 ? 0 : 1 } 0 .. 511)' >kernel
printf 'first\nsecond\n' >text
for program in letters pass; do
  "$flick" card cc -O2 -Wall -Wextra -Werror -s -o $program "$here/shell/$program.c"
  verdict $? "$program is compiled"
done
tar --format=ustar -cf contents.tar image kernel text pass
verdict $? "an archive"
sum=$(sha256sum image | cut -d ' ' -f 1)

sh() { # NAME STATUS COMMANDS: the console is left in out
  # shellcheck disable=SC2086
  timeout 120 "$flick" card sh --contents contents.tar --program letters -c "$3" ${options:-} </dev/null >out 2>err
  local status=$?
  [ $status = "$2" ]
  verdict $? "$1: exit status $2 (it is $status)"
}
prints() { # NAME LINE...
  for line in "${@:2}"; do printf '%s\n' "$line"; done | diff - out
  verdict $? "what $1 prints"
}
says() { # NAME TEXT: the console has standard error, too
  grep -qF "$2" out
  verdict $? "what $1 says"
}
hex() { sed 's/^[0-9a-f]*//; s/ //g' "${1:-out}" | tr -d '\n'; }

sh words 0 'echo one "two  three" four\ five # six
echo '\''a|b'\''; echo end'
prints words 'one two  three four five' 'a|b' end
sh files 0 'rm pass; ls; mkdir d; cp text d/copy; ln d/copy other; mv other third; cat d/copy third; rm third; ls d; rm d/copy; rmdir d; wc < text; ls'
prints files '     40960  image' '      2048  kernel' '        13  text' first second first second '        13  copy' '2 lines, 13 bytes' \
  '     40960  image' '      2048  kernel' '        13  text'
# The hash of a file, by an accelerator that reads the file, and by one behind commands.
sh hash 0 'sha256 < image | hex'
[ "$(hex)" = "$sum" ]
verdict $? "the hash of a file"
sh "hash behind a command" 0 'cat image | cat | sha256 | hex'
[ "$(hex)" = "$sum" ]
verdict $? "the hash of what a command writes"
# A chain, and the same with commands in between.
sh chain 0 'cat image | fft | mul kernel | ifft > out; cat image | fft | cat | ifft > again; cat out | sha256 | hex; cat again | sha256 | hex; wc < out'
tail -n 1 out | grep -q ', 40960 bytes$'
verdict $? "the size of what a chain writes"
# A pipe in between changes nothing: so both files have the same points.
sh "the same" 0 'fft < image | ifft > out; fft < image | cat | ifft > again; cmp out again'
sh background 0 'fft < image | ifft > a & fft < image | ifft > b & fft < image | ifft > c & wait; cmp a b; cmp b c; wc < c'
tail -n 1 out | grep -q ', 40960 bytes$'
verdict $? "three chains share accelerators"
sh append 0 'echo one > new; echo two >> new; cat new'
prints append one two
# Programs, which name files and which do not, in any order with accelerators.
sh programs 0 'cat text | letters one "t w"; letters < text > o; cat o; ./pass < text; letters -f text; ./pass < text | letters | cat | wc'
prints programs FIRST SECOND one 't w' FIRST SECOND first second first second '2 lines, 13 bytes'
for options in "" "-- --timed"; do
  sh "programs and accelerators${options:+, timed}" 0 'cat image | fft | ./pass | ifft > out; fft < image | ifft > again; cmp out again
cat image | ./pass | fft | ./pass | ./pass | ifft | cat > third; cmp out third; ./pass < image | sha256 | ./pass | hex &
wait; wc < third'
  [ "$(head -n 2 out | hex -)" = "$sum" ] && tail -n 1 out | grep -q ', 40960 bytes$'
  verdict $? "what programs and accelerators write${options:+, timed}"
done
options=
sh "status of a program" 7 'letters -x 3; echo $?; letters -x 5 & wait; echo $?; letters -x 2 | cat; echo $?; letters -f none; echo $?; letters -x 7'
grep -v none: out | diff <(printf '%s\n' 3 5 0 3) -
verdict $? "what the status of a program is"
sh "programs add to a file" 0 'echo a > l; letters -x 0 >> l; cat text | letters z >> l; cat l'
prints "programs add to a file" a FIRST SECOND z
sh "a program that reads one line" 0 'cat text | ./pass | letters -1'
prints "a program that reads one line" first
# Who writes to a program that has ended is told so, and no message says that.
sh "a program that reads nothing" 0 'fft < image | letters -x 0; fft < image | ifft | letters -x 0; cat image | letters -x 0'
prints "a program that reads nothing"
# Accelerators that write into each other end together.
sh "a chain whose reader ends" 1 'fft < image | ifft | letters -x 0; fft < image | ifft | letters -x 4; echo $?; fft < image | mul none'
prints "a chain whose reader ends" 4 'shell: none: No such file or directory'
sh "a file that is no program" 1 './text'
says "a file that is no program" 'shell: ./text: Exec format error'
sh "a program that is not there" 1 './none < image | sha256 > hash'
says "a program that is not there" 'shell: ./none: No such file or directory'
sh "a program without its input" 1 'letters < none'
says "a program without its input" 'shell: none: No such file or directory'
sh directories 0 'pwd; mkdir d; cd d; pwd; letters -f ../text > new; cat new; ../pass < ../text; cd ..; ls d; cd /; pwd; cd; pwd'
prints directories /srv/files /srv/files/d first second first second '        13  new' / /srv/files
sh "no name" 1 'nothing < image'
says "no name" 'shell: nothing: no command, accelerator or program has this name'
sh "no file" 1 'fft < none'
says "no file" 'shell: none: No such file or directory'
sh "no input" 1 'fft > out'
says "no input" 'shell: fft has no input'
sh "wrong line" 2 'echo a |'
says "wrong line" 'there is no command behind |'
sh "wrong quote" 2 'echo "a'
says "wrong quote" 'a quote has no end'
sh "a part of a block" 0 'cat text | fft | hex 8'
sh differ 1 'cmp text kernel'
says differ 'text and kernel differ'
sh status 7 'exit 7; echo no'
[ ! -s out ]
verdict $? "nothing runs behind exit"
# Files of the host to the card and back, by an archive and by folders, with links and any bytes.
mkdir -p host/sub && cp image host/ && cp letters host/tool && perl -e 'print pack("C*", map { $_ * $_ >> 3 & 255 } 0 .. 99999)' >host/sub/bytes
timeout 120 "$flick" card sh --contents host --save card.tar -c 'mkdir out; cp sub/bytes out/b1; ln out/b1 out/b2; ./tool < sub/bytes > up; fft < image | ifft > out/i; exit 5' </dev/null >out 2>err
[ $? = 5 ] && [ ! -s out ]
verdict $? "the files are saved, and nothing of them is on the console"
"$flick" card cp 'card.tar:/' host card.tar:/copy/ && "$flick" card cp card.tar:/ back && diff -r host back/copy/host && diff -r host/sub back/sub && cmp back/out/b2 host/sub/bytes
verdict $? "files are copied in and out"
[ -x back/tool ] && tar -tvf card.tar | grep 'out/b2 link to out/b1' >/dev/null
verdict $? "programs and links stay such"
"$flick" card cp 'card.tar:/out/b?' text card.tar:/sub/../new/ && "$flick" card cp 'card.tar:/n*/*' folder/ && ls folder | tr '\n' ' ' | grep -q '^b1 b2 text $'
verdict $? "wildcards are of the archive's names"
timeout 120 "$flick" card sh --contents card.tar --save saved/ -c 'rm up; cat new/text' </dev/null >out 2>err && [ ! -e saved/up ] && diff -r back/out saved/out
verdict $? "an archive is the card's files again, and a folder gets them"
prints "saved files" first second
refuses() { # TEXT WORD...
  "$flick" card cp "${@:2}" >out 2>err
  [ $? = 1 ] && grep -q '^help: ' err && grep -qF "$1" err
  verdict $? "cp ${*:2} is refused"
}
refuses 'nothing there has this name' card.tar:/none x
refuses 'no place is in an archive' text x
refuses 'several files go to one place' text image card.tar:/text
refuses '/text is no directory' text card.tar:/new/text/more
refuses "it is above the card's root" text card.tar:/../x
refuses 'an archive cannot be read: image' image:/ x
refuses 'none: No such file' none card.tar:/
refuses 'a file cannot be written' text none/card.tar:/
cp card.tar before.tar
timeout 120 "$flick" card sh --contents card.tar --save card.tar -c 'ls' -- --max-instructions 1000000 </dev/null >out 2>err
[ $? != 0 ] && cmp card.tar before.tar
verdict $? "an archive stays when the machine does not come to its end"
# Lines of the console.
printf 'echo one\ntime wc < text\nexit 3\n' | timeout 120 "$flick" card sh --contents contents.tar >out 2>err
[ $? = 3 ] && grep -q '^\$ one$' out && grep -q '2 lines, 13 bytes' out && grep -q ' us$' out
verdict $? "lines of the console"
# Accelerators, programs and commands read the terminal and write to it, line by line.
at_terminal() { # NAME STATUS COMMANDS: standard input is the terminal's
  timeout 120 "$flick" card sh --contents contents.tar --program letters -c "$3" >out 2>err
  local status=$?
  [ $status = "$2" ]
  verdict $? "$1: exit status $2 (it is $status)"
}
at_terminal "an accelerator reads the terminal" 0 'sha256 < /srv/terminal | hex' <image
[ "$(hex)" = "$sum" ]
verdict $? "the hash of the terminal's input"
at_terminal "an accelerator writes to the terminal" 0 'sha256 < image > /srv/terminal' </dev/null
[ "$(od -An -vtx1 out | tr -d ' \n')" = "$sum" ]
verdict $? "the hash on the terminal"
perl -e 'print pack("C*", map { $_ * $_ >> 3 & 255 } 0 .. 19999)' >bytes
at_terminal "all bytes" 0 './pass > copy; cmp copy /srv/terminal; ./pass < copy > /srv/terminal; cat copy > /srv/terminal' <bytes
head -n 1 out | grep -q 'copy and /srv/terminal differ' && cat bytes bytes | cmp - <(tail -n +2 out)
verdict $? "all bytes of the terminal"
at_terminal "lines in turn" 0 'letters -1; cat text | letters; letters -1; cat; letters -1; wc' < <(printf 'one\ntwo\nthree\nfour')
prints "lines in turn" one FIRST SECOND two three four'0 lines, 0 bytes'
at_terminal "wrong uses of the terminal" 1 'ls /srv/terminal; cat /srv/terminal/x; mkdir /srv/terminal/d; rm /srv/terminal' </dev/null
printf 'letters -1\na line\nletters -1 | wc &\nwait\nanother\necho $?\ncat\nthe\nrest' | timeout 120 "$flick" card sh --program letters >out 2>err
tr -d '$ ' <out | grep -cx 'aline\|1lines,8bytes\|0\|the\|rest' | grep -qx 5
verdict $? "lines for programs and the shell"
# A program in the background begins at once, and not with the next line.
: >out
{
  printf 'echo one > f; letters < f &\n'
  for _ in $(seq 300); do
    if grep ONE out >/dev/null; then echo 'echo seen' && break; fi
    sleep 0.1
  done
} | timeout 120 "$flick" card sh --program letters >out 2>err
tr -d '$ ' <out | grep -x seen >/dev/null
verdict $? "a program in the background begins at once"
timeout 60 "$flick" card sh --machine virt -c 'ls' </dev/null >out 2>err
[ $? = 1 ] && grep -q '^shell: the machine has no root' out
verdict $? "a machine without a root"
timeout 60 "$flick" card sh --contents none.tar -c 'ls' </dev/null >out 2>err
[ $? != 0 ] && grep -q none.tar err
verdict $? "an archive that is not there"
conclude
