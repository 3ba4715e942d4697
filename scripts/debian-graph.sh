#!/bin/sh
# Writes the dependency graph of Debian's packages as a SNAP edge list, from this machine's lists.
#
#   debian-graph.sh EDGES NAMES
#
# A vertex is a package. An edge leads from a package to each package that its Depends, Pre-Depends
# and Recommends name: every alternative, and every provider of a virtual package. NAMES gets lines
# `number TAB name`. The exit status is 3 if apt has no list.
set -eu
[ $# = 2 ] || { echo "usage: debian-graph.sh EDGES NAMES" >&2; exit 2; }
command -v apt-cache >/dev/null 2>&1 || { echo "debian-graph: there is no apt-cache" >&2; exit 3; }

# An interrupted run must not leave half a graph behind.
trap 'rm -f "$1.part" "$2.part"' EXIT

# apt-cache reads the lists also where they are compressed.
apt-cache dumpavail | LC_ALL=C awk -v names="$2.part" '
# Splits "a (>= 1) | b:any, c" into its package names; returns how many.
function entries(text, list,    n, i) {
    gsub(/\([^)]*\)|\[[^]]*\]|<[^>]*>|[ \t]/, "", text)
    n = split(text, list, /[,|]/)
    for (i = 1; i <= n; i++)
        sub(/:.*/, "", list[i])
    return n
}
function end_of_package(    n, i, list) {
    if (package == "")
        return
    if (!(package in number)) {
        number[package] = ++packages
        name[packages] = package
    }
    # Another version of a package may need other packages: all count.
    if (needs != "")
        depends[number[package]] = depends[number[package]] "," needs
    n = entries(provides, list)
    for (i = 1; i <= n; i++)
        providers[list[i]] = providers[list[i]] " " package
    package = needs = provides = ""
}
function edge(from, to) {
    if (!((from, to) in seen)) {
        seen[from, to] = 1
        source[++edges] = from
        target[edges] = to
    }
}
/^$/ { end_of_package(); next }
/^[ \t]/ { # a field goes on
    if (field == "needs") needs = needs $0
    if (field == "provides") provides = provides $0
    next
}
{ field = "" }
/^Package: / { end_of_package(); package = $2 }
/^(Pre-Depends|Depends|Recommends): / { field = "needs"; sub(/^[^:]*: /, ""); needs = needs "," $0 }
/^Provides: / { field = "provides"; sub(/^[^:]*: /, ""); provides = provides "," $0 }
END {
    end_of_package()
    if (packages == 0)
        exit 3
    for (from = 1; from <= packages; from++) {
        n = entries(depends[from], list)
        for (i = 1; i <= n; i++) {
            if (list[i] == "")
                continue
            if (list[i] in number) {
                edge(from, number[list[i]])
            } else if (list[i] in providers) {
                m = split(providers[list[i]], who, " ")
                for (j = 1; j <= m; j++)
                    edge(from, number[who[j]])
            }
        }
    }
    print "# Debian packages: Depends, Pre-Depends and Recommends"
    print "# Nodes: " packages " Edges: " edges
    print "# FromNodeId\tToNodeId"
    for (e = 1; e <= edges; e++)
        print source[e] "\t" target[e]
    for (v = 1; v <= packages; v++)
        print v "\t" name[v] > names
}' >"$1.part" || { echo "debian-graph: apt has no package list (apt-get update makes one)" >&2; exit 3; }
mv "$1.part" "$1"
mv "$2.part" "$2"
