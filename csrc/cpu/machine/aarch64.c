/* SPDX-License-Identifier: MIT */
/* aarch64: see cpu/machine/machine.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* as the other machines */
#endif
#include "cpu/machine/machine.h"

#include "cpu/machine/context.h"
#include "cpu/machine/lanes.h"

#if defined(__aarch64__)

#include <elf.h>
#include <sys/auxv.h>
#include <ucontext.h>

/* Labels in the texts below; never called from C. */
void ha_context_entry(void);
void ha_context_recover(void);
void ha_context_read_at(void);
void ha_context_read_done(void);
void ha_lane_begin(void);

/* ---- contexts ---- */

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

uintptr_t
ha_context_pc(const void *ucontext)
{
    const ucontext_t *uc = ucontext;
    return (uintptr_t)uc->uc_mcontext.pc;
}

bool
ha_context_read_fixup(void *ucontext)
{
    ucontext_t *uc = ucontext;
    if (ha_context_pc(uc) != (uintptr_t)ha_context_read_at) {
        return false;
    }
    uc->uc_mcontext.pc = (uintptr_t)ha_context_read_done;
    return true;
}

/* ---- calls of lanes ---- */

/* A suspended lane is a context as ha_context_switch has it:
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

/* Instrumented builds have these in C (cpu/exec/lane_call.h). */
#define CALL(name)                                                                     \
    ".p2align 5\n"                                                                     \
    ".weak " name "\n"                                                                 \
    ".hidden " name "\n"                                                               \
    ".type " name ",%function\n" name ":\n"

#define END(name)                                                                      \
    ".cfi_endproc\n"                                                                   \
    ".size " name ", .-" name "\n"

__asm__(
    ".text\n"
    ".weak ha_lane_step_block\n"
    ".weak ha_lane_step_pause\n"
    ".weak ha_lane_step_warp\n"
    ".weak ha_lane_step_end\n" CALL("ha_group_call_block") SAVE
    "    mov x4, sp\n"
    "    bl ha_lane_step_block\n"
    "    b ha_lane_go\n" END("ha_group_call_block")

        CALL("ha_group_call_pause") SAVE "    mov x0, sp\n"
                                         "    bl ha_lane_step_pause\n"
                                         "    b ha_lane_go\n" END("ha_group_call_pause")

                                             CALL("ha_group_call_warp") SAVE
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

/* ---- levels ---- */

/* The first is what every one of these processors has; the second has atomic operations
 * that are one instruction.  Vectors have four floats; a gang is two of them.  Longer
 * vectors (SVE) have no size of their own when kernels are compiled, and on most
 * processors that have them they are no longer.  glibc's libmvec is not asked: this
 * clang does not know its names here. */
static const struct ha_machine_level levels[] = {
    {"armv8-a", "generic", NULL, 8, 0, true},
    {"armv8.1-a", "generic", "+v8.1a", 8, 0, true},
};

const struct ha_machine ha_machine = {
    .name = "aarch64",
    .triple = "aarch64-unknown-linux-gnu",
    .data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-"
                   "i128:128-n32:64-S128-Fn32",
    .elf_machine = EM_AARCH64,
    .levels = levels,
    .level_count = sizeof levels / sizeof levels[0],
};

uint32_t
ha_machine_level_find(void)
{
    const unsigned long first = HWCAP_ATOMICS | HWCAP_ASIMDRDM | HWCAP_CRC32;
    return (getauxval(AT_HWCAP) & first) == first ? 1 : 0;
}

#endif
