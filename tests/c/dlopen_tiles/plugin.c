#include <flick.h>

FLICK_NXP_DATA_ON("compute") int value = 7;
FLICK_NXP int *changed(void) {
  value++;
  return &value;
}
