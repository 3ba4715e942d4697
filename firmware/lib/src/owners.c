// Users: there is one, and no passwords.
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

uid_t getuid(void) { return 0; }
uid_t geteuid(void) { return 0; }
gid_t getgid(void) { return 0; }
gid_t getegid(void) { return 0; }

int setuid(uid_t user) { return user ? -1 : 0; }
int setgid(gid_t group) { return group ? -1 : 0; }

struct passwd *getpwuid(uid_t user) {
  static struct passwd root = {.pw_name = "root", .pw_dir = "/", .pw_shell = "/", .pw_passwd = "x"};
  return user ? NULL : &root;
}

struct passwd *getpwnam(const char *name) { return strcmp(name, "root") ? NULL : getpwuid(0); }

struct group *getgrgid(gid_t group) {
  static char *no_members[] = {NULL};
  static struct group root = {.gr_name = "root", .gr_passwd = "x", .gr_mem = no_members};
  return group ? NULL : &root;
}

struct group *getgrnam(const char *name) { return strcmp(name, "root") ? NULL : getgrgid(0); }
