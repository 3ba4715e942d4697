/* As <poll.h>. */
#pragma once
#include <poll.h>
