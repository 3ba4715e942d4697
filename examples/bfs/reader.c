/* Graph files: SNAP edge lists (https://snap.stanford.edu/data/) and Matrix Market coordinate files
 * (NIST, "The Matrix Market Exchange Formats", NISTIR 5935). */
#define _POSIX_C_SOURCE 200809L
#include "graph.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct reader {
  FILE *file;
  const char *name;
  char *text; /* the line, without its end */
  size_t room;
  unsigned long line;
} reader;

static _Noreturn void bad(const reader *r, const char *what) {
  fail("%s:%lu: %s: \"%.60s\"", r->name, r->line, what, r->text ? r->text : "");
}

/* Reads a line; CR LF, LF and a missing last end of line are all right. Returns 0 at the end. */
static int next_line(reader *r) {
  errno = 0;
  ssize_t length = getline(&r->text, &r->room, r->file);
  if (length < 0) {
    if (ferror(r->file) || errno)
      fail("%s: %s", r->name, strerror(errno));
    return 0;
  }
  r->line++;
  if (r->line == 1 && strncmp(r->text, "\x1f\x8b", 2) == 0)
    fail("%s is compressed: gzip -dc %s | bfs -", r->name, r->name);
  if (memchr(r->text, 0, (size_t)length))
    bad(r, "a NUL byte; this is no text file");
  while (length > 0 && (r->text[length - 1] == '\n' || r->text[length - 1] == '\r'))
    r->text[--length] = 0;
  if (r->line == 1 && strncmp(r->text, "\xef\xbb\xbf", 3) == 0)
    memmove(r->text, r->text + 3, (size_t)length - 2);
  return 1;
}

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t')
    at++;
  return at;
}

/* Reads an unsigned number of up to 64 bits that ends at a blank or the end of the line. */
static uint64_t read_number(const reader *r, const char **at, const char *missing) {
  const char *p = skip_blanks(*at);
  uint64_t value = 0;
  if (!*p)
    bad(r, missing);
  if (*p == '-')
    bad(r, "a negative vertex number");
  do {
    if (!isdigit((unsigned char)*p))
      bad(r, "not a vertex number");
    unsigned digit = (unsigned)(*p - '0');
    if (value > (UINT64_MAX - digit) / 10)
      bad(r, "a number of more than 64 bits");
    value = value * 10 + digit;
  } while (*++p && *p != ' ' && *p != '\t');
  *at = p;
  return value;
}

/* Skips a number of any kind: a weight, a time stamp, a matrix entry. Returns 0 at the line's end.
 */
static int skip_value(const reader *r, const char **at) {
  const char *p = skip_blanks(*at);
  if (!*p)
    return 0;
  char *end;
  strtod(p, &end);
  if (end == p || (*end && *end != ' ' && *end != '\t'))
    bad(r, "not a number");
  *at = end;
  return 1;
}

/* `u v`, further columns (weight, time) are read over. Numbers are arbitrary names. */
static void read_snap(reader *r, edge_list *list) {
  int more = 1;
  uint64_t last_number = 0;
  vertex last = 0;
  for (; more; more = next_line(r)) {
    const char *at = skip_blanks(r->text);
    if (!*at || *at == '#' || *at == '%')
      continue;
    uint64_t from = read_number(r, &at, "no vertex number");
    uint64_t to = read_number(r, &at, "an edge needs two vertex numbers");
    while (skip_value(r, &at))
      ;
    /* Edge lists usually come sorted by their first column. */
    if (!list->edges || from != last_number)
      last = intern(list, last_number = from);
    add_edge(list, last, intern(list, to));
  }
  if (!list->edges)
    fail("%s: no edges", r->name);
}

typedef struct matrix_kind {
  int values; /* per entry: pattern 0, real and integer 1, complex 2 */
  int mirrored;
} matrix_kind;

static matrix_kind read_banner(const reader *r) {
  char object[32] = "", format[32] = "", field[32] = "", symmetry[32] = "", more[2] = "";
  matrix_kind kind = {0};
  int words = sscanf(r->text, "%*s %31s %31s %31s %31s %1s", object, format, field, symmetry, more);
  if (words != 4)
    bad(r, "a Matrix Market banner has four words: object format field symmetry");
  if (strcasecmp(object, "matrix") != 0)
    bad(r, "only the Matrix Market object `matrix` is a graph");
  if (strcasecmp(format, "coordinate") != 0)
    bad(r, "only the Matrix Market format `coordinate` (sparse) is read");
  if (strcasecmp(field, "pattern") == 0)
    kind.values = 0;
  else if (strcasecmp(field, "real") == 0 || strcasecmp(field, "integer") == 0 ||
           strcasecmp(field, "double") == 0)
    kind.values = 1;
  else if (strcasecmp(field, "complex") == 0)
    kind.values = 2;
  else
    bad(r, "the field must be pattern, real, integer or complex");
  if (strcasecmp(symmetry, "symmetric") == 0 || strcasecmp(symmetry, "skew-symmetric") == 0 ||
      strcasecmp(symmetry, "hermitian") == 0)
    kind.mirrored = 1;
  else if (strcasecmp(symmetry, "general") != 0)
    bad(r, "the symmetry must be general, symmetric, skew-symmetric or hermitian");
  return kind;
}

static int next_entry(reader *r) {
  while (next_line(r)) {
    const char *at = skip_blanks(r->text);
    if (*at && *at != '%')
      return 1;
  }
  return 0;
}

/* Row i, column j (from 1) is the edge i to j; the vertices are all rows, also the empty ones. */
static void read_matrix(reader *r, edge_list *list) {
  matrix_kind kind = read_banner(r);
  if (!next_entry(r))
    fail("%s: the line with rows, columns and entries is missing", r->name);
  const char *at = r->text;
  const char *missing = "rows, columns and entries are needed";
  uint64_t rows = read_number(r, &at, missing);
  uint64_t columns = read_number(r, &at, missing);
  uint64_t entries = read_number(r, &at, missing);
  if (*skip_blanks(at))
    bad(r, "more than rows, columns and entries");
  if (rows != columns)
    bad(r, "the adjacency matrix of a graph is square");
  if (rows == 0)
    bad(r, "no vertices");
  if (rows > MAX_VERTICES)
    bad(r, "too many vertices");
  for (uint64_t v = 1; v <= rows; v++)
    intern(list, v);

  uint64_t seen = 0;
  for (; next_entry(r); seen++) {
    if (seen == entries)
      bad(r, "more entries than the file announces");
    at = r->text;
    uint64_t i = read_number(r, &at, "no row");
    uint64_t j = read_number(r, &at, "no column");
    if (i == 0 || i > rows || j == 0 || j > columns)
      bad(r, "row or column outside the matrix");
    for (int value = 0; value < kind.values; value++)
      if (!skip_value(r, &at))
        bad(r, "the entry has no value");
    if (*skip_blanks(at))
      bad(r, "more columns than the banner announces");
    vertex from = (vertex)(i - 1), to = (vertex)(j - 1);
    add_edge(list, from, to);
    if (kind.mirrored && from != to)
      add_edge(list, to, from);
  }
  if (seen < entries)
    fail("%s:%lu: %" PRIu64 " of the %" PRIu64 " announced entries are missing", r->name, r->line,
         entries - seen, entries);
}

void read_graph(const char *path, edge_list *list) {
  reader r = {.name = path};
  if (strcmp(path, "-") == 0) {
    r.file = stdin;
    r.name = "stdin";
  } else if (!(r.file = fopen(path, "r"))) {
    fail("%s: %s", path, strerror(errno));
  }
  if (!next_line(&r))
    fail("%s: the file is empty", r.name);
  if (strncmp(r.text, "%%MatrixMarket", 14) == 0)
    read_matrix(&r, list);
  else
    read_snap(&r, list);
  free(r.text);
  if (r.file != stdin)
    fclose(r.file);
}
