// As the command line of SQLite: runs a file of SQL on a database in memory, and prints the rows.
#include "sqlite3.h"

#include <stdio.h>
#include <stdlib.h>

static int print_row(void *rows, int columns, char **values, char **names) {
  (void)names;
  ++*(long *)rows;
  for (int i = 0; i < columns; i++)
    printf("%s%s", i ? "|" : "", values[i] ? values[i] : "");
  putchar('\n');
  return 0;
}

int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  static char sql[1 << 16];
  size_t n = file ? fread(sql, 1, sizeof sql - 1, file) : 0;
  if (n == 0 || n == sizeof sql - 1) {
    fprintf(stderr, "usage: query FILE, of at most %zu bytes\n", sizeof sql - 2);
    return 2;
  }
  sqlite3 *db;
  char *error = NULL;
  long rows = 0;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
      sqlite3_exec(db, sql, print_row, &rows, &error) != SQLITE_OK) {
    fprintf(stderr, "%s\n", error ? error : sqlite3_errmsg(db));
    return 1;
  }
  sqlite3_close(db);
  return rows == 0;
}
