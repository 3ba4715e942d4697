# long odd_entry(long a, long b): a * b + 1, at an odd address.
# long call_back(long (*f)(long), long x): f(x) + 1.
	.text
	.globl	odd_entry
	.type	odd_entry, @function
	.p2align 4
	nop
odd_entry:
	movq	%rdi, %rax
	imulq	%rsi, %rax
	incq	%rax
	ret
	.size	odd_entry, .-odd_entry

	.globl	call_back
	.type	call_back, @function
	.p2align 4
call_back:
	.cfi_startproc
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	incq	%rax
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	call_back, .-call_back
	.section	.note.GNU-stack,"",@progbits
