/* Start-up code of every program and shared library with an image: tells the runtime about its
 * module before its own constructors run, and after its destructors. */
struct module;
extern const struct module __flick_module __attribute__((visibility("hidden")));
extern void __flick_register(const struct module *);
extern void __flick_unregister(const struct module *);

/* Priorities up to 100 are the implementation's, which Flick is to the program. */
__attribute__((constructor(50))) static void enter(void) { __flick_register(&__flick_module); }
__attribute__((destructor(50))) static void leave(void) { __flick_unregister(&__flick_module); }
