#include "shapes.h"

FLICK_NXP Shape::Shape() {}
FLICK_NXP Shape::~Shape() {}
