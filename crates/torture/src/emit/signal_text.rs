//! Signals: raised ones whose handler calls something, a timer's, faults that a handler puts right;
//! and what is called at the end of the process, and `errno`.
use std::fmt::Write as _;

use super::Used;
use crate::generated_program::Program;

/// What the handler of a raised signal is to call: a signal brings no argument.
pub const RAISED: &str = r"
typedef struct raised {
  ctx *c;
  hook *f;
  u64 x, result;
} raised;
extern __thread raised *raising;
";

const ON_RAISED: &str = r"
__thread raised *raising;
void on_raised(int number, siginfo_t *info, void *context) {
  raised *r = raising;
  (void)context;
  r->result = MIX(r->f(r->c, r->x), number == info->si_signo);
}
";

/// What it does must not be seen: it comes at any time, in any thread.
const ON_TICK: &str = r"
typedef struct tick {
  double d;
  u64 k;
  float f;
} tick;
u64 tick_leaf(tick t, double d, u64 x) { return MIX(t.k, x) + (u64)(t.d + d) + (u64)t.f; }
volatile u64 ticks;
void on_tick(int number) {
  tick t = {1.5, (u64)number, 2.5f};
  jmp_buf where;
  if (setjmp(where) == 0)
    longjmp(where, (int)(tick_leaf(t, 0.5, ticks) & 1) + 1);
  ticks = ticks + 1;
}
";

const ON_FAULT: &str = r"
void on_fault(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)context;
  if (mprotect((void *)((u64)info->si_addr & ~4095ull), 4096, PROT_READ | PROT_WRITE))
    _exit(99);
}
";

const OF_ERRNO: &str = r"
void set_errno(ctx *c, int value) {
  c->sum = MIX(c->sum, value);
  errno = value;
}
u64 read_errno(ctx *c) {
  int value = errno;
  c->sum = MIX(c->sum, value);
  return (u64)value;
}
";

/// Prints what does not depend on where the functions ran.
const AT_EXIT: &str = "void at_exit(void) { printf(\"exit %d\\n\", at_exit != 0); }\n";

/// Names of these functions that a program has.
pub fn names(program: &Program) -> Vec<String> {
    let used = Used::of(program);
    [
        ("on_raised", used.signals),
        ("on_tick", used.timer),
        ("tick_leaf", used.timer),
        ("on_fault", used.guarded),
        ("at_exit", program.surroundings.at_exit),
        ("set_errno", used.errno),
        ("read_errno", used.errno),
    ]
    .into_iter()
    .filter(|(_, is_used)| *is_used)
    .map(|(name, _)| name.to_owned())
    .collect()
}

pub fn functions(program: &Program, used: &Used) -> String {
    let mut text = String::new();
    for (function, is_used) in [
        (ON_RAISED, used.signals),
        (ON_TICK, used.timer),
        (ON_FAULT, used.guarded),
        (AT_EXIT, program.surroundings.at_exit),
        (OF_ERRNO, used.errno),
    ] {
        if is_used {
            text.push_str(function);
        }
    }
    text
}

/// At the beginning of `main`.
pub fn install(program: &Program, used: &Used) -> String {
    let mut text = String::new();
    if program.surroundings.at_exit {
        text.push_str("  if (atexit(at_exit)) abort();\n");
    }
    if !(used.signals || used.guarded || used.timer) {
        return text;
    }
    text.push_str("  struct sigaction action;\n  memset(&action, 0, sizeof action);\n");
    let mut flags = "SA_RESTART".to_owned();
    if program.surroundings.signal_stack {
        text.push_str(
            "  static char signal_stack[1 << 22];\n  stack_t stack;\n  memset(&stack, 0, sizeof stack);\n  \
             stack.ss_sp = signal_stack;\n  stack.ss_size = sizeof signal_stack;\n  \
             if (sigaltstack(&stack, 0)) abort();\n",
        );
        flags += " | SA_ONSTACK";
    }
    for (handler, signal, field, more, is_used) in [
        (
            "on_raised",
            "SIGUSR1",
            "sigaction",
            " | SA_SIGINFO | SA_NODEFER",
            used.signals,
        ),
        (
            "on_fault",
            "SIGSEGV",
            "sigaction",
            " | SA_SIGINFO | SA_NODEFER",
            used.guarded,
        ),
        ("on_tick", "SIGALRM", "handler", "", used.timer),
    ] {
        if is_used {
            let _ = writeln!(
                text,
                "  action.sa_{field} = {handler};\n  action.sa_flags = {flags}{more};\n  \
                 if (sigaction({signal}, &action, 0)) abort();"
            );
        }
    }
    if used.timer {
        text.push_str(
            "  struct itimerval every = {{0, 700}, {0, 700}};\n  \
             if (setitimer(ITIMER_REAL, &every, 0)) abort();\n",
        );
    }
    text
}

/// Calls `callback` in a handler.
pub fn raise(callback: &str, x: &str, to: usize) -> String {
    format!(
        "{{ raised sent = {{c, {callback}, {x}, 0}}, *outer = raising; raising = &sent; raise(SIGUSR1); \
         raising = outer; n{to} = sent.result; }}"
    )
}

/// Likewise, of a callback that does not return.
pub fn raise_only(callback: &str, x: &str) -> String {
    format!("{{ raised sent = {{c, {callback}, {x}, 0}}; raising = &sent; raise(SIGUSR1); }}")
}

/// Memory without access; the handler gives it back.
pub fn guarded(x: &str, to: usize) -> String {
    format!(
        "{{ u64 *p = (u64 *)mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); \
         if (p == (u64 *)MAP_FAILED) abort(); p[3] = {x}; mprotect(p, 4096, PROT_NONE); \
         n{to} = MIX(p[3], p[4]); munmap(p, 4096); }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_signal_hides_no_name_of_a_comparison() {
        for text in [raise("f", "r->key", 0), raise_only("f", "l->key")] {
            let declared = |name: &str| text.contains(&format!("raised {name} "));
            assert!(
                declared("sent") && !declared("l") && !declared("r"),
                "{text}"
            );
        }
    }
}
