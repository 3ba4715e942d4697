// Messages that are no requests, and requests that are wrong: the servers answer with errors, and
// serve others as before.
// SERVERS: yes
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <flick/servers.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// As in firmware/lib/src/server_protocol.h.
enum { SERVER_PORT = 1023, OWN_PORT = 700, OPERATIONS = 34, WINDOW_SIZE = 16384 };

struct request {
  uint32_t token;
  uint16_t operation, port;
  uint64_t arguments[6];
  char name[64];
};

static uint64_t seed = 1;

static uint64_t draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

static uint64_t draw_argument(void) {
  switch (draw() % 8) {
  case 0:
    return draw();
  case 1:
    return -(draw() % 4);
  case 2:
    return draw() % 20000;
  case 3:
    return flick_time() + draw() % 1000;
  }
  return draw() % 8;
}

static void draw_bytes(void *at, size_t size) {
  for (size_t n = 0; n < size; n++)
    ((unsigned char *)at)[n] = draw();
}

// Now and then something that is nearly right.
static void draw_window(char *window) {
  switch (draw() % 4) {
  case 0:
    draw_bytes(window, WINDOW_SIZE / 16);
    break;
  case 1:
    memset(window, 'x', WINDOW_SIZE / 4);
    break;
  case 2:
    strcpy(window, "directory/name");
    window[draw() % 16] = draw() % 128;
    break;
  default: {
    uint32_t header[4] = {draw() % 4, draw() % 4, draw() % 4, draw() % 64};
    memcpy(window, header, sizeof header);
    memset(window + 16, 0, 2000);
    for (uint32_t n = 0; n < header[0]; n++) {
      uint32_t action[4] = {draw() % 4, draw() % 70, draw() % 70, draw()};
      memcpy(window + 16 + 16 * n, action, sizeof action);
    }
  }
  }
}

// The start of a program that the servers have started has its window behind the common part.
static int attack(uint64_t number) {
  seed = 0x9e3779b97f4a7c15 * (number + 1);
  char *window = (char *)(0x2000000000 + (1 << 20));
  flick_mailbox_create(OWN_PORT);
  uint64_t answers = 0, message[15], from;
  for (int n = 0; n < 800; n++) {
    struct request request;
    draw_bytes(&request, sizeof request);
    if (draw() % 8) {
      request.operation = draw() % OPERATIONS;
      for (int a = 0; a < 6; a++)
        request.arguments[a] = draw_argument();
      memset(request.name, 0, sizeof request.name);
      request.name[0] = 'a' + draw() % 4;
    }
    if (n == 0 || draw() % 16)
      request.port = OWN_PORT;
    draw_window(window);
    flick_mailbox_send(flick_program.tile, SERVER_PORT, (uintptr_t)&request, FLICK_FOR_EVER);
    while (flick_mailbox_receive(OWN_PORT, (uintptr_t)message, 0, &from) == 0)
      answers++;
  }
  return answers > 400 ? 0 : 1;
}

static Elf64_Ehdr header;
static Elf64_Phdr segment;

// A file that is a program but for one change.
static int spawn_changed(const char *change, void *at, uint64_t value, size_t size) {
  Elf64_Ehdr header_before = header;
  Elf64_Phdr segment_before = segment;
  memcpy(at, &value, size);
  int file = open("changed", O_CREAT | O_WRONLY | O_TRUNC, 0644);
  write(file, &header, sizeof header);
  write(file, &segment, sizeof segment);
  close(file);
  header = header_before;
  segment = segment_before;
  pid_t child;
  char *words[] = {"changed", NULL};
  int error = posix_spawn(&child, "changed", NULL, NULL, words, NULL);
  printf("%s: %s\n", change, strerror(error));
  return error;
}

#define CHANGED(record, field, value)                                                              \
  spawn_changed(#field, &record.field, value, sizeof record.field)

static void bad_programs(void) {
  int file = open("bad_requests", O_RDONLY);
  read(file, &header, sizeof header);
  close(file);
  header.e_phoff = sizeof header;
  header.e_phnum = 1;
  segment = (Elf64_Phdr){.p_type = PT_LOAD,
                         .p_flags = PF_R | PF_X,
                         .p_vaddr = 0x10000,
                         .p_filesz = 100,
                         .p_memsz = 100};
  CHANGED(header, e_ident[EI_MAG0], 0);
  CHANGED(header, e_ident[EI_CLASS], ELFCLASS32);
  CHANGED(header, e_machine, 62);
  CHANGED(header, e_phoff, UINT64_MAX);
  CHANGED(header, e_phoff, 100);
  CHANGED(header, e_phentsize, 8);
  CHANGED(header, e_phnum, 65535);
  CHANGED(segment, p_offset, UINT64_MAX);
  CHANGED(segment, p_filesz, 1000);
  CHANGED(segment, p_filesz, UINT64_MAX);
  CHANGED(segment, p_memsz, 99);
  CHANGED(segment, p_memsz, UINT64_MAX);
  CHANGED(segment, p_vaddr, UINT64_MAX);
  CHANGED(segment, p_vaddr, 0x2000000000);
  CHANGED(segment, p_vaddr, 0x10001);
  CHANGED(segment, p_flags, 0);
  CHANGED(segment, p_flags, PF_W);
}

// A process that the servers have not started has no rights there.
static void stranger(void) {
  static char stack[4096] __attribute__((aligned(16)));
  extern void ask_as_stranger(void);
  uint64_t status, child = flick_process_copy();
  flick_process_start(child, (uintptr_t)ask_as_stranger, (uintptr_t)stack + sizeof stack, 0);
  flick_process_wait(child, FLICK_FOR_EVER, &status);
  printf("a stranger: %s\n", strerror(status));
}

void ask_as_stranger(void) {
  struct request request = {.operation = 1, .port = OWN_PORT + 1};
  int64_t reply[15] = {0};
  uint64_t from;
  flick_mailbox_create(OWN_PORT + 1);
  flick_mailbox_send(flick_program.tile, SERVER_PORT, (uintptr_t)&request, FLICK_FOR_EVER);
  flick_mailbox_receive(OWN_PORT + 1, (uintptr_t)reply, FLICK_FOR_EVER, &from);
  flick_process_end(0, -reply[1]);
  for (;;)
    ;
}

int main(int count, char **words) {
  if (count > 1)
    return attack(atoi(words[1]));
  bad_programs();
  stranger();
  // What they write does not come to the console.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int number = 0; number < 3; number++)
    posix_spawn_file_actions_addopen(&actions, number, "sink", O_CREAT | O_RDWR, 0644);
  for (int n = 0; n < 4; n++) {
    pid_t child;
    char number[8];
    sprintf(number, "%d", n);
    char *arguments[] = {"bad_requests", number, NULL};
    int status = -1, error = posix_spawn(&child, "bad_requests", &actions, NULL, arguments, NULL);
    if (error)
      printf("spawn: %s\n", strerror(error));
    else
      waitpid(child, &status, 0);
    FILE *file = fopen("still", "w+");
    fprintf(file, "served %d", n);
    char line[20] = "";
    rewind(file);
    fgets(line, sizeof line, file);
    fclose(file);
    printf("status %d, %s\n", status, line);
  }
  return 0;
}
