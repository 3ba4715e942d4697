// LLVM knows stdio: `printf` of a constant becomes `puts` or `putchar`, `sprintf` a copy, and so
// on, on the NxP as on the host. Each form is called with constants and without, its result used
// and not.
// SKIP-GCC: the compilers choose which calls they fold, and in what order they print
// CFLAGS: -D_GNU_SOURCE -w
// STDIN: 17 words of input
#include <flick.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *volatile text = "general";
static volatile int number = 42;

// The functions of these names, and not the headers' macros and inline forms.
#undef getc
#undef putc
#undef getchar
#undef putchar
int getc(FILE *), putc(int, FILE *), getchar(void), putchar(int);
int getc_unlocked(FILE *), putc_unlocked(int, FILE *), getchar_unlocked(void),
    putchar_unlocked(int);

FLICK_NXP void print(void) {
  const char *s = text;
  int n = number;
  printf("constant\n"), printf("x"), printf("\n"), printf(""), printf("%%\n"),
      printf("%s\n", "text");
  printf("%s", "no line\n"), printf("%c", 'c'), printf("%c\n", n), printf("%s\n", s),
      printf("%d\n", n);
  printf("%d %d\n", printf("used\n"), printf("%s\n", s)), printf("%d\n", printf("%c", n));
  printf("%s", ""), printf("%s%s\n", s, "both"), printf("%g %d\n", 2.5, 7),
      printf("%5s|%-5s|\n", "a", "b");
  fprintf(stdout, "constant\n"), fprintf(stdout, "%s", s), fprintf(stdout, "%c", '\n');
  fprintf(stdout, "%s", "\n"), fprintf(stdout, "%d %f\n", n, 1.5), fprintf(stdout, "");
  puts(""), puts("puts"), puts(s), putchar('a'), putchar(n), putchar('\n'), fputs("", stdout);
  fputs("a", stdout), fputs("fputs\n", stdout), fputs(s, stdout), fputc('\n', stdout),
      putc('p', stdout);
  fwrite("x", 1, 1, stdout), fwrite("\nfwrite\n", 1, 8, stdout), fwrite("none", 0, 4, stdout);
  fwrite(s, 1, strlen(s), stdout), fputs_unlocked("\n", stdout), fputc_unlocked('f', stdout);
  putc_unlocked('u', stdout), putchar_unlocked('\n'), fwrite_unlocked("word\n", 1, 5, stdout);
  printf("%zu\n", fwrite("used", 1, 4, stdout)), printf("%d\n", puts("result") >= 0);
  printf("%d %d\n", fputs("used ", stdout) >= 0, fputc('\n', stdout));
}

FLICK_NXP void print_to_memory(void) {
  char room[64], more[64];
  const char *s = text;
  int n = number;
  printf("%d ", sprintf(room, "constant")), puts(room), sprintf(room, "%%"), puts(room);
  printf("%d ", sprintf(room, "%s", "text")), puts(room), printf("%d ", sprintf(room, "%s", s)),
      puts(room);
  sprintf(room, "%c", n), puts(room), sprintf(room, "%d-%s", n, s), puts(room),
      sprintf(room, "%s", s);
  printf("%d ", snprintf(room, 20, "constant")), puts(room), snprintf(room, 4, "constant"),
      puts(room);
  printf("%d\n", snprintf(room, 0, "nothing")), printf("%d\n", snprintf(NULL, 0, "%s", "length"));
  printf("%d ", snprintf(room, 5, "%s", "longer text")), puts(room), snprintf(room, 2, "%c", n),
      puts(room);
  printf("%d ", snprintf(room, 9, "%s", s)), puts(room),
      snprintf(more, sizeof more, "%s:%f", s, 0.25), puts(more);
  sprintf(more, "%g %g", 1.5, (double)n), puts(more);
  int a = 0, b = 0;
  float f = 0;
  printf("%d %d", sscanf("12 x7f", "%d x%x", &a, &b), a), printf(" %d\n", b);
  printf("%d %g\n", sscanf("2.5", "%f", &f), (double)f);
}

int _IO_getc(FILE *), _IO_putc(int, FILE *);

FLICK_NXP static void by_list(const char *format, ...) {
  char room[64];
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  vprintf(format, list), vsnprintf(room, sizeof room, format, again), puts(room);
  va_end(again);
  va_end(list);
  va_start(list, format);
  __builtin___vsprintf_chk(room, 0, sizeof room, format, list), _IO_putc('>', stdout), puts(room);
  va_end(list);
  va_start(list, format);
  __builtin___vsnprintf_chk(room, 7, 0, sizeof room, format, list), puts(room);
  va_end(list);
  va_start(list, format);
  vsprintf(room, format, list), fputs(room, stdout);
  va_end(list);
  va_start(list, format);
  vfprintf(stdout, format, list);
  va_end(list);
}

// The headers give them other names.
int old_scanf(const char *, ...) __asm__("scanf"),
    old_vscanf(const char *, va_list) __asm__("vscanf");
int old_fscanf(FILE *, const char *, ...) __asm__("fscanf");
int old_sscanf(const char *, const char *, ...) __asm__("sscanf");
int old_vfscanf(FILE *, const char *, va_list) __asm__("vfscanf");
int old_vsscanf(const char *, const char *, va_list) __asm__("vsscanf");

FLICK_NXP static void scan_by_list(FILE *file, ...) {
  va_list list;
  va_start(list, file);
  printf("%d ", old_vsscanf("98", "%d", list));
  va_end(list);
  va_start(list, file);
  printf("%d ", old_vfscanf(file, "%d", list));
  va_end(list);
  va_start(list, file);
  printf("%d ", vfscanf(file, "%d", list));
  va_end(list);
  va_start(list, file);
  printf("%d ", vsscanf("99", "%d", list));
  va_end(list);
}

FLICK_NXP void files(void) {
  char room[64], name[] = "stdio.txt";
  FILE *file = fopen(name, "w+");
  long at;
  fpos_t here;
  setvbuf(file, NULL, _IOFBF, 256), fputs("first line\nsecond 5 6 7\n\nlast", file);
  printf("%d %ld\n", fflush(file), ftell(file)), rewind(file), printf("%s", fgets(room, 64, file));
  fgetpos(file, &here), printf("%d%d%d\n", fgetc(file), getc(file), ungetc('q', file));
  printf("%d %d ", getc_unlocked(file), fgetc_unlocked(file)), fsetpos(file, &here);
  int a = 0, b = 0;
  printf("%d %d\n", fscanf(file, "second %d", &a), a), scan_by_list(file, &b), printf("%d\n", b);
  fseek(file, 2, SEEK_SET), at = ftello(file), printf("%zu %ld\n", fread(room, 1, 5, file), at);
  printf("%.5s %zu", room, fread(room, 3, 2, file)), printf("%.6s %d\n", room, feof(file));
  fseeko(file, -4, SEEK_END),
      printf("%zu %s", fread_unlocked(room, 1, 9, file), feof(file) ? "end" : "more");
  clearerr(file), printf("%d %d %d\n", feof(file), ferror(file), fileno(file) > 2), flockfile(file);
  fseeko64(file, 0, SEEK_SET),
      printf("%ld %s", (long)ftello64(file), fgets_unlocked(room, 9, file));
  printf(" %d\n", ftrylockfile(file)), funlockfile(file), funlockfile(file), setbuf(file, NULL);
  printf("%d %d\n", fread(room, 0, 5, file) == 0, fclose(file));
  file = fopen64(name, "a"), fwrite("!", 1, 1, file), fclose(file);
  file = fdopen(dup(0), "r"), printf("%d\n", file != NULL), fclose(file);
  file = tmpfile(), fputc('t', file), rewind(file), printf("%d\n", _IO_getc(file)), fclose(file),
  file = tmpfile64(), fclose(file);
  printf("%d %d\n", rename(name, "other.txt"), remove("other.txt"));
  file = popen("echo from a shell", "r"), printf("%s", fgets(room, 64, file)),
  printf("%d\n", pclose(file));
}

FLICK_NXP static void words_by_list(const char *format, ...) {
  va_list list;
  va_start(list, format);
  printf(" %d", old_vscanf(format, list));
  va_end(list);
}

FLICK_NXP void input(void) {
  int n = 0, m = 0;
  printf("%d %d %d ", old_sscanf("55", "%d", &m), m, old_fscanf(stdin, " "));
  char word[16] = "none";
  printf("%d %d", scanf("%d", &n), n), printf(" %d %d", getchar(), getchar_unlocked());
  printf(" %d", scanf("%15s", word)), printf(" %s", word), words_by_list(" %15s", word);
  printf(" %s %d\n", word, old_scanf("%d", &m));
}

int main(void) {
  print();
  print_to_memory();
  by_list("%d %s %g\n", 3, "list", 2.5);
  files();
  input();
  return 0;
}
