// Runs Lua scripts: each in a state of its own, one that the script's errors leave by longjmp (or,
// where Lua is built as C++, by an exception). The state's allocator, a function and a hook are
// this program's, so that both call and are called.
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct heap {
  size_t live, blocks;
};

static void *allocate(void *user, void *block, size_t old, size_t size) {
  struct heap *heap = (struct heap *)user;
  if (!block)
    old = 0; // Lua says there what the block is for
  void *made = size ? realloc(block, size) : NULL;
  if (size && !made)
    return NULL;
  if (!size)
    free(block);
  heap->live = heap->live - old + size;
  heap->blocks = heap->blocks - (block != NULL) + (size != 0);
  return made;
}

static int compare(const void *a, const void *b) {
  lua_Integer x = *(const lua_Integer *)a, y = *(const lua_Integer *)b;
  return (x > y) - (x < y);
}

// host.sorted{...}: the integers of a table through the C library's qsort.
static int sorted(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  size_t n = (size_t)lua_rawlen(L, 1);
  lua_Integer *v = (lua_Integer *)lua_newuserdatauv(L, n * sizeof *v, 0);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    v[i] = luaL_checkinteger(L, -1);
    lua_pop(L, 1);
  }
  qsort(v, n, sizeof *v, compare);
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushinteger(L, v[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static int after_yield(lua_State *L, int status, lua_KContext context) {
  lua_pushinteger(L, status);
  lua_pushinteger(L, (lua_Integer)context);
  return lua_gettop(L);
}

// host.pause(...): yields its arguments, and goes on in after_yield.
static int pause_here(lua_State *L) {
  return lua_yieldk(L, lua_gettop(L), (lua_KContext)42, after_yield);
}

static int fail(lua_State *L) {
  return luaL_error(L, "%s failed with %d and %f", luaL_checkstring(L, 1),
                    (int)luaL_checkinteger(L, 2), (double)luaL_checknumber(L, 3));
}

static int lines_seen;

static void hook(lua_State *L, lua_Debug *what) {
  lua_getinfo(L, "Sl", what);
  lines_seen += what->currentline > 0;
}

// host.counted(f): the lines that f runs, by a debug hook.
static int counted(lua_State *L) {
  lines_seen = 0;
  lua_sethook(L, hook, LUA_MASKLINE, 0);
  lua_call(L, 0, 0);
  lua_sethook(L, NULL, 0, 0);
  lua_pushinteger(L, lines_seen);
  return 1;
}

static const luaL_Reg functions[] = {
    {"sorted", sorted}, {"pause", pause_here}, {"fail", fail}, {"counted", counted}, {NULL, NULL}};

static int handler(lua_State *L) {
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

static int run(const char *script) {
  struct heap heap = {0, 0};
  lua_State *L = lua_newstate(allocate, &heap, 1);
  if (!L)
    return 1;
  luaL_openlibs(L);
  luaL_newlib(L, functions);
  lua_setglobal(L, "host");
  lua_pushcfunction(L, handler);
  int status = luaL_loadfile(L, script);
  if (status == LUA_OK)
    status = lua_pcall(L, 0, 0, -2);
  if (status != LUA_OK)
    printf("error: %s\n", lua_tostring(L, -1));
  lua_close(L);
  printf("%s: %zu bytes in %zu blocks are left\n", strrchr(script, '/') + 1, heap.live,
         heap.blocks);
  return status != LUA_OK || heap.live != 0;
}

int main(int argc, char **argv) {
  int bad = 0;
  for (int i = 1; i < argc; i++)
    bad |= run(argv[i]);
  return bad;
}
