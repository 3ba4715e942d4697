# Traps of user harts. `mscratch` has the hart's record (`HartLocal`).
    .equ LOCAL_CONTEXT, 0
    .equ LOCAL_THREAD, 8
    .equ LOCAL_HART, 16
    .equ LOCAL_STACK, 24
    .equ LOCAL_T0, 32
    .equ LOCAL_T1, 40
    .equ LOCAL_T2, 48
    .equ LOCAL_REFRESH, 56
    .equ LOCAL_LIGHT, 64
    .equ LOCAL_BIT, 72
    .equ LOCAL_PENDING, 80
    .equ LOCAL_WAKE, 88
    .equ LOCAL_LINES, 96
    .equ LOCAL_OWNER, 104
    .equ LOCAL_ATTEMPT, 112
    .equ SENDING_TILE, 120
    .equ SENDING_PORT, 128
    .equ SENDING_BASE, 136
    .equ SENDING_COMMAND, 144
    .equ SENDING_BUSY, 152
    .equ SEEN_PAGE, 160
    .equ SEEN_OFFSET, 168
    .equ TAKING_PORT, 192
    .equ TAKING_CURRENT, 200
    .equ TAKING_ACTIVITY, 208
    .equ TAKING_EVENTS, 216
    .equ TAKING_FETCH, 224
    .equ TAKING_ACKNOWLEDGE, 232
    .equ TAKING_SLOT, 240
    .equ LOCAL_SENDER, 248
    .equ LOCAL_PARKED, 256
    .equ LOCAL_KEPT, 264
    # In `hart_unit.rs`: user harts' activity, a note that a full mailbox has room, and how often the hart
    # looks for a message here.
    .equ HARTS, 2
    .equ MADE_ROOM, 1 | 4 << 8
    .equ MESSAGE_LOOKS, 100
    .equ WANTED, 192
    # Calls that the hart's unit may execute: `mailbox_send`, `mailbox_receive`, `portal_write`.
    .equ FIRST_UNIT_CALL, 66
    .equ UNIT_CALLS, 3
    # The unit's registers, and its errors below which nothing has been sent.
    .equ UNIT_COMMAND, 0
    .equ UNIT_RESULT, 8
    .equ UNIT_ADDRESS, 16
    .equ UNIT_EVENTS, 48
    .equ NOT_SENT, 5
    # Offsets of messages of 120 bytes within a page.
    .equ MESSAGE_PLACES, 4096 - 120 + 1
    .equ EOWNERDEAD, 130
    # `mcause` of an illegal instruction.
    .equ ILLEGAL, 2
    # The number of `hint`.
    .equ HINT, 30
    # The hart's lines are before its record.
    .equ CALL, -128
    .equ COMMAND, -64
    # `REPLY` of a command line.
    .equ REPLY, 1
    # Looks for the answer, before the hart sleeps.
    .equ LOOKS, 40
    # Bits of the state in a thread's line (`thread_lines.rs`): bit 40 is ENDED, and the next one JOINED.
    .equ ENDED_BIT, 40
    # Lines are 64 bytes; there are 256.
    .equ LINE_SHIFT, 6
    .equ LINE_VALUE, 8
    .equ LINE_OWNER, 16

    # The thread goes on behind a call that needed no state, whose result is in a0.
    .macro end_call last=""
    point local_done
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    ld t0, LOCAL_T0(sp)
    ld t1, LOCAL_T1(sp)
    csrrw sp, mscratch, sp
    \last
    point return
    mret
    .endm

    # Memory gets what the hart has stored, before others are told of it: `cache::clean`.
    .macro clean
    .option push
    .option norvc
19: nop
    .option pop
    .pushsection .cleans, "a"
    .8byte 19b
    .popsection
    .endm

    # Stores or loads the registers that taking a message uses.
    .macro kept_registers op
    .irp n, 2,3,4,5,6
    \op t\n, LOCAL_KEPT+8*\n-16(sp)
    .endr
    .irp n, 3,4,5,6,7
    \op a\n, LOCAL_KEPT+8*\n+16(sp)
    .endr
    .endm

    # Frees the slot at t1.
    .macro acknowledge
    ld t2, TAKING_ACKNOWLEDGE(sp)
    slli t0, t1, 52
    srli t0, t0, 60
    slli t0, t0, 40
    or t0, t0, t2
    sd t0, UNIT_COMMAND(t6)
    .endm

    .section .text.user_hart, "ax"
    .balign 64
    .globl trap_entry
trap_entry:
    point trap
    csrrw sp, mscratch, sp
    sd t0, LOCAL_T0(sp)
    sd t1, LOCAL_T1(sp)
    csrr t0, mcause
    li t1, 8
    bne t0, t1, whole_state
    # The calls that need no state: `thread_self` is 0, `hart_self` is 1, `cache_refresh` is 2.
    beqz a7, thread_self
    ld t1, LOCAL_LIGHT(sp)
    sltiu t0, a7, 64
    srl t1, t1, a7
    and t1, t1, t0
    bnez t1, light_call
    li t1, 18
    beq a7, t1, thread_join
    sltiu t1, a7, 3
    bnez t1, hart_self
    addi t1, a7, -FIRST_UNIT_CALL
    sltiu t1, t1, UNIT_CALLS
    bnez t1, unit_call
    li t1, 17
    beq a7, t1, thread_exit
whole_state:
    ld t1, LOCAL_CONTEXT(sp)
    .irp n, 1,3,4,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    sd x\n, 8*\n(t1)
    .endr
    ld t0, LOCAL_T0(sp)
    sd t0, 8*5(t1)
    ld t0, LOCAL_T1(sp)
    sd t0, 8*6(t1)
    csrrw t0, mscratch, sp
    sd t0, 8*2(t1)
    csrr a1, mcause
    csrr t0, mepc
    sd t0, (t1)
    mv s0, sp
    mv s1, t1
    mv a0, sp
    ld sp, LOCAL_STACK(sp)
    la ra, 2f
    li t0, ILLEGAL
    beq a1, t0, user_illegal
    li t0, HINT
    beq a7, t0, user_hint
    j user_trap
2:  mv a1, s0
    # The same thread goes on: s2 to s11, gp and tp are still its own.
    bne a0, s1, resume
    ld t0, (a0)
    csrw mepc, t0
    .irp n, 1,2,5,6,7,8,9,11,12,13,14,15,16,17,28,29,30,31
    ld x\n, 8*\n(a0)
    .endr
    ld a0, 8*10(a0)
    point return
    mret

    # A context in a0, and the hart's record in a1. Bit 0 of a0 does not matter, and bit 1 says that the
    # thread begins.
    .globl resume
resume:
    csrw mscratch, a1
    andi t0, a0, 2
    andi a0, a0, -4
    bnez t0, first_time
    ld t0, (a0)
    csrw mepc, t0
    .irp n, 1,2,3,4,5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    ld x\n, 8*\n(a0)
    .endr
    ld a0, 8*10(a0)
    point return
    mret

first_time:
    ld t0, (a0)
    csrw mepc, t0
    ld sp, 8*2(a0)
    ld tp, 8*4(a0)
    .irp n, 1,3,5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    li x\n, 0
    .endr
    ld a0, 8*10(a0)
    point return
    mret

thread_self:
    point local
    ld a0, LOCAL_THREAD(sp)
    j behind_call
hart_self:
    point local
    ld a0, LOCAL_HART(sp)
    addi t1, a7, -1
    beqz t1, behind_call
    ld a0, LOCAL_REFRESH(sp)
    bgtz a0, drop_cache
behind_call:
    end_call
    # `th.dcache.ciall` (XTheadCmo) is the last, so that the loads before still hit.
drop_cache:
    li a0, 0
    end_call ".4byte 0x0030000b"

    # The kernel hart wants nothing but the arguments: the other registers stay where they are.
light_call:
    sb zero, LOCAL_PARKED(sp)
    sd a7, CALL(sp)
    .irp n, 0,1,2,3,4,5
    sd a\n, CALL+8+8*\n(sp)
    .endr
    clean
    point ask
    ld t0, LOCAL_BIT(sp)
    ld t1, LOCAL_PENDING(sp)
    amoor.d.aqrl t1, t0, (t1)
    bltz t1, wake
2:  sd t2, LOCAL_T2(sp)
    addi t1, sp, COMMAND
    li t2, LOOKS
1:  amoswap.d.aqrl t0, zero, (t1)
    bnez t0, 1f
    addi t2, t2, -1
    bnez t2, 1b
    j long_wait
1:  addi t2, t0, -REPLY
    bnez t2, long_wait
    point told
    ld a0, 8(t1)
    ld a1, 16(t1)
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    ld t2, LOCAL_T2(sp)
    ld t0, LOCAL_T0(sp)
    ld t1, LOCAL_T1(sp)
    csrrw sp, mscratch, sp
    point return
    mret

    # The first one that calls a kernel hart that sleeps wakes it.
wake:
    slli t1, t1, 1
    bnez t1, 2b
    ld t0, LOCAL_WAKE(sp)
    li t1, 1
    sw t1, (t0)
    j 2b

    # The flags in t0 want more than a reply. s0 to s11, gp and tp stay as they are.
long_wait:
    csrrw t2, mscratch, sp
    mv t1, sp
    ld sp, LOCAL_STACK(sp)
    addi sp, sp, -96
    sd t2, 88(sp)
    sd ra, 80(sp)
    .irp n, 2,3,4,5,6,7
    sd a\n, 8*\n-16(sp)
    .endr
    .irp n, 3,4,5,6
    sd t\n, 8*\n+24(sp)
    .endr
    mv a0, t1
    mv a1, t0
    call light_wait
    csrr a1, mscratch
    bnez a0, resume
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    mv t1, a1
    ld a0, COMMAND+8(t1)
    ld a1, COMMAND+16(t1)
    .irp n, 2,3,4,5,6,7
    ld a\n, 8*\n-16(sp)
    .endr
    .irp n, 3,4,5,6
    ld t\n, 8*\n+24(sp)
    .endr
    ld ra, 80(sp)
    ld sp, 88(sp)
    ld t2, LOCAL_T2(t1)
    ld t0, LOCAL_T0(t1)
    ld t1, LOCAL_T1(t1)
    point return
    mret

    # A join of a thread that has ended, unless the kernel hart watches it: `ThreadLine::join`.
thread_join:
    srli t0, a0, 8
    slli t0, t0, 56
    bnez t0, whole_state
    slli t0, a0, 56
    srli t0, t0, 56 - LINE_SHIFT
    ld t1, LOCAL_LINES(sp)
    sd t2, LOCAL_T2(sp)
    add t0, t0, t1
    # If it still runs, its end comes soon, perhaps.
    li t2, LOOKS
1:  lr.d.aqrl t1, (t0)
    sub t1, t1, a0
    bnez t1, 1f
    addi t2, t2, -1
    bnez t2, 1b
    j remote_join
1:  srli t2, t1, ENDED_BIT
    addi t2, t2, -1
    slli t1, t1, 64 - ENDED_BIT
    or t1, t1, t2
    bnez t1, remote_join
    ld t1, LINE_OWNER(t0)
    ld t2, LOCAL_OWNER(sp)
    bne t1, t2, remote_join
    # Behind the `sc` the line can be another thread's.
    ld t2, LINE_VALUE(t0)
    li t1, 1
    slli t1, t1, ENDED_BIT + 1
    add t1, t1, a0
    sc.d.aqrl t1, t1, (t0)
    bnez t1, remote_join
    point local
    li a0, 0
    mv a1, t2
    ld t2, LOCAL_T2(sp)
    j behind_call
remote_join:
    ld t2, LOCAL_T2(sp)
    j whole_state

thread_exit:
    csrw mscratch, sp
    mv a1, a0
    mv a0, sp
    ld sp, LOCAL_STACK(sp)
    call user_exit
    csrr a1, mscratch
    j resume

    # A message to the mailbox of the one before, in a page that the hart has looked up: the unit takes it
    # from there. All else is for `try_send`.
unit_send:
    ld t0, SENDING_TILE(sp)
    ld t1, SENDING_PORT(sp)
    bne t0, a0, rust_call
    bne t1, a1, rust_call
    # Where nothing is set up the records have -1, which the caller may have, too.
    bltz a0, rust_call
    ld t0, SEEN_PAGE(sp)
    li t1, MESSAGE_PLACES
    sub t0, a2, t0
    bgeu t0, t1, rust_call
    or t0, t0, a2
    andi t0, t0, 7
    bnez t0, rust_call
    point local
    ld t1, SEEN_OFFSET(sp)
    ld t0, SENDING_BUSY(sp)
    add a0, a2, t1
    ld t1, SENDING_BASE(sp)
    beqz t0, 2f
1:  ld t0, UNIT_COMMAND(t1)
    bnez t0, 1b
    sd zero, SENDING_BUSY(sp)
2:  sd a0, UNIT_ADDRESS(t1)
    ld t0, SENDING_COMMAND(sp)
    clean
    sd t0, UNIT_COMMAND(t1)
1:  ld t0, UNIT_COMMAND(t1)
    bnez t0, 1b
    ld a0, UNIT_RESULT(t1)
    andi a0, a0, 255
    bnez a0, 3f
    li a1, 0
    end_call
    # Whether the message has arrived is not known; or it was not sent.
3:  sltiu t0, a0, NOT_SENT
    ld a0, SENDING_TILE(sp)
    bnez t0, 4f
    li a0, -EOWNERDEAD
    end_call
4:  point local_done
    j rust_call

    # A message of the mailbox of the one before, into a page that the hart has looked up. The hart looks for
    # it some time. All else is for `try_receive`.
unit_receive:
    ld t0, TAKING_PORT(sp)
    bne t0, a0, rust_call
    bltz a0, rust_call
    ld t0, SEEN_PAGE+16(sp)
    li t1, MESSAGE_PLACES
    sub t0, a1, t0
    bgeu t0, t1, rust_call
    or t0, t0, a1
    andi t0, t0, 7
    lbu t1, LOCAL_PARKED(sp)
    bnez t0, rust_call
    bnez t1, rust_call
    point local
    kept_registers sd
    ld t6, SENDING_BASE(sp)
    ld t0, SENDING_BUSY(sp)
    beqz t0, 2f
1:  ld t0, UNIT_COMMAND(t6)
    bnez t0, 1b
    sd zero, SENDING_BUSY(sp)
2:  ld t5, TAKING_CURRENT(sp)
    ld t0, TAKING_ACTIVITY(sp)
    ld t4, TAKING_EVENTS(sp)
    sd t0, (t5)
    # Lines of the last message, which the cache may still have.
    ld t0, TAKING_SLOT(sp)
    beqz t0, 1f
    amoor.w zero, zero, (t0)
    addi t0, t0, 64
    amoor.w zero, zero, (t0)
    addi t0, t0, 64
    amoor.w zero, zero, (t0)
    sd zero, TAKING_SLOT(sp)
1:  ld t2, TAKING_FETCH(sp)
    # Who has a time looks once.
    li t3, MESSAGE_LOOKS
    addi t0, a2, 1
    beqz t0, fetch
    li t3, 1
fetch:
    sd t2, UNIT_COMMAND(t6)
1:  ld t0, UNIT_COMMAND(t6)
    bnez t0, 1b
    ld t1, UNIT_RESULT(t6)
    andi t0, t1, 255
    srli t1, t1, 8
    bnez t0, not_taken
    bnez t1, taken
look:
    ld t0, UNIT_EVENTS(t6)
    and t0, t0, t4
    bnez t0, fetch
    csrr t0, mip
    andi t0, t0, 8
    addi t3, t3, -1
    bnez t0, not_taken
    bnez t3, look
not_taken:
    li t0, HARTS
    sd t0, (t5)
    kept_registers ld
    point local_done
    j rust_call
    # The slot is at t1.
taken:
    ld a3, 16(t1)
    ld t0, SEEN_OFFSET+16(sp)
    srli t2, a3, 48
    bne t2, a0, drop
    add t0, t0, a1
    slli a1, a3, 16
    srli a1, a1, 16
    ld a3, 24(t1)
    ld a4, 32(t1)
    ld a5, 40(t1)
    ld a6, 48(t1)
    ld a7, 56(t1)
    ld t2, 64(t1)
    ld t3, 72(t1)
    ld t4, 80(t1)
    sd a3, 0(t0)
    sd a4, 8(t0)
    sd a5, 16(t0)
    sd a6, 24(t0)
    sd a7, 32(t0)
    sd t2, 40(t0)
    sd t3, 48(t0)
    sd t4, 56(t0)
    ld a3, 88(t1)
    ld a4, 96(t1)
    ld a5, 104(t1)
    ld a6, 112(t1)
    ld a7, 120(t1)
    ld t2, 128(t1)
    ld t3, 136(t1)
    sd a3, 64(t0)
    sd a4, 72(t0)
    sd a5, 80(t0)
    sd a6, 88(t0)
    sd a7, 96(t0)
    sd t2, 104(t0)
    sd t3, 112(t0)
    acknowledge
    sd t1, TAKING_SLOT(sp)
    srli t1, t1, 12
    slli t1, t1, 12
    addi t1, t1, WANTED
1:  ld t0, UNIT_COMMAND(t6)
    bnez t0, 1b
    # The kernel hart sets it before it looks for room.
    amoswap.d.aqrl t0, zero, (t1)
    li t1, HARTS
    sd t1, (t5)
    kept_registers ld
    bnez t0, 1f
    li a0, 0
    end_call
1:  sd a1, LOCAL_SENDER(sp)
    li t0, MADE_ROOM
    sd t0, LOCAL_ATTEMPT(sp)
    point local_done
    j whole_state
    # It was for a mailbox that had the endpoint before.
drop:
    acknowledge
1:  ld t0, UNIT_COMMAND(t6)
    bnez t0, 1b
    ld t2, TAKING_FETCH(sp)
    ld t4, TAKING_EVENTS(sp)
    j fetch

unit_call:
    addi t1, a7, -FIRST_UNIT_CALL
    beqz t1, unit_send
    addi t1, t1, -1
    beqz t1, unit_receive
    # Rust keeps s0 to s11.
rust_call:
    csrrw t0, mscratch, sp
    mv t1, sp
    ld sp, LOCAL_STACK(sp)
    addi sp, sp, -128
    sd t0, 0(sp)
    csrr t0, mepc
    sd t0, 8(sp)
    sd ra, 16(sp)
    .irp n, 0,1,2,3,4,5,6,7
    sd a\n, 24+8*\n(sp)
    .endr
    .irp n, 2,3,4,5,6
    sd t\n, 72+8*\n(sp)
    .endr
    mv a5, t1
    addi t0, a7, -FIRST_UNIT_CALL - 1
    la ra, 2f
    bltz t0, try_send
    beqz t0, try_receive
    j try_write
2:  ld t0, 8(sp)
    csrr t1, mscratch
    ld ra, 16(sp)
    .irp n, 2,3,4,5,6,7
    ld a\n, 24+8*\n(sp)
    .endr
    .irp n, 2,3,4,5,6
    ld t\n, 72+8*\n(sp)
    .endr
    lb a6, LOCAL_ATTEMPT(t1)
    bnez a6, 1f
    ld a6, 24+48(sp)
    addi t0, t0, 4
    csrw mepc, t0
    ld sp, 0(sp)
    ld t0, LOCAL_T0(t1)
    ld t1, LOCAL_T1(t1)
    point return
    mret
1:  ld a0, 24(sp)
    ld a1, 32(sp)
    ld a6, 24+48(sp)
    csrw mepc, t0
    li t0, 8
    csrw mcause, t0
    ld t0, 0(sp)
    mv sp, t1
    csrw mscratch, t0
    j whole_state

    # A trap before a hart runs programs, or of the kernel hart.
    .text
    .globl kernel_trap
    .balign 4
kernel_trap:
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    call kernel_broken
