//! libc's signal and jump functions, ahead of libc in symbol lookup.
use crate::next_definition::Next;

static SIGACTION: Next = Next::new(c"sigaction");
static SIGPROCMASK: Next = Next::new(c"sigprocmask");
static PTHREAD_SIGMASK: Next = Next::new(c"pthread_sigmask");
static SIGSUSPEND: Next = Next::new(c"sigsuspend");
static LONGJMP: Next = Next::new(c"longjmp");
static LONGJMP_CHK: Next = Next::new(c"__longjmp_chk");

/// Looks everything up at start: later it may be in a signal handler, where `dlsym` is not allowed.
extern "C" fn find_all() {
    for next in [
        &SIGACTION,
        &SIGPROCMASK,
        &PTHREAD_SIGMASK,
        &SIGSUSPEND,
        &LONGJMP,
        &LONGJMP_CHK,
    ] {
        next.find();
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static FIND_ALL: extern "C" fn() = find_all;

flick_runtime::signal_shims! {
    prefix: "",
    sigaction: SIGACTION.function(),
    sigaction_of_signal: SIGACTION.function(),
    sigprocmask: SIGPROCMASK.function(),
    pthread_sigmask: PTHREAD_SIGMASK.function(),
    sigsuspend: SIGSUSPEND.function(),
    longjmp: LONGJMP.function(),
    __longjmp_chk: LONGJMP_CHK.function(),
}
