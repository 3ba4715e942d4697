#ifndef PLUGIN_H
#define PLUGIN_H
void note(int n);
#endif
