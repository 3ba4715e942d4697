// The two programs that use libriscv share this code, which makes a machine.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <libriscv/machine.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using Machine = riscv::Machine<riscv::RISCV64>;
using Options = riscv::MachineOptions<riscv::RISCV64>;

// For one machine, without a limit of instructions. Translated code is as fast as it can be made:
// without the checks of a sandbox, as libriscv's own command has it in its proxy mode and as
// Flick's is. The C compiler's output is kept beside the program, so that only the first run of a
// guest program waits for it.
inline Options options(bool translate) {
  const auto cache = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cache";
  Options options;
  options.memory_max = 2ull << 30;
  options.stack_size = 8u << 20;
  options.use_shared_execute_segments = false;
  options.translate_enabled = translate;
  options.translate_ignore_instruction_limit = true;
  options.translate_unsafe_remove_checks = true;
  options.translate_blocks_max = 1u << 20;
  options.translate_instr_max = 1u << 24;
  if (translate) {
    std::filesystem::create_directories(cache);
    options.translation_prefix = (cache / "").string();
    setenv("CC", PEER_CC, 1);
  }
  return options;
}

inline std::vector<uint8_t> contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error(path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void with_linux(Machine &machine, const std::vector<std::string> &arguments) {
  machine.setup_linux(arguments, {"LC_ALL=C"});
  machine.setup_linux_syscalls();
  machine.setup_posix_threads();
}

// Removes a leading `--interpret`, and returns whether it was there.
inline bool interpret(int &argc, char **&argv) {
  if (argc < 2 || std::string(argv[1]) != "--interpret")
    return false;
  argc--, argv++;
  return true;
}
