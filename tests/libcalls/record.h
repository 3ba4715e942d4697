/* What cells compute, kept by host code. */
#ifndef RECORD_H
#define RECORD_H

struct cell {
  const char *name, *kind;
  void (*run)(void);
};

void record_double(double);
void record_float(float);
void record_half(float);
void record_long(long);
void record_wide(unsigned __int128);
void record_string(const char *);

#endif
