# A point for traces at the next instruction: see `trace_points.rs`.
    .macro point name, values=""
990:
    .pushsection .note.stapsdt, "", @note
    .balign 4
    .4byte 8, 992f - 991f, 3
    .asciz "stapsdt"
991:
    # The address, that of `.stapsdt.base`, which is for files that are moved, and that of a counter.
    .8byte 990b, 0, 0
    .asciz "kernel"
    .asciz "\name"
    .asciz "\values"
992:
    .balign 4
    .popsection
    .endm
