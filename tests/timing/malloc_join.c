// A hash join whose 64 MB are ordinary malloc: each order is joined to its customer. Nothing of the
// data is placed, and no cache of the platform holds it.
#include <stdio.h>
#include <stdlib.h>

struct customer {
  struct customer *next;
  unsigned long key;
  long balance;
  char name[40];
};

struct order {
  unsigned long customer;
  long price;
};

struct table {
  unsigned bits;
  struct customer **heads;
};

enum { CUSTOMERS = 1 << 20, ORDERS = 100000 };

static unsigned long slot(const struct table *table, unsigned long key) {
  return key * 0x9e3779b97f4a7c15 >> (64 - table->bits);
}

// Customers in an order in which neighbours in memory are none in a chain.
__attribute__((noinline)) void fill(struct table *table, struct customer *customers) {
  for (unsigned long i = 0; i < CUSTOMERS; i++) {
    struct customer *customer = &customers[i * 40503 % CUSTOMERS];
    struct customer **head = &table->heads[slot(table, i)];
    customer->key = i;
    customer->balance = (long)(i % 1000);
    customer->next = *head;
    *head = customer;
  }
}

__attribute__((noinline)) void draw(struct order *orders) {
  unsigned long seed = 1;
  for (long i = 0; i < ORDERS; i++) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    orders[i] = (struct order){(seed >> 33) % (CUSTOMERS + CUSTOMERS / 8), (long)(seed >> 60)};
  }
}

#ifdef PLACED
__attribute__((annotate("flick.nxp")))
#endif
__attribute__((noinline)) long
join(const struct table *table, const struct order *orders, long count) {
  long sum = 0;
  for (long i = 0; i < count; i++)
    for (struct customer *c = table->heads[slot(table, orders[i].customer)]; c; c = c->next)
      if (c->key == orders[i].customer) {
        c->balance -= orders[i].price;
        sum += c->balance;
        break;
      }
  return sum;
}

int main(void) {
  struct table table = {.bits = 20, .heads = calloc(CUSTOMERS, sizeof *table.heads)};
  struct customer *customers = malloc(CUSTOMERS * sizeof *customers);
  struct order *orders = malloc(ORDERS * sizeof *orders);
  if (!table.heads || !customers || !orders)
    return 1;
  fill(&table, customers);
  draw(orders);
  printf("%ld\n", join(&table, orders, ORDERS));
}
