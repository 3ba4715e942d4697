/* SQLite at work on a database in memory: filling tables and indices, queries, functions of text.
 */
#include "real.h"

#include "sqlite3.h"

static const char tables[] =
    "CREATE TABLE part(id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, price REAL);"
    "CREATE TABLE stock(part INTEGER, place INTEGER, count INTEGER);"
    "CREATE INDEX by_kind ON part(kind, price);"
    "CREATE UNIQUE INDEX by_place ON stock(place, part);";

static const char fill[] =
    "BEGIN;"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)"
    " INSERT INTO part SELECT i, i * 7919 % 97, printf('part %05d of %x', i, i * 2654435761 % "
    "65536),"
    " i * 31 % 1009 / 8.0 FROM n;"
    "INSERT INTO stock SELECT id, id % 5, id * 13 % 101 FROM part WHERE id % 3 <> 0;"
    "UPDATE part SET price = price * 1.25 WHERE kind < 40;"
    "DELETE FROM stock WHERE count % 10 = 7;"
    "COMMIT;";

static const char queries[] =
    "SELECT kind, count(*), sum(price), max(name) FROM part GROUP BY kind ORDER BY 3 DESC;"
    "SELECT p.name, s.count FROM part p JOIN stock s ON s.part = p.id"
    " WHERE s.place = 2 AND p.price > 90 ORDER BY s.count, p.name LIMIT 200;"
    "SELECT place, kind, sum(count * price) FROM stock JOIN part ON part = id GROUP BY 1, 2;"
    "SELECT id FROM part WHERE kind IN (SELECT place * 9 FROM stock WHERE count > 95)"
    " AND id NOT IN (SELECT part FROM stock WHERE place = 1);"
    "SELECT sum(r), max(t) FROM (SELECT rank() OVER (PARTITION BY kind ORDER BY price) AS r,"
    " sum(price) OVER (PARTITION BY kind ORDER BY id) AS t FROM part);";

static const char texts[] =
    "SELECT count(*) FROM part WHERE name LIKE '%a%1_';"
    "SELECT count(*) FROM part WHERE name GLOB '*[a-f][0-9][a-f]';"
    "SELECT group_concat(upper(substr(name, 6, 5)), '/') FROM part WHERE id % 3 = 0;"
    "SELECT sum(length(replace(name, 'part', kind)) + instr(name, 'of')) FROM part;"
    "SELECT max(printf('%08.3f|%s', price, trim(name, 'pa'))) FROM part;"
    "SELECT count(DISTINCT substr(name, 15)) FROM part;"
    "SELECT sum(json_extract(json_object('n', name, 'a', json_array(id, kind)), '$.a[1]'))"
    " FROM part;";

/* A checksum of all rows, as text. */
static uint64_t run(sqlite3 *db, const char *sql, uint64_t sum) {
  while (*sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, &sql) != SQLITE_OK)
      failed("sqlite", sqlite3_errmsg(db));
    int status;
    while ((status = sqlite3_step(statement)) == SQLITE_ROW)
      for (int i = 0; i < sqlite3_column_count(statement); i++) {
        const unsigned char *text = sqlite3_column_text(statement, i);
        for (; text && *text; text++)
          sum = fold(sum, *text);
        sum = fold(sum, '|');
      }
    if (status != SQLITE_DONE)
      failed("sqlite", sqlite3_errmsg(db));
    sqlite3_finalize(statement);
  }
  return sum;
}

static sqlite3 *open_filled(void) {
  sqlite3 *db = NULL;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK)
    failed("sqlite", sqlite3_errmsg(db));
  run(db, tables, 0);
  run(db, fill, 0);
  return db;
}

uint64_t sqlite_fill(uint64_t work) {
  uint64_t sum = 0;
  for (; work; work--) {
    sqlite3 *db = open_filled();
    sum = run(db, "SELECT count(*), sum(count) FROM stock; SELECT sum(price) FROM part", sum);
    sqlite3_close(db);
  }
  return sum;
}

/* WORK times the same, on a database that the first call makes. */
static uint64_t repeated(const char *sql, uint64_t work) {
  static sqlite3 *db;
  uint64_t sum = 0;
  if (!db)
    db = open_filled();
  for (; work; work--)
    sum = run(db, sql, sum);
  return sum;
}

uint64_t sqlite_query(uint64_t work) { return repeated(queries, work); }
uint64_t sqlite_text(uint64_t work) { return repeated(texts, work); }
