/* In front of each file of BusyBox: what its headers expect of a C library for Linux. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* What its Makefile would say. */
#define BB_VER "1.35"
#define KBUILD_MODNAME "busybox"

#ifndef SA_RESTART
#define SA_RESTART 0
#endif

/* Of picolibc, with other arguments. */
#define itoa busybox_itoa
#define utoa busybox_utoa

/* BusyBox takes the functions without locks where it can. */
#define feof_unlocked feof
#define ferror_unlocked ferror
#define fgets_unlocked fgets
#define fileno_unlocked fileno
#define fputs_unlocked fputs
#define fread_unlocked fread
#define fwrite_unlocked fwrite
