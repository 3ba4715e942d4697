// A linked list and a tree made on one side, walked and changed on the other through pointers.
// Expects both sides to agree on every field's place.
// OUT: a0:12:0
// OUT: b1:3:0.5
// OUT: c2:2:1
// OUT: d3:1:1.5
// OUT: e4:6:2
// OUT: f5:2:2.5
// OUT: g6:1:3
// OUT: h7:10:3.5
// OUT: i8:2:4
// OUT: j9:1:4.5
// OUT: 62.5
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
  char tag;
  double weight;
  short count;
  struct node *left, *right;
  int value;
};

FLICK_HOST static struct node *make(int value) {
  struct node *n = calloc(1, sizeof *n);
  n->tag = (char)('a' + value % 26);
  n->value = value;
  return n;
}

FLICK_NXP static struct node *insert(struct node *n, int value) {
  if (!n) {
    n = make(value);
    n->weight = value * 0.5;
  } else if (value < n->value) {
    n->left = insert(n->left, value);
  } else if (value > n->value) {
    n->right = insert(n->right, value);
  }
  n->count++;
  return n;
}

FLICK_NXP static double total(const struct node *n) {
  return n ? n->weight + n->count + total(n->left) + total(n->right) : 0;
}

static void print(const struct node *n) {
  if (!n)
    return;
  print(n->left);
  printf("%c%d:%d:%g\n", n->tag, n->value, n->count, n->weight);
  print(n->right);
}

FLICK_NXP static void release(struct node *n) {
  if (!n)
    return;
  release(n->left);
  release(n->right);
  free(n);
}

int main(void) {
  struct node *root = NULL;
  for (int i = 0; i < 12; i++)
    root = insert(root, i * 7 % 10);
  print(root);
  printf("%g\n", total(root));
  release(root);
}
