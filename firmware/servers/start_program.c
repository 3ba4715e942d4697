// How a program starts: a process with its segments, stack, window, and the record of its start.
#include <errno.h>
#include <string.h>

#include "servers.h"

// As the kernel has it for the first program.
#define START FLICK_STACK_END
// Where a program finds its window.
#define WINDOW_THERE (FLICK_STACK_END + (1ul << 20))
// Places of processes in the kernel's table, which are the lower bits of their numbers.
#define PLACE_BITS 0xffff

static uint64_t console_bits(const struct file_table *files) {
  uint64_t bits = 0;
  for (unsigned number = 0; number < MOST_FILES; number++)
    if (files->open[number] == console_file())
      bits |= 1ul << number;
  return bits;
}

static int64_t give_start(const struct program *program, const struct order *order) {
  static char record[sizeof(struct card_spawned_start) + WINDOW_SIZE];
  struct card_spawned_start *start = (struct card_spawned_start *)record;
  uint64_t parent;
  *start = (struct card_spawned_start){
      .start = flick_program,
      .environment = order->environment,
      .server = flick_program.tile << 32 | flick_process_self(&parent),
      .window = WINDOW_THERE,
      .console = console_bits(&program->files),
  };
  start->start.version = SPAWNED_VERSION;
  start->start.arguments = order->arguments;
  start->start.text = START + sizeof *start;
  start->start.size = order->size;
  memcpy(start + 1, order->texts, order->size);
  uint64_t size = sizeof *start + order->size;
  return give_memory(program->number, START, size, FLICK_READ | FLICK_WRITE, record, size);
}

static int64_t fill_process(const struct program *program, const struct order *order) {
  struct file_node *node = __card_find_file(order->path);
  if (!node)
    return -ENOENT;
  if (node->is_directory)
    return -EACCES;
  struct image image = {.data = node->data, .size = node->size};
  int64_t result = load_program(program->number, &image);
  unsigned both = FLICK_READ | FLICK_WRITE;
  if (result == 0)
    result = give_start(program, order);
  if (result == 0)
    result = reply_of(flick_process_map(program->number, WINDOW_THERE, (uintptr_t)program->window,
                                        WINDOW_SIZE, both | FLICK_SHARED));
  if (result < 0)
    return result;
  result = flick_process_start(program->number, image.entry, FLICK_STACK_END, START);
  return result < 0 ? reply_of(result) : 0;
}

// A place for a window that no program has.
static char *free_window(void) {
  for (uintptr_t at = WINDOWS;; at += 2 * WINDOW_SIZE) {
    const struct program *program = programs();
    while (program && program->window != (char *)at)
      program = program->next;
    if (!program)
      return (char *)at;
  }
}

// A program has the number of a place in the kernel's table, so that the one before it is over,
// though the servers have not heard of its end.
static void take_ports(uint64_t number) {
  for (struct program *program = programs(); program; program = program->next)
    if ((program->number & PLACE_BITS) == (number & PLACE_BITS))
      program->port = 0;
}

// The window stays as long as the program is known.
static int64_t make_process(struct program *program) {
  char *window = free_window();
  int64_t result = flick_memory_map((uintptr_t)window, WINDOW_SIZE, FLICK_READ | FLICK_WRITE);
  if (result < 0)
    return reply_of(result);
  program->window = window;
  result = flick_process_create();
  if (result < 0)
    return reply_of(result);
  program->number = result;
  take_ports(result);
  note_child();
  return 0;
}

void drop_window(struct program *program) {
  if (program->window)
    flick_memory_unmap((uintptr_t)program->window, WINDOW_SIZE);
  program->window = NULL;
}

int64_t start_program(struct program *program, const struct order *order) {
  int64_t result = make_process(program);
  if (result == 0) {
    result = fill_process(program, order);
    if (result < 0)
      flick_process_end(program->number, 0);
  }
  if (result < 0)
    drop_window(program);
  return result;
}
