// A load from nowhere, below functions whose names the linker has in another form.
struct Shape {
  virtual ~Shape() = default;
  __attribute__((noinline)) int area(int *at) const { return *at; }
};

namespace deep {
__attribute__((noinline)) int look(const Shape &shape, long at) {
  return shape.area(reinterpret_cast<int *>(at)) + 1;
}
} // namespace deep

int main(int argc, char **) { return deep::look(Shape(), argc); }
