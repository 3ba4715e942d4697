# Host instructions that the program executes when its NxP functions run on the NxP: from callgrind's
# profile of a run with FLICK_OFFLOAD=off, all instructions less those that the NxP would have
# executed and less those of libflick. The NxP's are: the host copies of placed functions, their
# gates, and what these copies call of functions for both sides and of libnxp's (memcpy & co.).
#
#   awk -v nxp="f g ..." -v both="h ..." -f host-instructions.awk PROFILE...
#
# The format is in valgrind's manual, "Callgrind Format Specification".
function named(text,    id) { # "(3) name" defines, "(3)" refers
  id = text
  sub(/\).*/, ")", id)
  if (id != text) {
    sub(/^\([0-9]+\) /, "", text)
    name[kind, id] = text
  }
  return name[kind, id]
}
function base(function_name) {
  sub(/^__flick_twin_/, "", function_name)
  sub(/\.flick\.[0-9a-f]+(\.[0-9]+)?$/, "", function_name)
  sub(/'[0-9]+$/, "", function_name) # a level of recursion
  return function_name
}
BEGIN {
  n = split(nxp, list, " ")
  for (i = 1; i <= n; i++) on_nxp[list[i]] = 1
  n = split(both, list, " ")
  for (i = 1; i <= n; i++) leaf[list[i]] = 1
}
FNR == 1 { delete name; object = current = "" }
/^ob=/ { kind = "ob"; object = named(substr($0, 4)); next }
/^cob=/ { kind = "ob"; named(substr($0, 5)); next }
/^(fl|fi|fe|cfi|cfl)=/ { next }
/^fn=/ { kind = "fn"; current = base(named(substr($0, 4))); next }
/^cfn=/ { kind = "fn"; callee = base(named(substr($0, 5))); next }
/^calls=/ {
  # The next line is the cost of the callee and all below it.
  getline
  if ((current in on_nxp) && ((callee in leaf) || callee ~ /^(__)?(mem(cpy|move|set|cmp)|bcmp|strlen)/))
    less += $2
  next
}
/^[+*-]?[0-9]* ?[0-9]+$/ {
  total += $2
  if (object ~ /\/libflick\.so[^\/]*$/ || (current in on_nxp)) less += $2
}
END { printf "%.0f\n", total - less }
