/* A mix of the kind that embedded benchmarks have: a list that is searched, reversed and sorted,
 * small integer matrices, a state machine that reads numbers, and a CRC over all results. */
#include "kernel.h"

enum { ITEMS = 128, SIZE = 12 };

typedef struct item {
  struct item *next;
  int16_t value, index;
} item;

static item items[ITEMS];

static uint16_t crc16(uint16_t crc, uint32_t value) {
  for (int bit = 0; bit < 32; bit++, value >>= 1)
    crc = (uint16_t)(((crc ^ value) & 1) ? crc >> 1 ^ 0xa001 : crc >> 1);
  return crc;
}

static item *make_list(uint64_t *random) {
  for (int i = 0; i < ITEMS; i++)
    items[i] =
        (item){i + 1 < ITEMS ? &items[i + 1] : NULL, (int16_t)next_random(random), (int16_t)i};
  return items;
}

static const item *find(const item *list, int16_t value) {
  while (list && (list->value & 0xff) != (value & 0xff))
    list = list->next;
  return list;
}

static item *reversed(item *list) {
  item *done = NULL;
  while (list) {
    item *next = list->next;
    list->next = done;
    done = list;
    list = next;
  }
  return done;
}

static int by_value(const item *a, const item *b) { return a->value - b->value; }
static int by_index(const item *a, const item *b) { return a->index - b->index; }

static item *merged(item *a, item *b, int (*order)(const item *, const item *)) {
  item head = {0}, *last = &head;
  while (a && b) {
    item **smaller = order(a, b) <= 0 ? &a : &b;
    last = last->next = *smaller;
    *smaller = (*smaller)->next;
  }
  last->next = a ? a : b;
  return head.next;
}

static item *sorted(item *list, int (*order)(const item *, const item *)) {
  item *slow = list, *fast = list;
  if (!list || !list->next)
    return list;
  while (fast->next && fast->next->next) {
    slow = slow->next;
    fast = fast->next->next;
  }
  item *second = slow->next;
  slow->next = NULL;
  return merged(sorted(list, order), sorted(second, order), order);
}

static uint16_t lists(uint16_t crc, uint64_t *random) {
  item *list = make_list(random);
  for (int i = 0; i < 32; i++) {
    const item *found = find(list, (int16_t)next_random(random));
    crc = crc16(crc, found ? (uint32_t)found->index : 0xffff);
    list = reversed(list);
  }
  list = sorted(list, by_value);
  for (const item *at = list; at; at = at->next)
    crc = crc16(crc, (uint16_t)at->value);
  return crc16(crc, (uint16_t)sorted(list, by_index)->value);
}

static uint16_t matrices(uint16_t crc, uint64_t *random) {
  int16_t a[SIZE][SIZE], b[SIZE][SIZE];
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++) {
      a[i][j] = (int16_t)next_random(random);
      b[i][j] = (int16_t)next_random(random);
    }
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++) {
      int32_t sum = 0;
      for (int k = 0; k < SIZE; k++)
        sum += (a[i][k] >> 2) * (b[k][j] >> 3);
      crc = crc16(crc, (uint32_t)sum);
    }
  return crc;
}

typedef enum { START, SIGN, WHOLE, POINT, FRACTION, EXPONENT, SCALE, INVALID, STATES } state;

static state step(state now, char c) {
  int digit = c >= '0' && c <= '9';
  switch (now) {
  case START:
    return digit ? WHOLE : c == '+' || c == '-' ? SIGN : c == '.' ? POINT : INVALID;
  case SIGN:
    return digit ? WHOLE : c == '.' ? POINT : INVALID;
  case WHOLE:
    return digit ? WHOLE : c == '.' ? FRACTION : c == 'e' ? EXPONENT : INVALID;
  case POINT:
  case FRACTION:
    return digit ? FRACTION : c == 'e' && now == FRACTION ? EXPONENT : INVALID;
  case EXPONENT:
    return digit || c == '-' ? SCALE : INVALID;
  case SCALE:
    return digit ? SCALE : INVALID;
  default:
    return INVALID;
  }
}

static uint16_t states(uint16_t crc, uint64_t *random) {
  static const char letters[] = "0123456789+-.e,,";
  uint32_t ends[STATES] = {0};
  state now = START;
  for (int i = 0; i < 1024; i++) {
    char c = letters[next_random(random) >> 60];
    if (c == ',') {
      ends[now]++;
      now = START;
    } else {
      now = step(now, c);
    }
  }
  for (int i = 0; i < STATES; i++)
    crc = crc16(crc, ends[i]);
  return crc;
}

uint64_t mix(uint64_t work) {
  uint64_t random = 9;
  uint16_t crc = 0;
  for (uint64_t i = 0; i < work; i++) {
    crc = lists(crc, &random);
    crc = matrices(crc, &random);
    crc = states(crc, &random);
  }
  return crc;
}
