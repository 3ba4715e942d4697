/* Five bodies under gravitation, by a symplectic integrator: floating point with square roots. */
#include "kernel.h"

typedef struct {
  double place[3], speed[3], mass;
} body;

enum { BODIES = 5 };

/* Round figures of the size of the sun and the giant planets: units of the earth's orbit and days.
 */
static const body start[BODIES] = {
    {{0, 0, 0}, {0, 0, 0}, 39.5},
    {{4.84, -1.16, -0.10}, {0.606, 2.81, -0.025}, 0.0377},
    {{8.34, 4.12, -0.40}, {-1.01, 1.82, 0.0084}, 0.0113},
    {{12.9, -15.1, -0.22}, {1.08, 0.868, -0.0108}, 0.00172},
    {{15.4, -25.9, 0.18}, {0.979, 0.594, -0.0347}, 0.00203},
};

static void advance(body *bodies, double step) {
  for (size_t i = 0; i < BODIES; i++)
    for (size_t j = i + 1; j < BODIES; j++) {
      body *p = &bodies[i], *q = &bodies[j];
      double apart[3], square = 0;
      for (size_t k = 0; k < 3; k++) {
        apart[k] = p->place[k] - q->place[k];
        square += apart[k] * apart[k];
      }
      double pull = step / (square * __builtin_sqrt(square));
      for (size_t k = 0; k < 3; k++) {
        p->speed[k] -= apart[k] * q->mass * pull;
        q->speed[k] += apart[k] * p->mass * pull;
      }
    }
  for (size_t i = 0; i < BODIES; i++)
    for (size_t k = 0; k < 3; k++)
      bodies[i].place[k] += step * bodies[i].speed[k];
}

uint64_t nbody(uint64_t work) {
  body bodies[BODIES];
  uint64_t checksum = 0;
  for (size_t i = 0; i < BODIES; i++)
    bodies[i] = start[i];
  for (uint64_t i = 0; i < work; i++)
    advance(bodies, 0.01);
  for (size_t i = 0; i < BODIES; i++)
    for (size_t k = 0; k < 3; k++) {
      uint64_t bits;
      __builtin_memcpy(&bits, &bodies[i].place[k], sizeof bits);
      checksum = fold(checksum, bits);
    }
  return checksum;
}
