// SQLite as M3x measures it (section 7.3): rows are inserted and read.   sqlite DATABASE ROWS
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static sqlite3 *db;

static void check(int result) {
  if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW)
    return;
  fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
  exit(1);
}

static void run(const char *text) { check(sqlite3_exec(db, text, NULL, NULL, NULL)); }

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  int rows = atoi(argv[2]);
  // No locks: the program alone has the file, and the card's files have none.
  check(sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix-none"));
  run("CREATE TABLE entry (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value INTEGER)");
  sqlite3_stmt *insert, *select;
  check(sqlite3_prepare_v2(db, "INSERT INTO entry (name, value) VALUES (?, ?)", -1, &insert, NULL));
  for (int n = 0; n < rows; n++) {
    char name[32];
    snprintf(name, sizeof name, "entry number %d", n);
    check(sqlite3_bind_text(insert, 1, name, -1, SQLITE_TRANSIENT));
    check(sqlite3_bind_int(insert, 2, n * n));
    check(sqlite3_step(insert));
    check(sqlite3_reset(insert));
  }
  check(sqlite3_finalize(insert));
  check(sqlite3_prepare_v2(db, "SELECT name, value FROM entry ORDER BY value DESC", -1, &select,
                           NULL));
  int result;
  while ((result = sqlite3_step(select)) == SQLITE_ROW)
    printf("%s|%d\n", (const char *)sqlite3_column_text(select, 0), sqlite3_column_int(select, 1));
  check(result);
  check(sqlite3_finalize(select));
  check(sqlite3_close(db));
  return 0;
}
