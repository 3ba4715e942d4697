/* The stages of an image chain, for all programs. */
#ifndef STAGES_H
#define STAGES_H

enum { BLOCK = 2048, MOST_CHAINS = 4, STAGES = 3 };
enum { FFT, MUL, IFFT };
enum { WORDS = 15 }; /* of a message */

#endif
