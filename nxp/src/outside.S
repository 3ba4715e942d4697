/* Calls the host's function NAME, for a program that defines NAME itself. The crossing gets the
 * signature, so that a float result is in an NxP register as RV64 has it. It is
 * assembled for each NAME. */
#define PASTE(A, B) A##B
#define EXPAND(A, B) PASTE(A, B)
#define OUTSIDE EXPAND(__flick_outside_, NAME)
#define ADDRESS EXPAND(__flick_address_, NAME)

	.section	.rodata.str1.1,"aMS",@progbits,1
.Lsignature:
	.asciz	SIGNATURE
	.text
	.globl	OUTSIDE
	.hidden	OUTSIDE
	.type	OUTSIDE,@function
	.p2align	1
OUTSIDE:
	.cfi_startproc
.Lat:
	auipc	t1, %pcrel_hi(.Lsignature)
	addi	t1, t1, %pcrel_lo(.Lat)
.Ltarget:
	auipc	t2, %got_pcrel_hi(ADDRESS)
	ld	t2, %pcrel_lo(.Ltarget)(t2)
.Lexit:
	auipc	t3, %got_pcrel_hi(__flick_xcall)
	ld	t3, %pcrel_lo(.Lexit)(t3)
	jr	t3
	.cfi_endproc
	.size	OUTSIDE, .-OUTSIDE
