// What the start of a program does for streams.
#pragma once

// Makes their locks.
void __card_begin_streams(void);
