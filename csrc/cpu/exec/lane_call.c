/* SPDX-License-Identifier: MIT */
#include "cpu/exec/lane_call.h"

#include "cpu/exec/workgroup.h"

#if HA_LANE_CALLS

/* Labels in the text below; never called from C. */
void ha_lane_begin(void);

#if defined(__x86_64__)

/* A suspended lane is a context as ha_context_switch has it (cpu/exec/fiber_switch.c):
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

#define END(name)                                                                      \
    ".cfi_endproc\n"                                                                   \
    ".size " name ", .-" name "\n"

__asm__(".text\n" FUNCTION("ha_group_call_block") SAVE
        "    movq %rsp, %r8\n"
        "    callq ha_lane_step_block\n"
        "    jmp ha_lane_go\n" END("ha_group_call_block")

            FUNCTION("ha_group_call_pause") SAVE
        "    movq %rsp, %rdi\n"
        "    callq ha_lane_step_pause\n"
        "    jmp ha_lane_go\n" END("ha_group_call_pause")

        /* The context is the seventh argument, on the stack. */
        FUNCTION("ha_group_call_warp") SAVE
        "    movq %rsp, %rax\n"
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

void ha_lane_end(void);

enum { CONTEXT_WORDS = 9 };

#define MXCSR_DEFAULT 0x1f80u
#define MXCSR_STATUS 0x3fu
#define X87_CONTROL_DEFAULT 0x037fu

void *
ha_lane_context(void *high, ha_kernel_reference_fn *function, void *const *args,
                struct ha_lane *lane)
{
    uintptr_t top = (uintptr_t)high & ~(uintptr_t)15;
    uint64_t *context = (uint64_t *)top - CONTEXT_WORDS;
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

#elif defined(__aarch64__)

/* A suspended lane is a context as ha_context_switch has it (cpu/exec/fiber_switch.c):
 *
 *      0  x19 x20 ... x27 x28   80  x29, address to go on at   96  d8 ... d15
 *    160  fpcr   168  unused
 *
 * Of a lane that begins, x19 are its arguments, x20 its record, x21 its function; the
 * call before the jump leaves the end of a lane in x30. */
#define SAVE                                                                           \
    ".cfi_startproc\n"                                                                 \
    "    sub sp, sp, #176\n"                                                           \
    ".cfi_def_cfa_offset 176\n"                                                        \
    "    stp x19, x20, [sp, #0]\n"                                                     \
    "    stp x21, x22, [sp, #16]\n"                                                    \
    "    stp x23, x24, [sp, #32]\n"                                                    \
    "    stp x25, x26, [sp, #48]\n"                                                    \
    "    stp x27, x28, [sp, #64]\n"                                                    \
    "    stp x29, x30, [sp, #80]\n"                                                    \
    ".cfi_rel_offset x19, 0\n"                                                         \
    ".cfi_rel_offset x20, 8\n"                                                         \
    ".cfi_rel_offset x21, 16\n"                                                        \
    ".cfi_rel_offset x22, 24\n"                                                        \
    ".cfi_rel_offset x23, 32\n"                                                        \
    ".cfi_rel_offset x24, 40\n"                                                        \
    ".cfi_rel_offset x25, 48\n"                                                        \
    ".cfi_rel_offset x26, 56\n"                                                        \
    ".cfi_rel_offset x27, 64\n"                                                        \
    ".cfi_rel_offset x28, 72\n"                                                        \
    ".cfi_rel_offset x29, 80\n"                                                        \
    ".cfi_rel_offset x30, 88\n"                                                        \
    "    stp d8, d9, [sp, #96]\n"                                                      \
    "    stp d10, d11, [sp, #112]\n"                                                   \
    "    stp d12, d13, [sp, #128]\n"                                                   \
    "    stp d14, d15, [sp, #144]\n"

#define FUNCTION(name)                                                                 \
    ".p2align 5\n"                                                                     \
    ".globl " name "\n"                                                                \
    ".hidden " name "\n"                                                               \
    ".type " name ",%function\n" name ":\n"

#define END(name)                                                                      \
    ".cfi_endproc\n"                                                                   \
    ".size " name ", .-" name "\n"

__asm__(
    ".text\n" FUNCTION("ha_group_call_block") SAVE
    "    mov x4, sp\n"
    "    bl ha_lane_step_block\n"
    "    b ha_lane_go\n" END("ha_group_call_block")

        FUNCTION("ha_group_call_pause") SAVE
    "    mov x0, sp\n"
    "    bl ha_lane_step_pause\n"
    "    b ha_lane_go\n" END("ha_group_call_pause")

        FUNCTION("ha_group_call_warp") SAVE
    "    mov x6, sp\n"
    "    bl ha_lane_step_warp\n"
    "    b ha_lane_go\n" END("ha_group_call_warp")

    /* Where a lane ends, the stack is empty; the next may begin there at once. */
    FUNCTION("ha_lane_go") ".cfi_startproc\n"
                           ".cfi_undefined x30\n"
                           "    mov sp, x0\n"
                           "    mov x0, x1\n"
                           "    ldp x19, x20, [sp, #0]\n"
                           "    ldp x21, x22, [sp, #16]\n"
                           "    ldp x23, x24, [sp, #32]\n"
                           "    ldp x25, x26, [sp, #48]\n"
                           "    ldp x27, x28, [sp, #64]\n"
                           "    ldp x29, x16, [sp, #80]\n"
                           "    ldp d8, d9, [sp, #96]\n"
                           "    ldp d10, d11, [sp, #112]\n"
                           "    ldp d12, d13, [sp, #128]\n"
                           "    ldp d14, d15, [sp, #144]\n"
                           "    add sp, sp, #176\n"
                           "    bl 1f\n"
                           ".globl ha_lane_end\n"
                           ".hidden ha_lane_end\n"
                           "ha_lane_end:\n"
                           "    sub sp, sp, #192\n"
                           "    bl ha_lane_step_end\n"
                           "    cbnz x0, ha_lane_go\n"
                           "    ldp x9, x0, [x1]\n"
                           "    ldr x1, [x1, #16]\n"
                           "    add sp, sp, #192\n"
                           "    mov x29, xzr\n"
                           "    blr x9\n"
                           "    b ha_lane_end\n"
                           "1:  br x16\n" END("ha_lane_go")

                               FUNCTION("ha_lane_begin") ".cfi_startproc\n"
                                                         ".cfi_undefined x30\n"
                                                         "    adr x30, ha_lane_end\n"
                                                         "    mov x29, xzr\n"
                                                         "    mov x0, x19\n"
                                                         "    mov x1, x20\n"
                                                         "    br x21\n" END(
                                                             "ha_lane_begin"));

enum { CONTEXT_WORDS = 22 };

void *
ha_lane_context(void *high, ha_kernel_reference_fn *function, void *const *args,
                struct ha_lane *lane)
{
    uintptr_t top = (uintptr_t)high & ~(uintptr_t)15;
    uint64_t *context = (uint64_t *)top - CONTEXT_WORDS;
    for (unsigned i = 0; i < CONTEXT_WORDS; i++) {
        context[i] = 0;
    }
    context[0] = (uint64_t)(uintptr_t)args;     /* x19 */
    context[1] = (uint64_t)(uintptr_t)lane;     /* x20 */
    context[2] = (uint64_t)(uintptr_t)function; /* x21 */
    context[11] = (uint64_t)(uintptr_t)ha_lane_begin;
    return context;
}

enum { FPCR_WORD = 20 };

void
ha_lane_keep_control(void *context)
{
    uint64_t is;
    __asm__ volatile("mrs %0, fpcr" : "=r"(is));
    ((uint64_t *)context)[FPCR_WORD] = is;
}

/* Writing it drains the pipeline. */
void
ha_lane_take_control(const void *context)
{
    uint64_t is;
    uint64_t wanted = ((const uint64_t *)context)[FPCR_WORD];
    __asm__ volatile("mrs %0, fpcr" : "=r"(is));
    if (is != wanted) {
        __asm__ volatile("msr fpcr, %0" : : "r"(wanted));
    }
}

#else
#error "the CPU device has no calls of lanes for this processor"
#endif
#endif
