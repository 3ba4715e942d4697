#!/bin/bash
# The shell of the card: command lines, and pipelines of accelerators and commands.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/shell
need kernel-root.elf file-server pipe-server shell
rm -rf "$work" && mkdir -p "$work"
cd "$work"

# An image of 20 blocks, a filter that leaves each point as it is, and text.
perl -e 'print pack("f<*", map { $_ * 31 % 255 } 0 .. 10239)' >image
perl -e 'print pack("f<*", map { $_ % 2 ? 0 : 1 } 0 .. 511)' >kernel
printf 'first\nsecond\n' >text
tar --format=ustar -cf contents.tar image kernel text
verdict $? "an archive"
sum=$(sha256sum image | cut -d ' ' -f 1)

sh() { # NAME STATUS COMMANDS: the console is left in out
  timeout 120 "$flick" card sh --contents contents.tar -c "$3" </dev/null >out 2>err
  local status=$?
  [ $status = "$2" ]
  verdict $? "$1: exit status $2 (it is $status)"
}
prints() { # NAME LINE...
  printf '%s\n' "${@:2}" | diff - out
  verdict $? "what $1 prints"
}
says() { # NAME TEXT: the console has standard error, too
  grep -qF "$2" out
  verdict $? "what $1 says"
}
hex() { sed 's/^[0-9a-f]*//; s/ //g' out | tr -d '\n'; }

sh words 0 'echo one "two  three" four\ five # six
echo '\''a|b'\''; echo end'
prints words 'one two  three four five' 'a|b' end
sh files 0 'ls; mkdir d; cp text d/copy; ln d/copy other; mv other third; cat d/copy third; rm third; ls d; rm d/copy; rmdir d; wc < text; ls'
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
sh "no name" 1 'nothing < image'
says "no name" 'shell: nothing: no command and no accelerator has this name'
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
# Lines of the console.
printf 'echo one\ntime wc < text\nexit 3\n' | timeout 120 "$flick" card sh --contents contents.tar >out 2>err
[ $? = 3 ] && grep -q '^\$ one$' out && grep -q '2 lines, 13 bytes' out && grep -q ' us$' out
verdict $? "lines of the console"
timeout 60 "$flick" card sh --machine virt -c 'ls' </dev/null >out 2>err
[ $? != 0 ]
verdict $? "a machine without a root"
timeout 60 "$flick" card sh --contents none.tar -c 'ls' </dev/null >out 2>err
[ $? != 0 ] && grep -q none.tar err
verdict $? "an archive that is not there"
conclude
