// Measures the cost of null calls between the host and RV64 code with libriscv, in the columns of
// ../crossing.c.
//
//   libriscv-crossing [--interpret] GUEST CALLS ROUNDS
//
// GUEST is guest.c. The host calls the guest by a prepared call, libriscv's fastest way. The guest
// calls the host by a system call of its own number. Called so, the host calls the guest by
// `preempt`, which keeps the registers.
#include "libriscv.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <libriscv/prepared_call.hpp>

namespace {

using Clock = std::chrono::steady_clock;
using Address = uint64_t;
constexpr size_t NULL_CALL = 500, LEVEL_CALL = 501;
constexpr long LEVELS = 8;

Address level_on_guest;

__attribute__((noinline)) void null_on_host() { __asm__ volatile(""); }

template <typename Work> double nanoseconds(long calls, Work work) {
  const auto begin = Clock::now();
  work();
  const std::chrono::duration<double, std::nano> spent = Clock::now() - begin;
  return spent.count() / static_cast<double>(calls);
}

template <typename Call> double each(long calls, Call call) {
  return nanoseconds(calls, [=] {
    for (long i = 0; i < calls; i++)
      call();
  });
}

void measure(const std::string &guest, bool translate, long calls, long rounds) {
  Machine::install_syscall_handler(NULL_CALL, [](Machine &) { null_on_host(); });
  Machine::install_syscall_handler(LEVEL_CALL, [](Machine &machine) {
    const auto [further] = machine.sysargs<Address>();
    machine.preempt(UINT64_MAX / 2, level_on_guest, further - 1);
  });

  const auto program = contents(guest);
  Machine machine(program, options(translate));
  with_linux(machine, {"guest"});
  machine.simulate(UINT64_MAX);
  const auto address = [&](const char *name) {
    if (const auto found = machine.address_of(name))
      return found;
    throw std::runtime_error(guest + " has no " + name);
  };
  level_on_guest = address("level_on_guest");
  const auto loop_with_calls = address("loop_with_calls"), loop_alone = address("loop_alone");
  const riscv::PreparedCall<riscv::RISCV64, long()> null_on_guest(machine, "null_on_guest");

  std::puts("direct,host_nxp_host,nxp_host_nxp,reentry_first,reentry_further");
  for (long round = 0; round < rounds; round++) {
    const auto level = [&](Address further) {
      return each(calls / LEVELS + 1, [&, further] { machine.vmcall(level_on_guest, further); });
    };
    const auto direct = each(calls, [] { null_on_host(); });
    const auto outer = each(calls, [&] { null_on_guest(); });
    const auto inner = nanoseconds(calls, [&] { machine.vmcall(loop_with_calls, calls); });
    const auto alone = nanoseconds(calls, [&] { machine.vmcall(loop_alone, calls); });
    const auto none = level(0), one = level(1), many = level(1 + LEVELS);
    std::printf("%.3f,%.3f,%.3f,%.3f,%.3f\n", direct, outer, inner - alone, one - none,
                (many - one) / LEVELS);
  }
}

} // namespace

int main(int argc, char **argv) {
  const bool translate = !interpret(argc, argv);
  const long calls = argc > 2 ? std::atol(argv[2]) : 0, rounds = argc > 3 ? std::atol(argv[3]) : 0;
  if (calls < 1 || rounds < 1) {
    std::fprintf(stderr, "usage: libriscv-crossing [--interpret] GUEST CALLS ROUNDS\n");
    return 2;
  }
  try {
    measure(argv[1], translate, calls, rounds);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "libriscv-crossing: %s\n", error.what());
    return 1;
  }
}
