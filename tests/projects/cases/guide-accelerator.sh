# docs/guide-accelerator.md, literally; cycles change with the compiler of the root's program.
. "$FLICK_TEST_PROJECTS/lib.sh"
# The page builds a crate of its own. Below this repository, cargo would make it a part of its workspace.
elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
cd "$elsewhere"
unset CARGO_TARGET_DIR
command -v cargo >/dev/null || PATH=$PATH:$HOME/.cargo/bin
"$projects/transcript.py" "$projects/../../docs/guide-accelerator.md" "$flick_root" --near=20
