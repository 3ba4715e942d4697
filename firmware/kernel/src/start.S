# The start of all harts, in M mode, with the hart's number in a0 and the device tree's address in a1. The
# hart that the tree names as the one that boots becomes the kernel hart. The others wait for their pages.
    .section .text.start, "ax"
    .globl _start
_start:
    csrw mie, zero
    csrw mscratch, zero
    la t0, kernel_trap
    csrw mtvec, t0
    # boot_cpuid_phys of the tree's header, big-endian; numbers are below 256.
    lbu t0, 31(a1)
    bne a0, t0, other_hart

    la t0, bss_start
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sd zero, (t0)
    addi t0, t0, 8
    j 1b
2:  la sp, kernel_stack_end
    call kernel_hart_begin

other_hart:
    # A software interrupt ends `wfi`; it is taken by nobody.
    csrwi mie, 8
    la t0, released
1:  amoor.d t1, zero, (t0)
    bnez t1, 2f
    wfi
    j 1b
    # The table has the address of the hart's page, or 0.
2:  slli t0, a0, 3
    add t0, t0, t1
    ld a0, (t0)
    bnez a0, 4f
3:  csrw mie, zero
    wfi
    j 3b
4:  li t0, 4096
    add sp, a0, t0
    call user_hart_begin

    .section .data
    .globl released
    .balign 64
released:
    .dword 0
    .balign 64
