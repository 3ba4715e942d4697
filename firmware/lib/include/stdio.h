/* picolibc's, and the parts of POSIX that the card's library adds. */
#pragma once
#include_next <stdio.h>
#include <sys/types.h>

/* Names of files, with their zero. */
#ifndef FILENAME_MAX
#define FILENAME_MAX 1024
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of a line with their number, or -1: the end, or an error. */
ssize_t getdelim(char **line, size_t *size, int end, FILE *stream);
ssize_t getline(char **line, size_t *size, FILE *stream);

/* A stream has one lock at most, which costs some instructions. */
static inline int getc_unlocked(FILE *stream) { return getc(stream); }
static inline int getchar_unlocked(void) { return getchar(); }
static inline int putc_unlocked(int byte, FILE *stream) { return putc(byte, stream); }
static inline int putchar_unlocked(int byte) { return putchar(byte); }

#ifdef __cplusplus
}
#endif
