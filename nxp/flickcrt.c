/* Start-up code of every program and shared library with an image. It registers the module with the
 * runtime before the module's own constructors run, and unregisters it after its destructors. */
#include "flick_near.h"
#include "flick_note.h"

struct module;
extern const struct module __flick_module __attribute__((visibility("hidden")));
extern void __flick_register(const struct module *);
extern void __flick_unregister(const struct module *);

/* Priorities up to 100 are the implementation's, which Flick is to the program. */
__attribute__((constructor(50))) static void __flick_enter(void) {
  __flick_register(&__flick_module);
}
__attribute__((destructor(50))) static void __flick_leave(void) {
  __flick_unregister(&__flick_module);
}

/* The fast path of the crossing near this module's code. The assembler reads the C compiler's own
 * syntax behind it. */
__asm__(FLICK_NEAR_CROSSING);

/* This is no call, and does not go through the PLT, because r11 is the gate's record. */
__asm__(".pushsection .text\n"
        ".globl __flick_lazy\n"
        ".hidden __flick_lazy\n"
        ".type __flick_lazy, @function\n"
        "__flick_lazy:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "jmp *__flick_early@GOTPCREL(%rip)\n"
        ".cfi_endproc\n"
        ".size __flick_lazy, .-__flick_lazy\n"
        ".popsection\n");
