/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* REG_RIP and its like */
#endif
#include "cpu/exec/fiber_switch.h"

#include <ucontext.h>

/* Labels in the text below; never called from C. */
void ha_context_entry(void);
void ha_context_recover(void);
void ha_context_read_at(void);
void ha_context_read_done(void);

#if defined(__x86_64__)

/* A suspended context, from its stack pointer upwards:
 *
 *      0  mxcsr (4)   4  x87 control word (2)   6  unused
 *      8  r15   16  r14   24  r13   32  r12   40  rbx   48  rbp
 *     56  address to go on at
 *
 * The control words are loaded only where they differ, because loading is what costs;
 * the status bits of mxcsr (0..5) are not part of the comparison.  The return predictor
 * is right in spite of the other stack, because lanes wait at the same point of the
 * code.
 *
 * ha_context_recover is where an edited signal frame goes on: the interrupted code may
 * have left values on the x87 stack, so that is emptied first. */
__asm__(".text\n"
        ".p2align 6\n"
        ".globl ha_context_switch\n"
        ".hidden ha_context_switch\n"
        ".type ha_context_switch,@function\n"
        "ha_context_switch:\n"
        ".cfi_startproc\n"
        "    pushq %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "    pushq %rbx\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbx, 0\n"
        "    pushq %r12\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %r12, 0\n"
        "    pushq %r13\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %r13, 0\n"
        "    pushq %r14\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %r14, 0\n"
        "    pushq %r15\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %r15, 0\n"
        "    subq $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movl (%rsp), %eax\n"
        "    movzwl 4(%rsp), %edx\n"
        "    movq %rsi, %rsp\n"
        "    xorl (%rsp), %eax\n"
        "    testl $0xffc0, %eax\n"
        "    jnz 2f\n"
        "    cmpw %dx, 4(%rsp)\n"
        "    jne 2f\n"
        "1:  movq 8(%rsp), %r15\n"
        "    movq 16(%rsp), %r14\n"
        "    movq 24(%rsp), %r13\n"
        "    movq 32(%rsp), %r12\n"
        "    movq 40(%rsp), %rbx\n"
        "    movq 48(%rsp), %rbp\n"
        "    addq $56, %rsp\n"
        ".cfi_def_cfa %rsp, 8\n"
        ".cfi_same_value %rbp\n"
        ".cfi_same_value %rbx\n"
        ".cfi_same_value %r12\n"
        ".cfi_same_value %r13\n"
        ".cfi_same_value %r14\n"
        ".cfi_same_value %r15\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size ha_context_switch, .-ha_context_switch\n"

        ".globl ha_context_recover\n"
        ".hidden ha_context_recover\n"
        ".type ha_context_recover,@function\n"
        "ha_context_recover:\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa %rsp, 64\n"
        ".cfi_offset %rbp, -16\n"
        ".cfi_offset %rbx, -24\n"
        ".cfi_offset %r12, -32\n"
        ".cfi_offset %r13, -40\n"
        ".cfi_offset %r14, -48\n"
        ".cfi_offset %r15, -56\n"
        "    fninit\n"
        "2:  ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    jmp 1b\n"
        ".cfi_endproc\n"
        ".size ha_context_recover, .-ha_context_recover\n"

        ".globl ha_context_call\n"
        ".hidden ha_context_call\n"
        ".type ha_context_call,@function\n"
        "ha_context_call:\n"
        ".cfi_startproc\n"
        "    pushq %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "    movq %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "    movq %rdi, %rsp\n"
        "    andq $-16, %rsp\n"
        "    movq %rdx, %rdi\n"
        "    callq *%rsi\n"
        "    movq %rbp, %rsp\n"
        "    popq %rbp\n"
        ".cfi_def_cfa %rsp, 8\n"
        ".cfi_same_value %rbp\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size ha_context_call, .-ha_context_call\n"

        /* First instruction of a new context; the undefined return address is where
         * debuggers and unwinders stop. */
        ".globl ha_context_entry\n"
        ".hidden ha_context_entry\n"
        ".type ha_context_entry,@function\n"
        "ha_context_entry:\n"
        ".cfi_startproc\n"
        ".cfi_undefined %rip\n"
        "    xorl %ebp, %ebp\n"
        "    movq %r13, %rdi\n"
        "    callq *%r12\n"
        "    ud2\n"
        ".cfi_endproc\n"
        ".size ha_context_entry, .-ha_context_entry\n"

        /* `rep movsb` keeps the count of missing bytes in rcx, also when it faults. */
        ".globl ha_context_read\n"
        ".hidden ha_context_read\n"
        ".type ha_context_read,@function\n"
        "ha_context_read:\n"
        ".cfi_startproc\n"
        "    movq %rdx, %rcx\n"
        "    cld\n"
        ".globl ha_context_read_at\n"
        ".hidden ha_context_read_at\n"
        "ha_context_read_at:\n"
        "    rep movsb\n"
        ".globl ha_context_read_done\n"
        ".hidden ha_context_read_done\n"
        "ha_context_read_done:\n"
        "    movq %rcx, %rax\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size ha_context_read, .-ha_context_read\n");

enum { CONTEXT_WORDS = 8 };

#define MXCSR_DEFAULT 0x1f80u
#define X87_CONTROL_DEFAULT 0x037fu

#define UC_PC(uc) ((uc)->uc_mcontext.gregs[REG_RIP])

void *
ha_context_make(void *high, void (*entry)(void *), void *argument)
{
    uintptr_t top = (uintptr_t)high & ~(uintptr_t)15;
    uint64_t *context = (uint64_t *)top - CONTEXT_WORDS;
    context[0] = MXCSR_DEFAULT | (uint64_t)X87_CONTROL_DEFAULT << 32;
    context[1] = 0;
    context[2] = 0;
    context[3] = (uint64_t)(uintptr_t)argument; /* r13 */
    context[4] = (uint64_t)(uintptr_t)entry;    /* r12 */
    context[5] = 0;
    context[6] = 0;
    context[7] = (uint64_t)(uintptr_t)ha_context_entry;
    return context;
}

void
ha_context_reset_control(void)
{
    const uint32_t mxcsr = MXCSR_DEFAULT;
    const uint16_t x87 = X87_CONTROL_DEFAULT;
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(x87));
}

void
ha_context_leave(void *ucontext, void *context)
{
    ucontext_t *uc = ucontext;
    const greg_t direction_and_trap_flags = 0x400 | 0x100;
    uc->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)context;
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)ha_context_recover;
    uc->uc_mcontext.gregs[REG_EFL] &= ~direction_and_trap_flags;
}

#elif defined(__aarch64__)

/* A suspended context, from its stack pointer upwards:
 *
 *      0  x19 x20 ... x27 x28   80  x29 x30   96  d8 ... d15   160  fpcr   168  unused
 *
 * fpcr is written only where it differs: that write drains the pipeline. */
__asm__(".text\n"
        ".p2align 6\n"
        ".globl ha_context_switch\n"
        ".hidden ha_context_switch\n"
        ".type ha_context_switch,%function\n"
        "ha_context_switch:\n"
        ".cfi_startproc\n"
        "    sub sp, sp, #176\n"
        ".cfi_def_cfa_offset 176\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        ".cfi_rel_offset x19, 0\n"
        ".cfi_rel_offset x20, 8\n"
        ".cfi_rel_offset x21, 16\n"
        ".cfi_rel_offset x22, 24\n"
        ".cfi_rel_offset x23, 32\n"
        ".cfi_rel_offset x24, 40\n"
        ".cfi_rel_offset x25, 48\n"
        ".cfi_rel_offset x26, 56\n"
        ".cfi_rel_offset x27, 64\n"
        ".cfi_rel_offset x28, 72\n"
        ".cfi_rel_offset x29, 80\n"
        ".cfi_rel_offset x30, 88\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mrs x9, fpcr\n"
        "    str x9, [sp, #160]\n"
        "    mov x10, sp\n"
        "    str x10, [x0]\n"
        "    mov sp, x1\n"
        "    ldr x10, [sp, #160]\n"
        "    cmp x9, x10\n"
        "    b.ne 2f\n"
        "1:  ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #176\n"
        ".cfi_def_cfa sp, 0\n"
        ".cfi_restore x19\n"
        ".cfi_restore x20\n"
        ".cfi_restore x21\n"
        ".cfi_restore x22\n"
        ".cfi_restore x23\n"
        ".cfi_restore x24\n"
        ".cfi_restore x25\n"
        ".cfi_restore x26\n"
        ".cfi_restore x27\n"
        ".cfi_restore x28\n"
        ".cfi_restore x29\n"
        ".cfi_restore x30\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size ha_context_switch, .-ha_context_switch\n"

        ".globl ha_context_recover\n"
        ".hidden ha_context_recover\n"
        ".type ha_context_recover,%function\n"
        "ha_context_recover:\n"
        ".cfi_startproc\n"
        ".cfi_undefined x30\n"
        "    ldr x10, [sp, #160]\n"
        "2:  msr fpcr, x10\n"
        "    b 1b\n"
        ".cfi_endproc\n"
        ".size ha_context_recover, .-ha_context_recover\n"

        ".globl ha_context_call\n"
        ".hidden ha_context_call\n"
        ".type ha_context_call,%function\n"
        "ha_context_call:\n"
        ".cfi_startproc\n"
        "    stp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_rel_offset x29, 0\n"
        ".cfi_rel_offset x30, 8\n"
        "    mov x29, sp\n"
        ".cfi_def_cfa_register x29\n"
        "    and x9, x0, #-16\n"
        "    mov sp, x9\n"
        "    mov x0, x2\n"
        "    blr x1\n"
        "    mov sp, x29\n"
        ".cfi_def_cfa_register sp\n"
        "    ldp x29, x30, [sp], #16\n"
        ".cfi_def_cfa_offset 0\n"
        ".cfi_restore x29\n"
        ".cfi_restore x30\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size ha_context_call, .-ha_context_call\n"

        ".globl ha_context_entry\n"
        ".hidden ha_context_entry\n"
        ".type ha_context_entry,%function\n"
        "ha_context_entry:\n"
        ".cfi_startproc\n"
        ".cfi_undefined x30\n"
        "    mov x29, xzr\n"
        "    mov x0, x20\n"
        "    blr x19\n"
        "    brk #1\n"
        ".cfi_endproc\n"
        ".size ha_context_entry, .-ha_context_entry\n"

        /* A fault in the load leaves the count of missing bytes in x2. */
        ".globl ha_context_read\n"
        ".hidden ha_context_read\n"
        ".type ha_context_read,%function\n"
        "ha_context_read:\n"
        ".cfi_startproc\n"
        "    cbz x2, ha_context_read_done\n"
        ".globl ha_context_read_at\n"
        ".hidden ha_context_read_at\n"
        "ha_context_read_at:\n"
        "    ldrb w3, [x1]\n"
        "    add x1, x1, #1\n"
        "    strb w3, [x0], #1\n"
        "    subs x2, x2, #1\n"
        "    b.ne ha_context_read_at\n"
        ".globl ha_context_read_done\n"
        ".hidden ha_context_read_done\n"
        "ha_context_read_done:\n"
        "    mov x0, x2\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size ha_context_read, .-ha_context_read\n");

enum { CONTEXT_WORDS = 22 };

#define UC_PC(uc) ((uc)->uc_mcontext.pc)

void *
ha_context_make(void *high, void (*entry)(void *), void *argument)
{
    uintptr_t top = (uintptr_t)high & ~(uintptr_t)15;
    uint64_t *context = (uint64_t *)top - CONTEXT_WORDS;
    for (unsigned i = 0; i < CONTEXT_WORDS; i++) {
        context[i] = 0;
    }
    context[0] = (uint64_t)(uintptr_t)entry;    /* x19 */
    context[1] = (uint64_t)(uintptr_t)argument; /* x20 */
    context[11] = (uint64_t)(uintptr_t)ha_context_entry;
    return context;
}

void
ha_context_reset_control(void)
{
    __asm__ volatile("msr fpcr, xzr");
}

void
ha_context_leave(void *ucontext, void *context)
{
    ucontext_t *uc = ucontext;
    uc->uc_mcontext.sp = (uintptr_t)context;
    uc->uc_mcontext.pc = (uintptr_t)ha_context_recover;
}

#else
#error "the CPU device has no context switch for this processor"
#endif

uintptr_t
ha_context_pc(const void *ucontext)
{
    const ucontext_t *uc = ucontext;
    return (uintptr_t)UC_PC(uc);
}

bool
ha_context_read_fixup(void *ucontext)
{
    ucontext_t *uc = ucontext;
    if (ha_context_pc(uc) != (uintptr_t)ha_context_read_at) {
        return false;
    }
#if defined(__x86_64__)
    UC_PC(uc) = (greg_t)(uintptr_t)ha_context_read_done;
#else
    UC_PC(uc) = (uintptr_t)ha_context_read_done;
#endif
    return true;
}
