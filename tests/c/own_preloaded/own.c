// Functions that nothing of this program may call: the runtime has no use for those of a preloaded
// library.
#include <stdlib.h>

#define NEVER(name)                                                                                \
  long name(void);                                                                                 \
  long name(void) { abort(); }
NEVER(read)
NEVER(open)
NEVER(open64)
NEVER(close)
NEVER(mmap)
NEVER(mmap64)
NEVER(munmap)
NEVER(mprotect)
NEVER(madvise)
NEVER(sigaltstack)
NEVER(sigfillset)
NEVER(getauxval)
NEVER(getrlimit)
NEVER(getrusage)
NEVER(gettid)
NEVER(syscall)
NEVER(clock_gettime)
NEVER(dl_iterate_phdr)
NEVER(pthread_key_create)
NEVER(pthread_setspecific)
