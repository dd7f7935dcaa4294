/* SPDX-License-Identifier: MIT */
/* x86-64: see cpu/machine/machine.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* REG_RIP and its like */
#endif
#include "cpu/machine/machine.h"

#include "cpu/machine/context.h"
#include "cpu/machine/lanes.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <elf.h>
#include <ucontext.h>

/* Labels in the texts below; never called from C. */
void ha_context_entry(void);
void ha_context_recover(void);
void ha_context_read_at(void);
void ha_context_read_done(void);
void ha_lane_begin(void);
void ha_lane_end(void);

/* ---- contexts ---- */

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

uintptr_t
ha_context_pc(const void *ucontext)
{
    const ucontext_t *uc = ucontext;
    return (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
}

bool
ha_context_read_fixup(void *ucontext)
{
    ucontext_t *uc = ucontext;
    if (ha_context_pc(uc) != (uintptr_t)ha_context_read_at) {
        return false;
    }
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)ha_context_read_done;
    return true;
}

/* ---- calls of lanes ---- */

/* A suspended lane is a context as ha_context_switch has it:
 *
 *      0  control words   8  r15   16  r14   24  r13   32  r12   40  rbx   48  rbp
 *     56  address to go on at
 *
 * Of a lane that begins, r12 are its arguments, r13 its record, r14 its function; above
 * lies the address of the end of a lane, where the function returns to. */
#define SAVE                                                                           \
    ".cfi_startproc\n"                                                                 \
    "    pushq %rbp\n"                                                                 \
    ".cfi_adjust_cfa_offset 8\n"                                                       \
    ".cfi_rel_offset %rbp, 0\n"                                                        \
    "    pushq %rbx\n"                                                                 \
    ".cfi_adjust_cfa_offset 8\n"                                                       \
    ".cfi_rel_offset %rbx, 0\n"                                                        \
    "    pushq %r12\n"                                                                 \
    ".cfi_adjust_cfa_offset 8\n"                                                       \
    ".cfi_rel_offset %r12, 0\n"                                                        \
    "    pushq %r13\n"                                                                 \
    ".cfi_adjust_cfa_offset 8\n"                                                       \
    ".cfi_rel_offset %r13, 0\n"                                                        \
    "    pushq %r14\n"                                                                 \
    ".cfi_adjust_cfa_offset 8\n"                                                       \
    ".cfi_rel_offset %r14, 0\n"                                                        \
    "    pushq %r15\n"                                                                 \
    ".cfi_adjust_cfa_offset 8\n"                                                       \
    ".cfi_rel_offset %r15, 0\n"                                                        \
    "    subq $8, %rsp\n"                                                              \
    ".cfi_adjust_cfa_offset 8\n"

#define FUNCTION(name)                                                                 \
    ".p2align 5\n"                                                                     \
    ".globl " name "\n"                                                                \
    ".hidden " name "\n"                                                               \
    ".type " name ",@function\n" name ":\n"

/* Instrumented builds have these in C (cpu/exec/lane_call.h). */
#define CALL(name)                                                                     \
    ".p2align 5\n"                                                                     \
    ".weak " name "\n"                                                                 \
    ".hidden " name "\n"                                                               \
    ".type " name ",@function\n" name ":\n"

#define END(name)                                                                      \
    ".cfi_endproc\n"                                                                   \
    ".size " name ", .-" name "\n"

__asm__(".text\n"
        ".weak ha_lane_step_block\n"
        ".weak ha_lane_step_pause\n"
        ".weak ha_lane_step_warp\n"
        ".weak ha_lane_step_end\n" CALL("ha_group_call_block") SAVE
        "    movq %rsp, %r8\n"
        "    callq ha_lane_step_block\n"
        "    jmp ha_lane_go\n" END("ha_group_call_block")

            CALL("ha_group_call_pause") SAVE
        "    movq %rsp, %rdi\n"
        "    callq ha_lane_step_pause\n"
        "    jmp ha_lane_go\n" END("ha_group_call_pause")

        /* The context is the seventh argument, on the stack. */
        CALL("ha_group_call_warp") SAVE "    movq %rsp, %rax\n"
                                        "    subq $8, %rsp\n"
                                        ".cfi_adjust_cfa_offset 8\n"
                                        "    pushq %rax\n"
                                        ".cfi_adjust_cfa_offset 8\n"
                                        "    callq ha_lane_step_warp\n"
                                        "    jmp ha_lane_go\n" END("ha_group_call_warp")

        /* Where a lane ends, the stack is empty; the next may begin there at once. */
        FUNCTION("ha_lane_go") ".cfi_startproc\n"
                               ".cfi_undefined %rip\n"
                               "    movq %rax, %rsp\n"
                               "    movq %rdx, %rax\n"
                               "    movq 8(%rsp), %r15\n"
                               "    movq 16(%rsp), %r14\n"
                               "    movq 24(%rsp), %r13\n"
                               "    movq 32(%rsp), %r12\n"
                               "    movq 40(%rsp), %rbx\n"
                               "    movq 48(%rsp), %rbp\n"
                               "    movq 56(%rsp), %rcx\n"
                               "    addq $64, %rsp\n"
                               "    callq 1f\n"
                               ".globl ha_lane_end\n"
                               ".hidden ha_lane_end\n"
                               "ha_lane_end:\n"
                               "    subq $128, %rsp\n"
                               "    callq ha_lane_step_end\n"
                               "    testq %rax, %rax\n"
                               "    jnz ha_lane_go\n"
                               "    movq (%rdx), %rax\n"
                               "    movq 8(%rdx), %rdi\n"
                               "    movq 16(%rdx), %rsi\n"
                               "    addq $128, %rsp\n"
                               "    xorl %ebp, %ebp\n"
                               "    callq *%rax\n"
                               "    jmp ha_lane_end\n"
                               "1:  addq $8, %rsp\n"
                               "    jmpq *%rcx\n" END("ha_lane_go")

        /* The undefined return address is where debuggers and unwinders stop. */
        FUNCTION("ha_lane_begin") ".cfi_startproc\n"
                                  ".cfi_undefined %rip\n"
                                  "    xorl %ebp, %ebp\n"
                                  "    movq %r12, %rdi\n"
                                  "    movq %r13, %rsi\n"
                                  "    jmpq *%r14\n" END("ha_lane_begin"));

enum { LANE_WORDS = CONTEXT_WORDS + 1 }; /* and the end of a lane */

#define MXCSR_STATUS 0x3fu

void *
ha_lane_context(void *high, ha_kernel_reference_fn *function, void *const *args,
                struct ha_lane *lane)
{
    uintptr_t top = (uintptr_t)high & ~(uintptr_t)15;
    uint64_t *context = (uint64_t *)top - LANE_WORDS;
    context[0] = MXCSR_DEFAULT | (uint64_t)X87_CONTROL_DEFAULT << 32;
    context[1] = 0;
    context[2] = (uint64_t)(uintptr_t)function; /* r14 */
    context[3] = (uint64_t)(uintptr_t)lane;     /* r13 */
    context[4] = (uint64_t)(uintptr_t)args;     /* r12 */
    context[5] = 0;
    context[6] = 0;
    context[7] = (uint64_t)(uintptr_t)ha_lane_begin;
    context[8] = (uint64_t)(uintptr_t)ha_lane_end;
    return context;
}

struct control {
    uint32_t mxcsr;
    uint16_t x87;
};

void
ha_lane_keep_control(void *context)
{
    struct control *kept = context;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(kept->mxcsr), "=m"(kept->x87));
}

/* Loading is what costs. */
void
ha_lane_take_control(const void *context)
{
    struct control is;
    const struct control *wanted = context;
    ha_lane_keep_control(&is);
    if ((is.mxcsr ^ wanted->mxcsr) & ~MXCSR_STATUS) {
        __asm__ volatile("ldmxcsr %0" : : "m"(wanted->mxcsr));
    }
    if (is.x87 != wanted->x87) {
        __asm__ volatile("fldcw %0" : : "m"(wanted->x87));
    }
}

/* ---- levels ---- */

static const struct ha_machine_level levels[] = {
    {"x86-64", "x86-64", NULL, 8, 0, false},
    {"x86-64-v2", "x86-64-v2", NULL, 8, 0, false},
    /* The compiler takes libmvec's forms for AVX2 whether a level has it or not, and
     * wrong numbers come back from such calls on an older processor. */
    {"x86-64-v3", "x86-64-v3", NULL, 8, 'd', true},
    {"x86-64-v4", "x86-64-v4", NULL, 16, 'e', true},
};

const struct ha_machine ha_machine = {
    .name = "x86_64",
    .triple = "x86_64-unknown-linux-gnu",
    .data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-"
                   "n8:16:32:64-S128",
    .elf_machine = EM_X86_64,
    .levels = levels,
    .level_count = sizeof levels / sizeof levels[0],
};

static bool
has(unsigned word, unsigned bits)
{
    return (word & bits) == bits;
}

/* The micro-architecture levels of the psABI, with what the kernel saves. */
uint32_t
ha_machine_level_find(void)
{
    unsigned a, b, c, d, features, extended = 0, structured = 0, saved = 0;
    if (!__get_cpuid(1, &a, &b, &features, &d)) {
        return 0;
    }
    if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) {
        extended = c;
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        structured = b;
    }
    if (has(features, bit_OSXSAVE)) {
        unsigned high;
        __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    }
    if (!has(features, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT |
                           bit_CMPXCHG16B) ||
        !has(extended, bit_LAHF_LM)) {
        return 0;
    }
    if (!has(saved, 0x06) || !has(features, bit_AVX | bit_F16C | bit_FMA | bit_MOVBE) ||
        !has(structured, bit_AVX2 | bit_BMI | bit_BMI2) || !has(extended, bit_LZCNT)) {
        return 1;
    }
    if (!has(saved, 0xe6) ||
        !has(structured,
             bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL)) {
        return 2;
    }
    return 3;
}

#endif
