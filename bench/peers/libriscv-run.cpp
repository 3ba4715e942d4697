// Runs a static RV64 program of Linux with libriscv.
//
//   libriscv-run [--interpret] PROGRAM ARGUMENT...
//
// It translates code, unless `--interpret` is given.
#include "libriscv.h"

#include <cstdio>
#include <exception>

int main(int argc, char **argv) {
  const bool translate = !interpret(argc, argv);
  if (argc < 2) {
    std::fprintf(stderr, "usage: libriscv-run [--interpret] PROGRAM ARGUMENT...\n");
    return 2;
  }
  try {
    const auto program = contents(argv[1]);
    Machine machine(program, options(translate));
    with_linux(machine, {argv + 1, argv + argc});
    machine.fds().permit_filesystem = true;
    machine.fds().filter_open = [](void *, std::string &) { return true; };
    machine.set_printer(
        [](const Machine &, const char *text, size_t size) { std::fwrite(text, 1, size, stdout); });
    machine.simulate(UINT64_MAX);
    return machine.return_value<int>();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "libriscv-run: %s\n", error.what());
    return 1;
  }
}
