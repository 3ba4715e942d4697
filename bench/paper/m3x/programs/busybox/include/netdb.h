#include <netinet/in.h>
