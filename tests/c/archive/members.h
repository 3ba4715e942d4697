#ifndef MEMBERS_H
#define MEMBERS_H
int first(int);
int second(int);
int plain(int);
int unused(int);
#endif
