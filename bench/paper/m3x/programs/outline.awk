# The kernel calls of <flick/card.h> by a function that others define.
/^static inline int64_t flick_call\(/ { inside = 1; sub(/static inline /, "") }
inside && /\{$/ { sub(/ \{$/, ";"); print; skips = 1; next }
skips { if (/^}/) inside = skips = 0; next }
{ print }
