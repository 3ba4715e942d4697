// An interpreter in small: placed functions make a tree with malloc, and host functions evaluate it
// again and again. The heap has moved along with the placement: compared with a run in which it
// has, the placement looks harmless.
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
  struct node *left, *right;
  long value;
};

enum { DEPTH = 13, ROUNDS = 60 };

FLICK_NXP __attribute__((noinline)) struct node *leaf(long value) {
  struct node *node = malloc(sizeof *node);
  *node = (struct node){NULL, NULL, value};
  return node;
}

FLICK_NXP __attribute__((noinline)) struct node *tree(int depth, long value) {
  struct node *node = leaf(value);
  if (depth > 0) {
    node->left = tree(depth - 1, value * 2);
    node->right = tree(depth - 1, value * 2 + 1);
  }
  return node;
}

__attribute__((noinline)) long evaluate(const struct node *node) {
  if (!node)
    return 1;
  return node->value ^ (evaluate(node->left) * 3 + evaluate(node->right));
}

__attribute__((noinline)) void release(struct node *node) {
  if (!node)
    return;
  release(node->left);
  release(node->right);
  free(node);
}

int main(void) {
  struct node *root = tree(DEPTH, 1);
  long sum = 0;
  for (int round = 0; round < ROUNDS; round++)
    sum += evaluate(root);
  release(root);
  printf("%ld\n", sum);
}
