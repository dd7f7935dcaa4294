/* SPDX-License-Identifier: MIT */
#include "tool/profiler/packet.h"

#include <string.h>

#include "tool/profiler/proto.h"
#include "tool/text.h"

/* Fields of TracePacket, and values. */
enum {
    PACKET = 1, /* of Trace */
    TIMESTAMP = 8,
    SEQUENCE_ID = 10,
    INTERNED_DATA = 12,
    SEQUENCE_FLAGS = 13,
    DEFAULTS = 59,
    DEFAULT_CLOCK = 58,
    FLAG_CLEARED = 1,
    FLAG_NEEDS_STATE = 2,
    COMPUTE = 2, /* category of a render stage */
    API_HIP = 5,
};

/* The sequence of which the least time is lost; a new one where all are ahead. */
static uint32_t
choose(struct ha_packets *packets, uint64_t ns, bool *fresh)
{
    uint32_t best = HA_SEQUENCES_MAX, free_one = HA_SEQUENCES_MAX, ahead = 0;

    for (uint32_t i = 0; i < HA_SEQUENCES_MAX; i++) {
        const struct ha_sequence *sequence = &packets->sequences[i];
        if (sequence->id == 0) {
            free_one = i;
            break;
        }
        if (sequence->last <= ns && (best == HA_SEQUENCES_MAX ||
                                     sequence->last > packets->sequences[best].last)) {
            best = i;
        }
        if (sequence->last > packets->sequences[ahead].last) {
            ahead = i;
        }
    }
    *fresh = best == HA_SEQUENCES_MAX;
    if (*fresh) {
        best = free_one != HA_SEQUENCES_MAX ? free_one : ahead;
        memset(&packets->sequences[best], 0, sizeof packets->sequences[best]);
        packets->sequences[best].id = ++packets->last_id;
    }
    return best;
}

static char *
begin(struct ha_packet *packet, struct ha_packets *packets, int width)
{
    packet->packets = packets;
    packet->width = width;
    packet->count = 0;
    packet->begin = ha_proto_begin(packets->output.at, PACKET, width);
    return packet->begin;
}

char *
ha_packet_begin(struct ha_packet *packet, struct ha_packets *packets,
                struct ha_row *row, uint64_t ns, int width)
{
    struct ha_sequence *sequence = &packets->sequences[row->sequence];
    char *to = begin(packet, packets, width);
    bool fresh = false;

    if (sequence->id == 0 || sequence->last > ns) {
        row->sequence = choose(packets, ns, &fresh);
        sequence = &packets->sequences[row->sequence];
    }
    sequence->last = ns;
    packet->sequence = sequence;
    to = ha_proto_uint(to, TIMESTAMP, ns);
    to = ha_proto_uint(to, SEQUENCE_ID, sequence->id);
    to = ha_proto_uint(to, SEQUENCE_FLAGS,
                       fresh ? FLAG_CLEARED | FLAG_NEEDS_STATE : FLAG_NEEDS_STATE);
    if (fresh) {
        char *defaults = ha_proto_begin(to, DEFAULTS, 1);
        to = ha_proto_uint(defaults, DEFAULT_CLOCK, HA_CLOCK_REALTIME);
        ha_proto_end(defaults, to, 1);
    }
    return to;
}

char *
ha_packet_begin_bare(struct ha_packet *packet, struct ha_packets *packets, int width)
{
    packet->sequence = NULL;
    return ha_proto_uint(begin(packet, packets, width), SEQUENCE_ID,
                         HA_SEQUENCE_DESCRIPTORS);
}

/* ---- texts ---- */

static char *
put_item(char *to, const struct ha_packet *packet, uint32_t number)
{
    const struct ha_item *item = &packet->packets->interned.items[number];
    char *entry = ha_proto_begin(to, item->field, packet->width);

    to = ha_proto_uint(entry, 1, number);
    if (item->field == HA_FIELD_CONTEXT) {
        to = ha_proto_uint(to, 2, packet->packets->pid);
        to = ha_proto_uint(to, 3, API_HIP);
    } else {
        char *text = ha_proto_begin(to, 2, packet->width);
        to = ha_text_utf8(text, item->text, item->bytes);
        ha_proto_end(text, to, packet->width);
    }
    if (number == packet->packets->stage_kernel) {
        to = ha_proto_uint(to, 4, COMPUTE);
    }
    ha_proto_end(entry, to, packet->width);
    return to;
}

void
ha_packet_end(struct ha_packet *packet, char *to)
{
    if (packet->count > 0) {
        char *data = ha_proto_begin(to, INTERNED_DATA, packet->width);
        to = data;
        for (unsigned i = 0; i < packet->count; i++) {
            to = put_item(to, packet, packet->items[i]);
        }
        ha_proto_end(data, to, packet->width);
    }
    ha_proto_end(packet->begin, to, packet->width);
    packet->packets->output.at = to;
}
