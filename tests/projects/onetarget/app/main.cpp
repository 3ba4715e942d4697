#include "kernel.h"

#include <iostream>
#include <vector>

int main() {
  std::vector<long> values;
  for (int i = 1; i <= 10; i++)
    values.push_back(steps_to_one(i));
  std::cout << kernel_sum(values.data(), values.size()) << ' ' << plain_marked(1) << '\n';
  std::cerr << plain_compiler() << '\n';
}
