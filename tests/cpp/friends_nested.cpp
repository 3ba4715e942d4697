// Friend functions and classes, nested and local classes, access to private members from the other
// side.
// OUT: 3 3 321
#include <cstdio>
#include <flick.h>

class List {
  struct Node {
    int v;
    Node *next;
    FLICK_NXP Node(int x, Node *n) : v(x), next(n) {}
  };
  Node *head = nullptr;
  friend class Walker;
  FLICK_NXP friend int length(const List &l) {
    int n = 0;
    for (Node *p = l.head; p; p = p->next)
      n++;
    return n;
  }

public:
  class Cursor {
    Node *at;

  public:
    FLICK_HOST explicit Cursor(const List &l) : at(l.head) {}
    FLICK_NXP int next() {
      int v = at->v;
      at = at->next;
      return v;
    }
    explicit operator bool() const { return at != nullptr; }
  };
  List() = default;
  List(const List &) = delete;
  List &operator=(const List &) = delete;
  FLICK_NXP ~List() {
    while (Node *n = head) {
      head = n->next;
      delete n;
    }
  }
  FLICK_NXP List &add(int x) {
    head = new Node(x, head);
    return *this;
  }
};
class Walker {
public:
  FLICK_NXP static int first(const List &l) { return l.head->v; }
};
FLICK_NXP static int on_nxp(const List &l) {
  struct Local {
    int sum = 0;
    FLICK_HOST void take(int x) { sum = sum * 10 + x; }
  } local;
  for (List::Cursor c(l); c;)
    local.take(c.next());
  return local.sum;
}

int main() {
  List l;
  l.add(1).add(2).add(3);
  std::printf("%d %d %d\n", length(l), Walker::first(l), on_nxp(l));
}
