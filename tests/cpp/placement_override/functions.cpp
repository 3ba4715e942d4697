#include "shared.h"

static volatile int bias;

int sent_back(int x) { return x + 1 + bias; }
int sent_back_too(int x) { return x + 2 + bias; }
int spread(int x) { return x * 2 + bias; }
int kept_there(int x) { return spread(x) + 3; }
int Box::fetched(int x) { return x + 4 + bias; }
int Box::marked(int x) { return x + 5 + bias; }
