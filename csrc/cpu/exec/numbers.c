/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* REG_RIP and its like */
#endif
#include "cpu/exec/numbers.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "cpu/exec/fault.h"
#include "cpu/exec/launch.h"
#include "cpu/exec/workgroup.h"

/* Keeps what the running lane made. */
static void
note(struct ha_runner *runner, struct ha_numbers *numbers, uintptr_t at,
     const struct ha_check_site *site, bool infinity)
{
    for (uint32_t i = 0; i < numbers->count; i++) {
        struct ha_made *made = &numbers->made[i];
        if (made->at == at && made->site == site && made->infinity == infinity) {
            made->count++;
            return;
        }
    }
    if (numbers->count == HA_NUMBERS_MOST) {
        return;
    }
    struct ha_made *made = &numbers->made[numbers->count++];
    *made = (struct ha_made){.at = at, .site = site, .infinity = infinity, .count = 1};
    memcpy(made->block, runner->lane->block_idx, sizeof made->block);
    memcpy(made->thread, runner->lane->thread_idx, sizeof made->thread);
}

static bool
is_nan(uint64_t bits, uint32_t width)
{
    return width == 32 ? (bits & 0x7fffffff) > 0x7f800000
                       : (bits & ~((uint64_t)1 << 63)) > (uint64_t)0x7ff << 52;
}

static bool
is_infinity(uint64_t bits, uint32_t width)
{
    return width == 32 ? (bits & 0x7fffffff) == 0x7f800000
                       : (bits & ~((uint64_t)1 << 63)) == (uint64_t)0x7ff << 52;
}

#if HA_NUMBERS_WATCHED

#define MXCSR_DEFAULT 0x1f80u
#define MXCSR_FLAGS 0x3fu
#define MXCSR_INVALID 0x01u
#define MXCSR_DIVIDED 0x04u
#define MXCSR_OVERFLOW 0x08u
#define MXCSR_WATCHED ((MXCSR_INVALID | MXCSR_DIVIDED | MXCSR_OVERFLOW) << 7)
#define TRAP_FLAG 0x100

void
ha_numbers_watch(struct ha_numbers *numbers)
{
    uint32_t mxcsr = MXCSR_DEFAULT & ~(numbers->over ? 0 : MXCSR_WATCHED);
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
    numbers->muted = false;
}

void
ha_numbers_watch_in(const struct ha_numbers *numbers, void *context)
{
    uint32_t *mxcsr = context;
    *mxcsr = MXCSR_DEFAULT & ~(numbers->over ? 0 : MXCSR_WATCHED);
}

/* ---- instructions ---- */

struct operation {
    bool arithmetic;      /* whose result can be a NaN that no operand was */
    uint32_t destination; /* number of the register */
    bool wide;            /* doubles */
};

/* What stands before an instruction's opcode. */
struct prefix {
    uint32_t map;  /* of opcodes: 1 is 0F, 2 is 0F38, 3 is 0F3A */
    uint32_t size; /* bytes */
    uint32_t high; /* what the register's number gets besides the three bits */
    uint32_t kind; /* 0: packed floats, 1: packed doubles, 2: a float, 3: a double */
    bool w;
};

static bool
read_old_prefix(const uint8_t *at, struct prefix *prefix)
{
    uint32_t size = 0;
    for (;; size++) {
        if (at[size] == 0x66) {
            prefix->kind = prefix->kind == 0 ? 1 : prefix->kind;
        } else if (at[size] == 0xf3 || at[size] == 0xf2) {
            prefix->kind = at[size] == 0xf3 ? 2 : 3;
        } else if (at[size] != 0x2e && at[size] != 0x3e && at[size] != 0x36 &&
                   at[size] != 0x26 && at[size] != 0x64 && at[size] != 0x65) {
            break;
        }
    }
    if ((at[size] & 0xf0) == 0x40) {
        prefix->high = (at[size] & 4) != 0 ? 8 : 0;
        prefix->w = (at[size] & 8) != 0;
        size++;
    }
    if (at[size] != 0x0f) {
        return false;
    }
    size++;
    prefix->map = at[size] == 0x38 ? 2 : at[size] == 0x3a ? 3 : 1;
    prefix->size = size + (prefix->map > 1);
    return true;
}

static bool
read_prefix(const uint8_t *at, struct prefix *prefix)
{
    *prefix = (struct prefix){.map = 1};
    switch (at[0]) {
    case 0xc5:
        prefix->high = (at[1] & 0x80) == 0 ? 8 : 0;
        prefix->kind = at[1] & 3;
        prefix->size = 2;
        return true;
    case 0xc4:
        prefix->high = (at[1] & 0x80) == 0 ? 8 : 0;
        prefix->map = at[1] & 31;
        prefix->w = (at[2] & 0x80) != 0;
        prefix->kind = at[2] & 3;
        prefix->size = 3;
        return true;
    case 0x62:
        prefix->high =
            ((at[1] & 0x80) == 0 ? 8u : 0u) + ((at[1] & 0x10) == 0 ? 16u : 0u);
        prefix->map = at[1] & 7;
        prefix->w = (at[2] & 0x80) != 0;
        prefix->kind = at[2] & 3;
        prefix->size = 4;
        return true;
    default:
        return read_old_prefix(at, prefix);
    }
}

static struct operation
operation_at(const uint8_t *at)
{
    struct operation operation = {.arithmetic = false};
    struct prefix prefix;
    if (!read_prefix(at, &prefix)) {
        return operation;
    }
    uint8_t code = at[prefix.size], form = at[prefix.size + 1];
    operation.destination = (form >> 3 & 7) + prefix.high;
    operation.wide = (prefix.kind & 1) != 0;
    switch (prefix.map) {
    case 1: /* square root, sum, product, conversion, difference, quotient */
    case 5: /* of halves */
        operation.arithmetic = code == 0x51 || code == 0x58 || code == 0x59 ||
                               code == 0x5a || code == 0x5c || code == 0x5e;
        operation.wide ^= code == 0x5a; /* the result is the other one */
        break;
    case 2: /* products with sums */
    case 6:
        operation.arithmetic = code >= 0x96 && code <= 0xbf && (code & 15) >= 6;
        operation.wide = prefix.w;
        break;
    case 3: /* floats to halves */
        operation.arithmetic = code == 0x1d;
        break;
    default:
        break;
    }
    return operation;
}

/* ---- the handler ---- */

/* What the processor gives where no operand is a NaN. */
static bool
has_new_nan(const ucontext_t *uc, const struct ha_numbers *numbers)
{
    const struct _libc_fpstate *state = uc->uc_mcontext.fpregs;
    if (numbers->destination > 15) {
        return true; /* not among what the frame has at hand */
    }
    const uint32_t *words = state->_xmm[numbers->destination].element;
    for (unsigned i = 0; i < 4; i += numbers->wide ? 2 : 1) {
        if (numbers->wide ? words[i] == 0 && words[i + 1] == 0xfff80000
                          : words[i] == 0xffc00000) {
            return true;
        }
    }
    return false;
}

/* The lane of the frame makes no news any more. */
static void
mute(struct ha_runner *runner, struct ha_numbers *numbers, ucontext_t *uc)
{
    uc->uc_mcontext.fpregs->mxcsr |= MXCSR_WATCHED;
    numbers->muted = true;
    ha_group_control_lanes(runner->group, runner->lane);
}

/* The instruction of the frame has run alone. */
static void
end_step(struct ha_runner *runner, struct ha_numbers *numbers, ucontext_t *uc)
{
    uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    uc->uc_mcontext.fpregs->mxcsr &= ~MXCSR_FLAGS;
    numbers->steps = false;
    if (numbers->judges && has_new_nan(uc, numbers)) {
        note(runner, numbers, numbers->at, NULL, false);
        mute(runner, numbers, uc);
    } else if (numbers->over) {
        mute(runner, numbers, uc);
    } else {
        uc->uc_mcontext.fpregs->mxcsr &= ~MXCSR_WATCHED;
    }
}

static void
take_exception(struct ha_runner *runner, struct ha_numbers *numbers, ucontext_t *uc)
{
    uint32_t flags = uc->uc_mcontext.fpregs->mxcsr & MXCSR_FLAGS;
    uintptr_t at = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
    struct operation operation = {.arithmetic = false};
    if (numbers->knows(numbers->context, at)) {
        operation = operation_at((const uint8_t *)at);
    }
    uc->uc_mcontext.fpregs->mxcsr &= ~MXCSR_FLAGS;
    numbers->over = ++numbers->traps >= HA_NUMBERS_TRAPS;
    if (operation.arithmetic && (flags & MXCSR_INVALID) == 0) {
        note(runner, numbers, at, NULL, true);
        mute(runner, numbers, uc);
        return;
    }
    uc->uc_mcontext.fpregs->mxcsr |= MXCSR_WATCHED;
    numbers->steps = true;
    numbers->judges = operation.arithmetic;
    numbers->destination = operation.destination;
    numbers->wide = operation.wide;
    numbers->at = at;
    uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

bool
ha_numbers_take_signal(struct ha_runner *runner, int signal, void *ucontext)
{
    ucontext_t *uc = ucontext;
    struct ha_launch *launch = runner ? atomic_load(&runner->launch) : NULL;
    struct ha_numbers *numbers = launch ? launch->numbers : NULL;
    if (!numbers || !uc->uc_mcontext.fpregs || !runner->lane) {
        return false;
    }
    uint32_t mxcsr = uc->uc_mcontext.fpregs->mxcsr;
    if (signal == SIGTRAP && numbers->steps) {
        end_step(runner, numbers, uc);
        return true;
    }
    if (signal != SIGFPE || (mxcsr & MXCSR_FLAGS & ~(mxcsr >> 7)) == 0) {
        return false;
    }
    take_exception(runner, numbers, uc);
    return true;
}

#else

void
ha_numbers_watch(struct ha_numbers *numbers)
{
    numbers->muted = false;
}

void
ha_numbers_watch_in(const struct ha_numbers *numbers, void *context)
{
    (void)numbers;
    (void)context;
}

bool
ha_numbers_take_signal(struct ha_runner *runner, int signal, void *ucontext)
{
    (void)runner;
    (void)signal;
    (void)ucontext;
    return false;
}

#endif

/* ---- results of the C library ---- */

/* False if the running lane was muted before. */
static bool
mute_here(struct ha_runner *runner, struct ha_numbers *numbers)
{
#if HA_NUMBERS_WATCHED
    uint32_t mxcsr;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    bool watched = (mxcsr & MXCSR_WATCHED) == 0;
    mxcsr |= MXCSR_WATCHED;
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
#else
    bool watched = !numbers->muted;
#endif
    numbers->muted = true;
    ha_group_control_lanes(runner->group, runner->lane);
    return watched;
}

void
ha_numbers_call_made(const struct ha_check_site *site, uint64_t result, uint64_t first,
                     uint64_t second, uint32_t bits)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_numbers *numbers = runner->group->launch->numbers;
    bool infinity = is_infinity(result, bits);
    if (!numbers || numbers->over || !runner->lane || is_nan(first, bits) ||
        is_nan(second, bits) ||
        (infinity && (is_infinity(first, bits) || is_infinity(second, bits)))) {
        return;
    }
    if (mute_here(runner, numbers)) {
        note(runner, numbers, 0, site, infinity);
    }
}
