//! The functions that stand in front of libc's signal, jump and thread functions, written once for
//! `libflick.so` and `libflick.a`: these differ in the symbols (`--wrap` wants `__wrap_NAME`) and
//! in where libc's own functions are. What the functions do is in [`interpose`](crate::interpose)
//! and [`timed::threads`](crate::accounts::timed::threads).

/// Defines them all. `prefix` stands before each symbol; the other values are libc's functions.
/// That which signal(3) and its kin are made with is libc's own even where the program defines a
/// `sigaction`.
#[macro_export]
macro_rules! signal_shims {
    (
        prefix: $prefix:literal,
        sigaction: $sigaction:expr,
        sigaction_of_signal: $of_signal:expr,
        sigprocmask: $sigprocmask:expr,
        pthread_sigmask: $pthread_sigmask:expr,
        sigsuspend: $sigsuspend:expr,
        longjmp: $longjmp:expr,
        __longjmp_chk: $longjmp_chk:expr $(,)?
    ) => {
        /// # Safety
        /// As for libc's function.
        #[unsafe(export_name = concat!($prefix, "sigaction"))]
        pub unsafe extern "C" fn sigaction(
            signal: ::std::ffi::c_int,
            new: *const ::libc::sigaction,
            old: *mut ::libc::sigaction,
        ) -> ::std::ffi::c_int {
            // SAFETY: by contract.
            unsafe { $crate::interpose::sigaction($sigaction, signal, new, old) }
        }

        /// # Safety
        /// As for libc's function.
        #[unsafe(export_name = concat!($prefix, "sigsuspend"))]
        pub unsafe extern "C" fn sigsuspend(mask: *const ::libc::sigset_t) -> ::std::ffi::c_int {
            // SAFETY: by contract.
            unsafe { $crate::interpose::sigsuspend($sigsuspend, mask) }
        }

        $crate::signal_shims!(@signal $prefix, signal, $of_signal, bsd);
        $crate::signal_shims!(@signal $prefix, bsd_signal, $of_signal, bsd);
        $crate::signal_shims!(@signal $prefix, ssignal, $of_signal, bsd);
        $crate::signal_shims!(@signal $prefix, sysv_signal, $of_signal, sysv);
        $crate::signal_shims!(@signal $prefix, __sysv_signal, $of_signal, sysv);
        $crate::signal_shims!(@mask $prefix, sigprocmask, $sigprocmask);
        $crate::signal_shims!(@mask $prefix, pthread_sigmask, $pthread_sigmask);
        $crate::signal_shims!(@jump $prefix, longjmp, $longjmp);
        $crate::signal_shims!(@jump $prefix, _longjmp, $longjmp);
        $crate::signal_shims!(@jump $prefix, siglongjmp, $longjmp);
        $crate::signal_shims!(@jump $prefix, __longjmp_chk, $longjmp_chk);
    };

    (@signal $prefix:literal, $name:ident, $sigaction:expr, bsd) => {
        $crate::signal_shims!(@flags $prefix, $name, $sigaction, ::libc::SA_RESTART);
    };
    (@signal $prefix:literal, $name:ident, $sigaction:expr, sysv) => {
        $crate::signal_shims!(
            @flags $prefix, $name, $sigaction, ::libc::SA_RESETHAND | ::libc::SA_NODEFER
        );
    };
    (@flags $prefix:literal, $name:ident, $sigaction:expr, $flags:expr) => {
        /// # Safety
        /// As for libc's function.
        #[unsafe(export_name = concat!($prefix, stringify!($name)))]
        pub unsafe extern "C" fn $name(
            signal: ::std::ffi::c_int,
            handler: ::libc::sighandler_t,
        ) -> ::libc::sighandler_t {
            // SAFETY: by contract.
            unsafe { $crate::interpose::signal($sigaction, signal, handler, $flags) }
        }
    };
    (@mask $prefix:literal, $name:ident, $next:expr) => {
        /// # Safety
        /// As for libc's function.
        #[unsafe(export_name = concat!($prefix, stringify!($name)))]
        pub unsafe extern "C" fn $name(
            how: ::std::ffi::c_int,
            set: *const ::libc::sigset_t,
            old: *mut ::libc::sigset_t,
        ) -> ::std::ffi::c_int {
            // SAFETY: by contract.
            unsafe { $crate::interpose::sigmask($next, how, set, old) }
        }
    };
    (@jump $prefix:literal, $name:ident, $next:expr) => {
        /// # Safety
        /// As for libc's function.
        #[unsafe(export_name = concat!($prefix, stringify!($name)))]
        pub unsafe extern "C" fn $name(
            buffer: *const ::std::ffi::c_void,
            value: ::std::ffi::c_int,
        ) -> ! {
            // SAFETY: by contract.
            unsafe {
                $crate::interpose::longjmp(buffer);
                let next: unsafe extern "C" fn(*const ::std::ffi::c_void, ::std::ffi::c_int) -> ! =
                    $next;
                next(buffer, value)
            }
        }
    };
}

/// The code of a naked function that joins a thread: the C library's function, which `find` finds,
/// between what is to be done before and behind it. Cancellation unwinds it: no frame of Rust's is
/// between libc's function and its caller.
#[macro_export]
macro_rules! join_with {
    ($find:ident) => {
        ::std::arch::naked_asm!(
            ".cfi_startproc",
            "push rdi",
            ".cfi_def_cfa_offset 16",
            "push rsi",
            ".cfi_def_cfa_offset 24",
            "sub rsp, 8",
            ".cfi_def_cfa_offset 32",
            "mov rsi, [rsp + 24]",
            "call {joins}",
            "call {find}",
            "add rsp, 8",
            ".cfi_def_cfa_offset 24",
            "pop rsi",
            ".cfi_def_cfa_offset 16",
            "mov rdi, [rsp]",
            "call rax",
            "mov esi, eax",
            "pop rdi",
            ".cfi_def_cfa_offset 8",
            "jmp {joined}",
            ".cfi_endproc",
            joins = sym $crate::accounts::timed::threads::joins,
            find = sym $find,
            joined = sym $crate::accounts::timed::threads::joined,
        )
    };
}

/// Defines those of threads. The values are libc's functions: for pthread_join(3) the name of a
/// Rust function that finds it.
#[macro_export]
macro_rules! thread_shims {
    (
        prefix: $prefix:literal,
        pthread_create: $create:expr,
        pthread_join: $find_join:ident $(,)?
    ) => {
        /// # Safety
        /// As for libc's function.
        #[unsafe(naked)]
        #[unsafe(export_name = concat!($prefix, "pthread_create"))]
        pub unsafe extern "C" fn pthread_create(
            _thread: *mut ::libc::pthread_t,
            _attributes: *const ::libc::pthread_attr_t,
            _start: $crate::accounts::timed::threads::Start,
            _argument: *mut ::std::ffi::c_void,
        ) -> ::std::ffi::c_int {
            unsafe extern "C" fn create(
                thread: *mut ::libc::pthread_t,
                attributes: *const ::libc::pthread_attr_t,
                start: $crate::accounts::timed::threads::Start,
                argument: *mut ::std::ffi::c_void,
                place: usize,
            ) -> ::std::ffi::c_int {
                $crate::heap::before_threads();
                // SAFETY: by contract.
                unsafe {
                    $crate::accounts::timed::threads::create(
                        $create, thread, attributes, start, argument, place,
                    )
                }
            }
            // The return address.
            ::std::arch::naked_asm!("mov r8, [rsp]", "jmp {create}", create = sym create)
        }

        /// # Safety
        /// As for libc's function.
        #[unsafe(naked)]
        #[unsafe(export_name = concat!($prefix, "pthread_join"))]
        pub unsafe extern "C" fn pthread_join(
            thread: ::libc::pthread_t,
            result: *mut *mut ::std::ffi::c_void,
        ) -> ::std::ffi::c_int {
            $crate::join_with!($find_join)
        }
    };
}
