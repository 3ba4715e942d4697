// C++: constructors and destructors of static data, virtual functions, templates, new and delete,
// variables of functions that several threads reach at once, thread-local variables with
// destructors.
#include <pthread.h>
#include <stdio.h>

namespace {
struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};

struct Square : Shape {
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  double side;
};

struct Circle : Shape {
  explicit Circle(double radius) : radius(radius) {}
  ~Circle() override { printf("circle %g ends\n", radius); }
  double area() const override { return 3 * radius * radius; }
  double radius;
};

template <typename T> class List {
public:
  ~List() { delete[] items; }
  void add(T item) {
    if (count == room) {
      room = 2 * room + 1;
      T *more = new T[room];
      for (int n = 0; n < count; n++)
        more[n] = items[n];
      delete[] items;
      items = more;
    }
    items[count++] = item;
  }
  T *begin() { return items; }
  T *end() { return items + count; }

private:
  T *items = nullptr;
  int count = 0, room = 0;
};

struct Noisy {
  explicit Noisy(const char *name) : name(name) { printf("%s begins\n", name); }
  ~Noisy() { printf("%s ends\n", name); }
  const char *name;
};

Noisy global("global");
int made;

int slow() {
  made++;
  return 42;
}

struct Counted {
  explicit Counted(int value) : value(value) {}
  ~Counted() { __atomic_fetch_add(&ended, value, __ATOMIC_RELAXED); }
  int value;
  static int ended;
};
int Counted::ended;
thread_local Counted counted(10);

void *many(void *) {
  counted.value++;
  static int once = slow();
  return reinterpret_cast<void *>(static_cast<long>(once));
}

struct alignas(128) Wide {
  char bytes[128];
};
} // namespace

int main() {
  List<Shape *> shapes;
  shapes.add(new Square(3));
  shapes.add(new Circle(2));
  double sum = 0;
  for (Shape *shape : shapes)
    sum += shape->area();
  printf("areas %g\n", sum);
  for (Shape *shape : shapes)
    delete shape;

  pthread_t threads[8];
  long values = 0;
  for (pthread_t &thread : threads)
    pthread_create(&thread, nullptr, many, nullptr);
  for (pthread_t &thread : threads) {
    void *value;
    pthread_join(thread, &value);
    values += reinterpret_cast<long>(value);
  }
  printf("made %d, values %ld\n", made, values);
  printf("thread-local variables ended %d\n", Counted::ended);
  Wide *wide = new Wide;
  printf("aligned %d\n", static_cast<int>(reinterpret_cast<unsigned long>(wide) % 128));
  delete wide;
  auto twice = [](auto value) { return 2 * value; };
  printf("%d %g\n", twice(4), twice(1.5));
  static Noisy local("local");
  return 0;
}
