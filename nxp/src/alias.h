/* Functions of the NxP side's C library go by two names: their own, which LLVM's code generator
 * calls, and __flick_call_NAME, which direct calls in C become (docs/compiler.md). */
#ifndef NXP_ALIAS_H
#define NXP_ALIAS_H

#include <stddef.h>
#include <stdint.h>

#define NXP_ALIAS(name) extern __typeof(name) __flick_call_##name __attribute__((alias(#name)))

/* A word that may lie over objects of any type. */
typedef uint64_t __attribute__((may_alias)) word;
#define WORD sizeof(word)

static inline size_t misalignment(const void *p) { return (uintptr_t)p % WORD; }

#endif
