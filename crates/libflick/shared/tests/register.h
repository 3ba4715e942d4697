/* A module without NxP code, as the image link would make it (crates/abi/src/layout.rs): to
 * register it starts the runtime. */
#include <stdint.h>

static const unsigned char image[4096] __attribute__((aligned(4096)));

static uint64_t gate[8]; /* an empty record */

static struct {
  char magic[8];
  uint32_t abi_version, size;
  const void *image;
  uint64_t image_size, text_offset, text_size;
  const void *funcs;
  uint64_t func_count;
  const void *lines;
  uint64_t line_count;
  const char *strings;
  uint64_t strings_size;
  const void *gates, *gates_end, *nxp_data, *nxp_data_end;
  const char *march;
  uint64_t image_id;
  const void *inlined;
  uint64_t inlined_count;
  const void *unwind;
  uint64_t unwind_count;
} module = {
    .magic = "FLKMOD1",
    .abi_version = FLICK_ABI_VERSION,
    .size = sizeof module,
    .image = image,
    .image_size = sizeof image,
    .text_size = sizeof image,
    .strings = "",
    .strings_size = 1,
    .funcs = gate,
    .lines = gate,
    .gates = gate,
    .gates_end = gate + 8,
    .nxp_data = gate,
    .nxp_data_end = gate,
    .march = FLICK_NXP_MARCH,
};

void __flick_register(const void *module);

static void register_module(void) { __flick_register(&module); }
