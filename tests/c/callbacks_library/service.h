// A library that keeps pointers to functions and calls them from threads of its own.
struct point {
  double x, y;
};
struct big {
  int n[12];
};
struct handler {
  void (*on_event)(void *user, int event);
  double (*on_point)(struct point p, float scale);
  struct big (*on_big)(struct big b, int by);
  int (*on_text)(void *user, const char *format, ...);
  void (*on_stop)(void *user);
  void *user;
};

int service_start(const struct handler *h);
void service_post(int event);
int service_pending(void);
void service_stop(void);
void service_at_unload(void (*f)(void));
