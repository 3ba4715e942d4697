// Runs SQL scripts, and prints what they give. It gives SQL a function, an aggregate that is a
// window function too, a collation and a virtual table of its own, listens through hooks, and then
// uses what has no SQL: blobs in pieces, backup and serialisation.
#include "sqlite3.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void print_row(sqlite3_stmt *s) {
  for (int i = 0; i < sqlite3_column_count(s); i++) {
    if (i)
      putchar('|');
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_BLOB: {
      const unsigned char *bytes = (const unsigned char *)sqlite3_column_blob(s, i);
      for (int n = sqlite3_column_bytes(s, i), k = 0; k < n && k < 32; k++)
        printf("%02x", bytes[k]);
      break;
    }
    case SQLITE_FLOAT:
      printf("%.12g", sqlite3_column_double(s, i));
      break;
    case SQLITE_NULL:
      printf("NULL");
      break;
    default:
      printf("%s", (const char *)sqlite3_column_text(s, i));
    }
  }
  putchar('\n');
}

static void run(sqlite3 *db, const char *sql) {
  while (*(sql += strspn(sql, " \n"))) {
    sqlite3_stmt *s = NULL;
    const char *rest = sql;
    if (sqlite3_prepare_v2(db, sql, -1, &s, &rest) != SQLITE_OK) {
      printf("error: %s (%d)\n", sqlite3_errmsg(db), sqlite3_extended_errcode(db));
      sql += strcspn(sql, "\n"); // the scripts have one statement a line where one fails
      continue;
    }
    int status;
    while (s && (status = sqlite3_step(s)) != SQLITE_DONE) {
      if (status == SQLITE_ROW) {
        print_row(s);
        continue;
      }
      printf("error: %s (%d)\n", sqlite3_errmsg(db), sqlite3_extended_errcode(db));
      break;
    }
    sqlite3_finalize(s);
    sql = rest;
  }
}

static void runf(sqlite3 *db, const char *format, ...) {
  va_list list;
  va_start(list, format);
  char *sql = sqlite3_vmprintf(format, list);
  va_end(list);
  run(db, sql);
  sqlite3_free(sql);
}

// weigh(x, ...): a number for any value.
static void weigh(sqlite3_context *c, int n, sqlite3_value **v) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    switch (sqlite3_value_type(v[i])) {
    case SQLITE_INTEGER:
      sum += (double)sqlite3_value_int64(v[i]);
      break;
    case SQLITE_FLOAT:
      sum += 2 * sqlite3_value_double(v[i]);
      break;
    case SQLITE_NULL:
      sqlite3_result_error(c, "NULL weighs nothing", -1);
      return;
    default:
      sum += 100 * sqlite3_value_bytes(v[i]);
    }
  sqlite3_result_double(c, sum);
}

// spread(x): n times the sum of squares less the square of the sum; rows can leave again.
struct spread {
  long long count, sum, squares;
};

static void spread_step(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  struct spread *s = (struct spread *)sqlite3_aggregate_context(c, sizeof *s);
  long long x = sqlite3_value_int64(v[0]);
  s->count++, s->sum += x, s->squares += x * x;
}

static void spread_inverse(sqlite3_context *c, int n, sqlite3_value **v) {
  (void)n;
  struct spread *s = (struct spread *)sqlite3_aggregate_context(c, sizeof *s);
  long long x = sqlite3_value_int64(v[0]);
  s->count--, s->sum -= x, s->squares -= x * x;
}

static void spread_value(sqlite3_context *c) {
  struct spread *s = (struct spread *)sqlite3_aggregate_context(c, 0);
  if (s && s->count)
    sqlite3_result_int64(c, s->count * s->squares - s->sum * s->sum);
}

static int backwards(void *user, int na, const void *a, int nb, const void *b) {
  (void)user;
  int order = memcmp(b, a, (size_t)(na < nb ? na : nb));
  return order ? order : nb - na;
}

// The virtual table squares(n): 0, 1, 4, …
struct cursor {
  sqlite3_vtab_cursor base;
  sqlite3_int64 at, end;
};

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error) {
  (void)aux, (void)argc, (void)argv, (void)error;
  *out = (sqlite3_vtab *)sqlite3_malloc(sizeof **out);
  memset(*out, 0, sizeof **out);
  return sqlite3_declare_vtab(db, "CREATE TABLE x(value, n HIDDEN)");
}
static int table_disconnect(sqlite3_vtab *table) {
  sqlite3_free(table);
  return SQLITE_OK;
}
static int table_plan(sqlite3_vtab *table, sqlite3_index_info *info) {
  (void)table;
  for (int i = 0; i < info->nConstraint; i++)
    if (info->aConstraint[i].iColumn == 1 && info->aConstraint[i].usable &&
        info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
      info->aConstraintUsage[i].argvIndex = 1;
      info->aConstraintUsage[i].omit = 1;
      info->idxNum = 1;
    }
  info->estimatedCost = info->idxNum ? 10 : 1e9;
  return SQLITE_OK;
}
static int table_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out) {
  (void)table;
  struct cursor *made = (struct cursor *)sqlite3_malloc(sizeof *made);
  memset(made, 0, sizeof *made);
  *out = &made->base;
  return SQLITE_OK;
}
static int table_close(sqlite3_vtab_cursor *c) {
  sqlite3_free(c);
  return SQLITE_OK;
}
static int table_filter(sqlite3_vtab_cursor *c, int plan, const char *name, int argc,
                        sqlite3_value **argv) {
  (void)name, (void)argc;
  struct cursor *my = (struct cursor *)c;
  my->at = 0;
  my->end = plan ? sqlite3_value_int64(argv[0]) : 3;
  return SQLITE_OK;
}
static int table_next(sqlite3_vtab_cursor *c) {
  ((struct cursor *)c)->at++;
  return SQLITE_OK;
}
static int table_eof(sqlite3_vtab_cursor *c) {
  return ((struct cursor *)c)->at >= ((struct cursor *)c)->end;
}
static int table_column(sqlite3_vtab_cursor *c, sqlite3_context *out, int column) {
  struct cursor *my = (struct cursor *)c;
  sqlite3_result_int64(out, column ? my->end : my->at * my->at);
  return SQLITE_OK;
}
static int table_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *out) {
  *out = ((struct cursor *)c)->at;
  return SQLITE_OK;
}
static sqlite3_module squares = {.xConnect = table_connect,
                                 .xBestIndex = table_plan,
                                 .xDisconnect = table_disconnect,
                                 .xOpen = table_open,
                                 .xClose = table_close,
                                 .xFilter = table_filter,
                                 .xNext = table_next,
                                 .xEof = table_eof,
                                 .xColumn = table_column,
                                 .xRowid = table_rowid};

static struct {
  long long inserted, updated, deleted, committed, rolled_back, prepared;
} seen;

static void on_update(void *user, int what, const char *db, const char *table, sqlite3_int64 row) {
  (void)user, (void)db, (void)table, (void)row;
  long long *count = what == SQLITE_INSERT   ? &seen.inserted
                     : what == SQLITE_UPDATE ? &seen.updated
                                             : &seen.deleted;
  ++*count;
}
static int on_commit(void *user) { return (void)user, seen.committed++, 0; }
static void on_rollback(void *user) { (void)user, seen.rolled_back++; }
static int on_trace(unsigned what, void *user, void *p, void *x) {
  (void)user, (void)p, (void)x;
  seen.prepared += what == SQLITE_TRACE_STMT;
  return 0;
}
static int authorize(void *user, int action, const char *a, const char *b, const char *c,
                     const char *d) {
  (void)user, (void)b, (void)c, (void)d;
  return action == SQLITE_READ && a && strcmp(a, "forbidden") == 0 ? SQLITE_DENY : SQLITE_OK;
}
static int on_row(void *user, int n, char **values, char **names) {
  printf("%s %s=%s of %d\n", (const char *)user, names[0], values[0], n);
  return values[0][0] == '3'; // ends the query
}

static void expect(int status, int wanted, const char *what) {
  if (status == wanted)
    return;
  printf("%s: status %d\n", what, status);
  failures++;
}

static void prepare(sqlite3 *db) {
  sqlite3_create_function(db, "weigh", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, weigh, NULL,
                          NULL);
  sqlite3_create_window_function(db, "spread", 1, SQLITE_UTF8, NULL, spread_step, spread_value,
                                 spread_value, spread_inverse, NULL);
  sqlite3_create_collation(db, "backwards", SQLITE_UTF8, NULL, backwards);
  sqlite3_create_module(db, "squares", &squares, NULL);
  sqlite3_update_hook(db, on_update, NULL);
  sqlite3_commit_hook(db, on_commit, NULL);
  sqlite3_rollback_hook(db, on_rollback, NULL);
  sqlite3_trace_v2(db, SQLITE_TRACE_STMT, on_trace, NULL);
  sqlite3_set_authorizer(db, authorize, NULL);
}

// What the library offers beside SQL.
static void beside_sql(sqlite3 *db) {
  run(db, "CREATE TABLE pieces(id INTEGER PRIMARY KEY, b BLOB);"
          "INSERT INTO pieces VALUES(1, zeroblob(5000));");
  sqlite3_blob *blob;
  expect(sqlite3_blob_open(db, "main", "pieces", "b", 1, 1, &blob), SQLITE_OK, "open a blob");
  for (int i = 0; i + 7 <= sqlite3_blob_bytes(blob); i += 97)
    expect(sqlite3_blob_write(blob, "pieces", 7, i), SQLITE_OK, "write to a blob");
  char back[8] = "";
  sqlite3_blob_read(blob, back, 7, 970);
  expect(sqlite3_blob_write(blob, "pieces", 7, 4995), SQLITE_ERROR, "write behind a blob");
  sqlite3_blob_close(blob);
  printf("blob: %s\n", back);
  run(db, "SELECT length(b), hex(substr(b, 98, 7)) FROM pieces;");

  char *message = NULL;
  expect(sqlite3_exec(db, "SELECT value, n FROM squares(4) UNION ALL SELECT 36, 0", on_row,
                      (void *)"row", &message),
         SQLITE_ABORT, "a callback that ends the query");
  printf("%s\n", message);
  sqlite3_free(message);

  char **table;
  int rows, columns;
  sqlite3_get_table(db, "SELECT value FROM squares(3)", &table, &rows, &columns, NULL);
  printf("table of %d by %d: %s %s\n", rows, columns, table[0], table[rows * columns]);
  sqlite3_free_table(table);

  sqlite3 *copy;
  sqlite3_open(":memory:", &copy);
  sqlite3_backup *backup = sqlite3_backup_init(copy, "main", db, "main");
  int steps = 0;
  while (sqlite3_backup_step(backup, 5) == SQLITE_OK)
    steps++;
  expect(sqlite3_backup_finish(backup), SQLITE_OK, "backup");
  printf("backup in %d steps\n", steps);
  run(copy, "PRAGMA integrity_check; SELECT count(*) FROM sqlite_schema;");
  sqlite3_int64 size;
  unsigned char *bytes = sqlite3_serialize(copy, "main", &size, 0);
  sqlite3_close(copy);
  sqlite3_open(":memory:", &copy);
  expect(sqlite3_deserialize(copy, "main", bytes, size, size,
                             SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE),
         SQLITE_OK, "deserialise");
  run(copy, "SELECT count(*), total(length(b)) FROM pieces;");
  sqlite3_close(copy);

  sqlite3_stmt *s;
  sqlite3_prepare_v3(db, "SELECT ?1 + :b, $c || ?1, typeof(@d)", -1, SQLITE_PREPARE_PERSISTENT, &s,
                     NULL);
  for (int i = 0; i < 3; i++) {
    sqlite3_bind_int64(s, 1, i);
    sqlite3_bind_double(s, sqlite3_bind_parameter_index(s, ":b"), i / 4.0);
    sqlite3_bind_text(s, sqlite3_bind_parameter_index(s, "$c"), "text", -1, SQLITE_TRANSIENT);
    sqlite3_bind_zeroblob(s, sqlite3_bind_parameter_index(s, "@d"), 3);
    while (sqlite3_step(s) == SQLITE_ROW)
      print_row(s);
    sqlite3_reset(s);
  }
  char *expanded = sqlite3_expanded_sql(s);
  printf("%s\n", expanded);
  sqlite3_free(expanded);
  sqlite3_finalize(s);
  runf(db, "SELECT %Q, '%q', %d, %.3f, \"%w\" FROM (SELECT 1 AS \"a\"\"b\");", "it's", "it's", 7,
       2.5, "a\"b");
}

int main(int argc, char **argv) {
  printf("SQLite %s, thread-safe %d\n", sqlite3_libversion(), sqlite3_threadsafe());
  sqlite3 *db;
  expect(sqlite3_open("work.db", &db), SQLITE_OK, "open");
  prepare(db);
  for (int i = 1; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    static char sql[1 << 16];
    size_t n = file ? fread(sql, 1, sizeof sql - 1, file) : 0;
    sql[n] = 0;
    if (!file || n == 0 || n == sizeof sql - 1) {
      printf("%s cannot be read\n", argv[i]);
      return 2;
    }
    fclose(file);
    run(db, sql);
  }
  beside_sql(db);
  printf("seen: %lld %lld %lld rows, %lld commits, %lld rollbacks, %lld statements\n",
         seen.inserted, seen.updated, seen.deleted, seen.committed, seen.rolled_back,
         seen.prepared);
  expect(sqlite3_close(db), SQLITE_OK, "close");
  printf("%lld bytes are left\n", (long long)sqlite3_memory_used());
  return failures != 0 || sqlite3_memory_used() != 0;
}
