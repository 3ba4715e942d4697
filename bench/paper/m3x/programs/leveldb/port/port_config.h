/* What LevelDB's build would find: libraries and functions that the card lacks. */
#define HAVE_FDATASYNC 0
#define HAVE_FULLFSYNC 0
#define HAVE_O_CLOEXEC 1
#define HAVE_CRC32C 0
#define HAVE_SNAPPY 0
