/* tally FILE [PLUGIN...]: the most frequent words of a file, and what plugins say of them. */
#include "config.h"
#include "table.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void read_words(FILE *file, struct table *table) {
  char word[TALLY_LONGEST];
  int length = 0, c;
  do {
    c = getc(file);
    if (c != EOF && isalpha(c) && length < TALLY_LONGEST) {
      word[length++] = tolower(c);
    } else if (length) {
      table_add(table, word, length);
      length = 0;
    }
  } while (c != EOF);
}

static void ask_plugin(const char *path, const struct tally_word *words, int n) {
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  tally_score *score = plugin ? (tally_score *)dlsym(plugin, TALLY_PLUGIN) : NULL;
  if (!score) {
    fprintf(stderr, "tally: %s\n", dlerror());
    exit(1);
  }
  long total = 0;
  for (int i = 0; i < n; i++)
    total += score(&words[i]);
  printf("score %ld\n", total);
  dlclose(plugin);
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
  if (!file) {
    perror(argv[1]);
    return 1;
  }
  struct table *table = table_new();
  read_words(file, table);
  int n = table_size(table);
  struct tally_word *words = malloc(n * sizeof *words);
  table_words(table, words);
  tally_rank(words, n, tally_by_count);
  printf("tally %s: %d words\n", tally_version(), n);
  for (int i = 0; i < n && i < 3; i++)
    printf("%4ld %s\n", words[i].count, words[i].text);
  printf("checksum %08x\n", tally_checksum(words, n));
  /* Twice, so that each is loaded again after it was closed. */
  for (int i = 2; i < argc; i++)
    ask_plugin(argv[i], words, n);
  for (int i = argc - 1; i >= 2; i--)
    ask_plugin(argv[i], words, n);
  free(words);
  table_free(table);
}
