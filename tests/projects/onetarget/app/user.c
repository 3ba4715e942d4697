#include "kernel.h"

int main(void) { return steps_to_one(27) != 111; }
