/* Command lines: words, quotes, `|`, `<`, `>`, `>>`, `;`, `&` and comments. */
#include "shell.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The place of the next word in the pipeline's text, and the value of `$?`. */
struct room {
  char *at, *end;
  char status[12];
};

static bool ends_word(char c) { return !c || isspace((unsigned char)c) || strchr("|<>;&", c); }

/* A word without its quotes. NULL: there is none, or no room. */
static char *word(const char **line, struct room *room) {
  const char *at = *line;
  while (*at && *at != '\n' && isspace((unsigned char)*at))
    at++;
  *line = at;
  if (ends_word(*at) || *at == '#')
    return NULL;
  char *start = room->at, quote = 0;
  for (; *at && (quote || !ends_word(*at)); at++) {
    if (quote ? *at == quote : *at == '\'' || *at == '"') {
      quote = quote ? 0 : *at;
      continue;
    }
    if (quote != '\'' && at[0] == '$' && at[1] == '?' &&
        room->at + sizeof room->status < room->end) {
      room->at += strlen(strcpy(room->at, room->status));
      at++;
      continue;
    }
    if (*at == '\\' && quote != '\'' && at[1])
      at++;
    if (room->at + 1 >= room->end) {
      complain("a line is too long");
      return NULL;
    }
    *room->at++ = *at;
  }
  if (quote) {
    complain("a quote has no end: %c", quote);
    return NULL;
  }
  if (room->at >= room->end) {
    complain("a line is too long");
    return NULL;
  }
  *room->at++ = 0;
  *line = at;
  return start;
}

/* A file behind `<`, `>` or `>>`. */
static bool redirection(const char **line, struct pipeline *pipeline, struct room *room) {
  bool is_input = **line == '<';
  ++*line;
  bool appends = !is_input && **line == '>';
  *line += appends;
  char *file = word(line, room);
  if (!file) {
    complain("there is no file behind %s", is_input ? "<" : ">");
    return false;
  }
  char **place = is_input ? &pipeline->in : &pipeline->out;
  if (*place) {
    complain("there are two files for %s", is_input ? "input" : "output");
    return false;
  }
  *place = file;
  pipeline->appends |= appends;
  return true;
}

enum parsed parse(const char **line, struct pipeline *pipeline, int status) {
  memset(pipeline, 0, sizeof *pipeline);
  struct room room = {pipeline->text, pipeline->text + MOST_TEXT, ""};
  snprintf(room.status, sizeof room.status, "%d", status);
  struct stage *stage = pipeline->stages;
  for (;;) {
    char *next = word(line, &room);
    char c = **line;
    if (next) {
      if (pipeline->count == 0 && stage->count == 0 && !strcmp(next, "time")) {
        pipeline->is_timed = true;
      } else if (stage->count == MOST_WORDS) {
        complain("%s has more than %d words", stage->words[0], MOST_WORDS);
        return WRONG;
      } else {
        stage->words[stage->count++] = next;
      }
    } else if (c == '<' || c == '>') {
      if (!redirection(line, pipeline, &room))
        return WRONG;
    } else if (c == '|') {
      ++*line;
      if (!stage->count) {
        complain("there is no command in front of |");
        return WRONG;
      }
      if (++pipeline->count == MOST_STAGES) {
        complain("a pipeline has more than %d stages", MOST_STAGES);
        return WRONG;
      }
      stage = &pipeline->stages[pipeline->count];
    } else if (c && c != ';' && c != '&' && c != '\n' && c != '#') {
      return WRONG;
    } else {
      break;
    }
  }
  pipeline->in_background = **line == '&';
  if (**line == '#')
    *line += strcspn(*line, "\n");
  bool ends = !**line;
  *line += !ends;
  if (stage->count) {
    pipeline->count++;
    return PARSED;
  }
  if (pipeline->count || pipeline->in || pipeline->out) {
    complain(pipeline->count ? "there is no command behind |" : "there is no command");
    return WRONG;
  }
  return ends ? NOTHING : parse(line, pipeline, status);
}
