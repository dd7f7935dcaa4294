/* SPDX-License-Identifier: MIT */
/* Packets of a Perfetto trace, and the sequences that they belong to.
 *
 * Times of one *sequence* never go back, but slices come in any order: so a packet goes
 * to that sequence whose last time is the nearest one before its own, and a new
 * sequence begins where there is none.  There are as many sequences as slices have
 * disorder; of HA_SEQUENCES_MAX the one that is ahead of all ends for a new one.
 *
 * A packet brings the texts of all numbers that its sequence has not met. */
#ifndef HA_TOOL_PROFILER_PACKET_H
#define HA_TOOL_PROFILER_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/profiler/intern.h"
#include "tool/profiler/output.h"
#include "tool/profiler/rows.h"

enum {
    HA_SEQUENCES_MAX = 64,
    HA_SEQUENCE_DESCRIPTORS = 1, /* has no times */
    HA_PACKET_ITEMS_MAX = 64,
    HA_CLOCK_REALTIME = 1, /* Perfetto's numbers of clocks */
    HA_CLOCK_BOOTTIME = 6,
};

/* Fields of InternedData. */
enum {
    HA_FIELD_CATEGORY = 1,
    HA_FIELD_NAME = 2,
    HA_FIELD_ANNOTATION = 3,
    HA_FIELD_CONTEXT = 23,
    HA_FIELD_SPECIFICATION = 24,
};

struct ha_sequence {
    uint32_t id; /* 0: none */
    uint64_t last;
    uint64_t met[HA_ITEMS_MAX / 64];
};

struct ha_packets {
    struct ha_output output;
    uint32_t pid;
    uint32_t last_id;      /* of sequences */
    uint32_t stage_kernel; /* the specification of what computes */
    struct ha_sequence sequences[HA_SEQUENCES_MAX];
    struct ha_interned interned;
};

/* A packet under way. */
struct ha_packet {
    struct ha_packets *packets;
    struct ha_sequence *sequence;
    char *begin;
    int width; /* of lengths: 2, or 5 where texts are long */
    unsigned count;
    uint32_t items[HA_PACKET_ITEMS_MAX]; /* that the sequence has not met */
};

/* Begins a packet of the time on a sequence that `row` prefers; returns where its
 * message goes.  There must be room for all of the packet. */
char *ha_packet_begin(struct ha_packet *packet, struct ha_packets *packets,
                      struct ha_row *row, uint64_t ns, int width);

/* Ends the packet, `to` being the end of its message. */
void ha_packet_end(struct ha_packet *packet, char *to);

/* A packet without time. */
char *ha_packet_begin_bare(struct ha_packet *packet, struct ha_packets *packets,
                           int width);

/* The number, which the packet will bring with its text if need be. */
static inline uint32_t
ha_packet_use(struct ha_packet *packet, uint32_t item)
{
    uint64_t *word = &packet->sequence->met[item / 64];
    uint64_t bit = UINT64_C(1) << item % 64;

    if ((*word & bit) == 0) {
        *word |= bit;
        packet->items[packet->count++] = item;
    }
    return item;
}

#endif
