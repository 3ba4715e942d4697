// LLVM knows functions of POSIX by name, and what they do not do with memory: it may move and drop
// loads and stores around their calls, on the NxP as on the host.
// CFLAGS: -D_GNU_SOURCE -w
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <flick.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static int step;
FLICK_NXP static void show(int result) { printf("%d %d\n", ++step, result); }

FLICK_NXP void files(void) {
  char name[] = "posix.txt", link_name[] = "posix.link", room[64] = "", *real;
  struct stat about;
  struct stat64 about64;
  struct statvfs fs;
  struct statvfs64 fs64;
  int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  show((int)write(fd, "some words", 10)), show((int)pwrite(fd, "S", 1, 0)),
      show((int)pread(fd, room, 4, 0));
  show(strcmp(room, "Some")), lseek(fd, 5, SEEK_SET), show((int)read(fd, room, 5)), puts(room);
  show(fstat(fd, &about)), show((int)about.st_size), show(fstat64(fd, &about64)),
      show((int)about64.st_size);
  show(fstatvfs(fd, &fs)), show(fs.f_bsize > 0), show(fstatvfs64(fd, &fs64)), close(fd);
  fd = open64(name, O_RDONLY), close(fd), show(fd > 2), show(access(name, R_OK)),
  show(access("none", F_OK));
  show(stat(name, &about)), show(stat64(name, &about64)), show((int)about64.st_size),
      show(chmod(name, 0640));
  show(lstat(name, &about)), show(about.st_mode & 0777), show(lstat64(name, &about64)),
      show(statvfs(name, &fs));
  show(statvfs64(name, &fs64)), show(chown(name, (uid_t)-1, (gid_t)-1)),
      show(lchown(name, (uid_t)-1, (gid_t)-1));
  show(symlink(name, link_name)), memset(room, 0, sizeof room),
      show((int)readlink(link_name, room, 63)), puts(room);
  real = realpath(link_name, NULL), show(real && strstr(real, name)), free(real),
  show(unlink(link_name));
  struct utimbuf when = {1000, 2000};
  struct timeval whens[2] = {{3000, 0}, {4000, 0}};
  show(utime(name, &when)), stat(name, &about), show((int)about.st_mtime);
  show(utimes(name, whens)), stat(name, &about), show((int)about.st_mtime),
      show(rename(name, "posix2.txt"));
  show(remove("posix2.txt")), show(mkdir("posix.dir", 0700));
  DIR *dir = opendir("posix.dir");
  show(dir && readdir(dir)), show(closedir(dir)), show(rmdir("posix.dir")),
      show(rmdir("posix.dir"));
  show(errno == ENOENT), fflush(stdout), errno = EPERM, perror("no error"), show(unlink("none"));
}

FLICK_NXP void system_and_time(void) {
  struct timeval now = {0};
  struct itimerval timer = {{0}}, old = {{5, 5}, {5, 5}};
  struct tm day = {.tm_year = 100, .tm_mon = 13, .tm_mday = 5, .tm_isdst = -1};
  struct tms used;
  struct utsname names;
  char room[64] = "";
  show(gettimeofday(&now, NULL)), show(now.tv_sec > 1000000000),
      show(setitimer(ITIMER_VIRTUAL, &timer, NULL));
  show(getitimer(ITIMER_VIRTUAL, &old)), show((int)old.it_value.tv_sec),
      show((int)(mktime(&day) / 86400));
  show(day.tm_mon), show(times(&used) != 0), show(uname(&names)), puts(names.sysname),
      puts(ctermid(room));
  show(getlogin_r(room, sizeof room) >= 0),
      show(getpwnam("root") ? (int)getpwnam("root")->pw_uid : -1);
  setenv("FLICK_POSIX", "set", 1), puts(getenv("FLICK_POSIX")), show(unsetenv("FLICK_POSIX"));
  show(getenv("FLICK_POSIX") == NULL), fflush(stdout), show(system("echo from system")),
      fflush(stdout);
}

static char *const arguments[] = {"sh", "-c", "echo from $0 $FLICK_POSIX", NULL};
static char *const variables[] = {"FLICK_POSIX=variable", NULL};

FLICK_NXP static void replace(int how) {
  const char sh[] = "/bin/sh", text[] = "echo from list $FLICK_POSIX";
  switch (how) {
  case 0:
    execv(sh, arguments);
    break;
  case 1:
    execve(sh, arguments, variables);
    break;
  case 2:
    execvp("sh", arguments);
    break;
  case 3:
    execvpe("sh", arguments, variables);
    break;
  case 4:
    execl(sh, "sh", "-c", text, (char *)NULL);
    break;
  case 5:
    execlp("sh", "sh", "-c", text, (char *)NULL);
    break;
  case 6:
    execle(sh, "sh", "-c", text, (char *)NULL, variables);
    break;
  }
  _exit(1);
}

FLICK_NXP void processes(void) {
  for (int how = 0; how < 7; ++how) {
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
      replace(how);
    show(waitpid(child, &status, 0) == child), show(status);
  }
}

int main(void) {
  files();
  system_and_time();
  processes();
  return 0;
}
