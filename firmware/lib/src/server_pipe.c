// Pipes of the server of pipes, which accelerators reach, too.
#include <errno.h>
#include <fcntl.h>
#include <flick/files.h>

#include "server_numbers.h"

static const char NAME[] = "pipes";

static int make(struct server *server, struct server_number *of[2], int numbers[2]) {
  struct flick_file ends[2];
  if (flick_files_pipe(&server->files, ends))
    return -1;
  for (int n = 0; n < 2; n++) {
    of[n]->file = ends[n];
    numbers[n] = __card_open_number(of[n], server, n ? O_WRONLY : O_RDONLY);
  }
  return 0;
}

int __card_server_pipe(int numbers[2]) {
  struct server *server = __card_find_server(NAME, sizeof NAME - 1, 0);
  if (!server)
    return -1;
  struct server_number *of[2] = {__card_take_number()};
  of[1] = of[0] ? __card_take_number() : NULL;
  int result = of[1] ? make(server, of, numbers) : -1;
  for (int n = 0; n < 2 && result; n++)
    if (of[n])
      of[n]->is_used = false;
  __card_release_server(server);
  return result;
}
