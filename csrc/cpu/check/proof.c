/* SPDX-License-Identifier: MIT */
#include "cpu/check/proof.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/check/proof_state.h"

#define CELLS_MOST ((size_t)1 << 20)
#define BUDGET 400000u

__extension__ typedef __int128 wide;

static bool
in_block(uint32_t kind)
{
    return kind == HA_ROOT_SHARED || kind == HA_ROOT_DYNAMIC;
}

/* Memory that other lanes cannot reach, or that nobody writes. */
static bool
is_private(uint32_t kind)
{
    return kind == HA_ROOT_LOCAL || kind == HA_ROOT_CONSTANT ||
           kind == HA_ROOT_ARGUMENT;
}

static bool
writes(const struct ha_proof_access *access)
{
    return (access->what & HA_SITE_WRITE) != 0;
}

/* ---- bounds ---- */

/* Where the memory of a root lies; false: there is none. */
static bool
memory_of(const struct proof *proof, const struct ha_proof_root *root, int64_t *begin,
          uint64_t *bytes)
{
    const struct ha_proof_launch *launch = proof->launch;
    uintptr_t pointer, base;

    *bytes = root->bytes;
    *begin = 0;
    switch ((enum ha_check_root)root->kind) {
    case HA_ROOT_POINTER:
        if (launch->sizes[root->argument].size != sizeof pointer) {
            return false;
        }
        memcpy(&pointer, launch->args[root->argument], sizeof pointer);
        if (!launch->find(pointer, &base, bytes)) {
            return false;
        }
        *begin = (int64_t)base;
        return true;
    case HA_ROOT_SHARED:
        *begin = (int64_t)root->offset;
        return true;
    case HA_ROOT_DYNAMIC:
        *begin = (int64_t)root->offset;
        *bytes = launch->shared_dynamic_bytes;
        return true;
    case HA_ROOT_VARIABLE:
    case HA_ROOT_CONSTANT:
        *begin = (int64_t)(intptr_t)root->address;
        return true;
    case HA_ROOT_LOCAL:
    case HA_ROOT_ARGUMENT:
        return true;
    case HA_ROOT_UNKNOWN:
        break;
    }
    return false;
}

static bool
is_inside(struct proof *proof, const struct proof_address *address)
{
    const struct ha_proof_access *access = address->access;
    const struct ha_proof_root *root = &proof->table->roots[access->root];
    uint32_t align = access->what >> HA_SITE_ALIGN_SHIFT;
    int64_t begin;
    uint64_t bytes;

    if (address->range.twos < align || !memory_of(proof, root, &begin, &bytes) ||
        (root->kind == HA_ROOT_CONSTANT && writes(access))) {
        return false;
    }
    return address->range.low >= begin &&
           (wide)address->range.high + access->bytes <= (wide)begin + bytes;
}

/* ---- races ---- */

/* Whether all lanes have left the loop that `in` is in, by a barrier, before any of
 * them comes to `behind`. */
static bool
is_left(const struct ha_proof_access *in, const struct ha_proof_access *behind)
{
    return in->loop < HA_PROOF_BEHIND_MOST &&
           (in->crosses & (HA_PROOF_ROUND_ENDS | HA_PROOF_LOOP_LEFT)) == 0 &&
           (behind->behind >> in->loop & 1) != 0;
}

static bool
cannot_race(const struct proof *proof, const struct proof_address *a,
            const struct proof_address *b)
{
    const struct ha_proof_root *roots = proof->table->roots;
    uint32_t kind = roots[a->access->root].kind, other = roots[b->access->root].kind;
    uint32_t atomic = HA_SITE_ATOMIC | HA_SITE_VOLATILE;

    return a->dead || b->dead || is_private(kind) || is_private(other) ||
           in_block(kind) != in_block(other) ||
           (!writes(a->access) && !writes(b->access)) ||
           ((a->access->what & atomic) != 0 && (b->access->what & atomic) != 0) ||
           (wide)a->range.high + a->access->bytes <= b->range.low ||
           (wide)b->range.high + b->access->bytes <= a->range.low ||
           (in_block(kind) &&
            ((a->access->after & b->access->after) == 0 ||
             is_left(a->access, b->access) || is_left(b->access, a->access)));
}

/* Whether `b` may come in the round behind that of `a`, with no barrier between. */
static bool
follows(const struct ha_proof_access *a, const struct ha_proof_access *b)
{
    return (a->crosses & HA_PROOF_ROUND_ENDS) != 0 &&
           (b->crosses & HA_PROOF_ROUND_BEGUN) != 0;
}

/* The loop of which lanes that are between the same barriers are in one round. */
static uint32_t
common_round(const struct ha_proof_access *a, const struct ha_proof_access *b)
{
    return a->loop == b->loop && !follows(a, b) && !follows(b, a) ? a->loop
                                                                  : HA_PROOF_NONE;
}

struct pair {
    struct proof_address *a, *b; /* room for what they are in a round */
    bool block;
    uint32_t loop;
};

static void read_address(struct proof *proof, const struct ha_proof_access *access,
                         struct proof_address *address);

/* In the round at hand. */
static bool
pair_is_apart(struct proof *proof, void *context)
{
    struct pair *pair = context;

    read_address(proof, pair->a->access, pair->a);
    read_address(proof, pair->b->access, pair->b);
    return cannot_race(proof, pair->a, pair->b) ||
           proof_apart(proof, pair->a, pair->b, pair->block, pair->loop);
}

static bool
are_apart(struct proof *proof, const struct proof_address *a,
          const struct proof_address *b, struct proof_address room[2])
{
    bool block = in_block(proof->table->roots[a->access->root].kind);
    uint32_t loop = block ? common_round(a->access, b->access) : HA_PROOF_NONE;
    struct pair pair = {.a = &room[0], .b = &room[1], .block = block, .loop = loop};

    if (cannot_race(proof, a, b) || proof_apart(proof, a, b, block, loop)) {
        return true;
    }
    room[0].access = a->access;
    room[1].access = b->access;
    return proof_each_round(proof, loop, pair_is_apart, &pair);
}

static bool
has_no_race(struct proof *proof, struct proof_address *addresses)
{
    struct proof_address *room = addresses + proof->table->access_count;

    if (proof->table->parts) {
        return false;
    }
    for (uint32_t i = 0; i < proof->table->access_count; i++) {
        for (uint32_t j = i; j < proof->table->access_count; j++) {
            if (!are_apart(proof, &addresses[i], &addresses[j], room)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- the whole ---- */

static void
read_address(struct proof *proof, const struct ha_proof_access *access,
             struct proof_address *address)
{
    address->access = access;
    address->range = proof_range_of(proof, access->address, access->context);
    address->dead =
        proof_is_empty(address->range) || proof_is_dead(proof, access->context);
    if (!address->dead) {
        proof_linear(proof, address);
        address->range = proof_form_range(proof, address);
        address->dead = proof_is_empty(address->range);
    }
}

/* In the round at hand. */
static bool
round_is_inside(struct proof *proof, void *context)
{
    struct proof_address *address = context;

    read_address(proof, address->access, address);
    return address->dead || is_inside(proof, address);
}

static bool
look_at(struct proof *proof, struct proof_address *addresses)
{
    struct proof_address *room = addresses + proof->table->access_count;

    for (uint32_t i = 0; i < proof->table->access_count; i++) {
        const struct ha_proof_access *access = &proof->table->accesses[i];
        read_address(proof, access, &addresses[i]);
        room->access = access;
        if (!addresses[i].dead && !is_inside(proof, &addresses[i]) &&
            !proof_each_round(proof, access->loop, round_is_inside, room)) {
            return false;
        }
    }
    return !proof->launch->race || has_no_race(proof, addresses);
}

static uint32_t
write_ranges(const struct proof *proof, const struct proof_address *addresses,
             struct ha_proof_range *ranges)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < proof->table->access_count; i++) {
        const struct ha_proof_access *access = &proof->table->accesses[i];
        uint32_t kind = proof->table->roots[access->root].kind;
        if (!addresses[i].dead && !is_private(kind) && !in_block(kind)) {
            ranges[count++] = (struct ha_proof_range){
                .begin = (uintptr_t)addresses[i].range.low,
                .end = (uintptr_t)addresses[i].range.high + access->bytes,
                .what = access->what,
                .line = access->line,
            };
        }
    }
    return count;
}

bool
ha_proof_holds(const struct ha_proof_launch *launch, struct ha_proof_range *ranges,
               uint32_t *range_count)
{
    const struct ha_proof *table = launch->proof;
    size_t cells = (size_t)table->node_count * table->context_count;
    struct proof proof = {.launch = launch,
                          .table = table,
                          .stamp = 1,
                          .open = UINT32_MAX,
                          .budget = BUDGET};
    struct proof_address *addresses = NULL;
    bool holds = false;

    if (cells > CELLS_MOST) {
        return false;
    }
    proof.cells = calloc(cells + 1, sizeof *proof.cells);
    proof.rounds = calloc(table->loop_count + PROOF_LOOPS, sizeof *proof.rounds);
    proof.rounds_state = calloc(table->loop_count + PROOF_LOOPS, 1);
    proof.fixed = calloc(table->node_count + 1u, sizeof *proof.fixed);
    proof.is_fixed = calloc(table->node_count + 1u, 1);
    addresses = calloc(table->access_count + 2u, sizeof *addresses);
    if (proof.fixed == NULL || proof.is_fixed == NULL || proof.cells == NULL ||
        proof.rounds == NULL || proof.rounds_state == NULL || addresses == NULL) {
        goto done;
    }
    holds = look_at(&proof, addresses);
    if (holds && ranges != NULL) {
        *range_count = write_ranges(&proof, addresses, ranges);
    }
done:
    free(proof.cells);
    free(proof.rounds);
    free(proof.rounds_state);
    free(proof.fixed);
    free(proof.is_fixed);
    free(addresses);
    return holds;
}
