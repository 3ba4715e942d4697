#include "library.h"

FLICK_NXP Animal::Animal() { count()++; }
FLICK_HOST Animal::~Animal() {}
FLICK_NXP const char *Animal::name() const { return "animal"; }
FLICK_HOST Dog::Dog(int b) : barks(b) {}
FLICK_NXP Dog::~Dog() { count()--; }
FLICK_NXP int Dog::legs() const { return 4; }
FLICK_NXP Animal *make_dog(int barks) { return new Dog(barks); }
FLICK_NXP int library_sum(const Animal &a, const Animal &b) { return a.legs() + b.legs(); }
FLICK_NXP int library_count() { return count(); }
FLICK_NXP void library_delete(Animal *a) { delete a; }
