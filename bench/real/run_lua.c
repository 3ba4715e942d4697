/* Lua's interpreter at work: each call compiles and runs a script in a state of its own. */
#include "real.h"

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"
#include <stdlib.h>

static const char calls_source[] = {
#embed "calls.lua"
};
static const char tables_source[] = {
#embed "tables.lua"
};
static const char strings_source[] = {
#embed "strings.lua"
};
static const char floats_source[] = {
#embed "floats.lua"
};

static void *allocate(void *user, void *block, size_t old, size_t size) {
  (void)user, (void)old;
  if (size)
    return realloc(block, size);
  free(block);
  return NULL;
}

static uint64_t run(const char *name, const char *source, size_t size, uint64_t work) {
  /* Not luaL_newstate: its seed differs from run to run. */
  lua_State *L = lua_newstate(allocate, NULL, 1);
  if (!L)
    failed(name, "no memory");
  luaL_openlibs(L);
  int status = luaL_loadbuffer(L, source, size, name);
  if (status == LUA_OK) {
    lua_pushinteger(L, (lua_Integer)work);
    status = lua_pcall(L, 1, 1, 0);
  }
  if (status != LUA_OK)
    failed(name, lua_tostring(L, -1));
  int exact = 0;
  uint64_t sum = (uint64_t)lua_tointegerx(L, -1, &exact);
  if (!exact)
    failed(name, "its result is no integer");
  lua_close(L);
  return sum;
}

uint64_t lua_calls(uint64_t work) { return run("=calls", calls_source, sizeof calls_source, work); }
uint64_t lua_tables(uint64_t work) {
  return run("=tables", tables_source, sizeof tables_source, work);
}
uint64_t lua_strings(uint64_t work) {
  return run("=strings", strings_source, sizeof strings_source, work);
}
uint64_t lua_floats(uint64_t work) {
  return run("=floats", floats_source, sizeof floats_source, work);
}
