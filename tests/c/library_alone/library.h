#pragma once
int library_heap(void);
void *library_block(void);
