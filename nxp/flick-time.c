/* libflick-time: functions of the C library that order threads by virtual time, or read clocks
 * (docs/virtual-threads.md). Programs with code that counts itself are linked with it. Each
 * function goes on to the C library's, unless the run is timed; then it asks libflick.
 *
 * It is built as libflick-time.so, which stands in front of the C library, and as libflick-time.a
 * (FLICK_STATIC), to which the linker leads the calls (--wrap). */
#include "flick_abi.h"
#ifndef FLICK_STATIC
#include "flick_note.h"
#endif

#ifdef FLICK_STATIC
#define NAME(name) "__wrap_" #name
#define REAL(name) extern void __real_##name(void);
#else
#define NAME(name) #name
#define REAL(name)
extern void *__flick_order_next(const char *name);
#endif

#define FUNCTION(name, level) REAL(name)
FLICK_ORDERED_FUNCTIONS(FUNCTION)
#undef FUNCTION

/* The C library's functions, in the order of the list. */
#ifdef FLICK_STATIC
#define FUNCTION(name, level) (void *)__real_##name,
#else
#define FUNCTION(name, level) 0,
#endif
__attribute__((visibility("hidden"), used)) void *__flick_time_table[] = {
    FLICK_ORDERED_FUNCTIONS(FUNCTION)};
#undef FUNCTION

extern void __flick_order_linked(void *const *table);

/* Called by the first function, which may be one of a library's constructor, or by the own. */
__attribute__((visibility("hidden"), used)) void __flick_time_fill(void) {
#ifndef FLICK_STATIC
#define FUNCTION(name, level) #name,
  static const char *const names[] = {FLICK_ORDERED_FUNCTIONS(FUNCTION)};
#undef FUNCTION
  for (unsigned long i = 0; i < sizeof names / sizeof *names; i++)
    __flick_time_table[i] = __flick_order_next(names[i]);
#endif
}

__attribute__((constructor(50))) static void begin(void) {
  __flick_time_fill();
  __flick_order_linked(__flick_time_table);
}

/* Each function. rax has libflick's answer, rdx the function to go on to. */
__asm__(".macro flick_ordered name, part, level, place\n"
        ".globl \\name\n"
        ".type \\name, @function\n"
        ".p2align 4\n"
        "\\name:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "mov " FLICK_ORDER_LEVEL "@GOTPCREL(%rip), %r11\n"
        "testb $\\level, (%r11)\n"
        "mov __flick_time_table+8*\\place(%rip), %r11\n"
        "jnz 1f\n"
        "2: test %r11, %r11\n"
        "jz 3f\n"
        "jmp *%r11\n"
        /* Before this library's constructor. */
        "3: call __flick_time_save\n"
        ".cfi_adjust_cfa_offset 56\n"
        "call __flick_time_fill\n"
        "call __flick_time_restore\n"
        ".cfi_adjust_cfa_offset -56\n"
        "jmp *__flick_time_table+8*\\place(%rip)\n"
        "1: call __flick_time_save\n"
        ".cfi_adjust_cfa_offset 56\n"
        "mov %rsp, %rdi\n"
        "mov 56(%rsp), %rsi\n"
        "call *\\part@GOTPCREL(%rip)\n"
        "mov %rdx, %r11\n"
        "call __flick_time_restore\n"
        ".cfi_adjust_cfa_offset -56\n"
        "test %r11, %r11\n"
        "jz 4f\n"
        "jmp *%r11\n"
        "4: ret\n"
        ".cfi_endproc\n"
        ".size \\name, .-\\name\n"
        ".endm\n"
        ".text\n"
        /* Makes room for the arguments, which libflick gets a pointer to, and aligns the stack. */
        "__flick_time_save:\n"
        ".cfi_startproc\n"
        "pop %r10\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_register %rip, %r10\n"
        "sub $56, %rsp\n"
        ".cfi_adjust_cfa_offset 56\n"
        "mov %rdi, (%rsp)\n"
        "mov %rsi, 8(%rsp)\n"
        "mov %rdx, 16(%rsp)\n"
        "mov %rcx, 24(%rsp)\n"
        "mov %r8, 32(%rsp)\n"
        "mov %r9, 40(%rsp)\n"
        "jmp *%r10\n"
        ".cfi_endproc\n"
        "__flick_time_restore:\n"
        ".cfi_startproc\n"
        "pop %r10\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_register %rip, %r10\n"
        "mov (%rsp), %rdi\n"
        "mov 8(%rsp), %rsi\n"
        "mov 16(%rsp), %rdx\n"
        "mov 24(%rsp), %rcx\n"
        "mov 32(%rsp), %r8\n"
        "mov 40(%rsp), %r9\n"
        "add $56, %rsp\n"
        ".cfi_adjust_cfa_offset -56\n"
        "jmp *%r10\n"
        ".cfi_endproc\n"
        ".set flick_place, 0\n");

#define FUNCTION(name, level)                                                                      \
  __asm__("flick_ordered " NAME(name) ", __flick_ordered_" #name ", " #level ", flick_place\n"     \
                                      ".set flick_place, flick_place + 1\n");
FLICK_ORDERED_FUNCTIONS(FUNCTION)
