/* SPDX-License-Identifier: MIT */
/* What host_call.c (tickets) and host_function.c (wrappers that make them) share;
 * nobody else includes it. All but the trampolines need the GIL. */
#ifndef HA_API_MANUAL_HOST_TICKET_H
#define HA_API_MANUAL_HOST_TICKET_H

#include "api/manual/host_call.h"

#define HA_HOST_NO_DEVICE (-1) /* not known */

/* How often a ticket is good. */
enum ha_host_use { HA_HOST_FREE, HA_HOST_ONCE, HA_HOST_MANY };

/* Takes new references to what is in `call`. 0 = exception. */
uint64_t ha_host_ticket_new(const struct ha_host_call *call, enum ha_host_use use,
                            int device);
/* Tickets that are over already are left alone by both. */
void ha_host_ticket_end(uint64_t ticket);
void ha_host_ticket_set_device(uint64_t ticket, int device);

/* What HIP calls, with the ticket as context; any thread, without the GIL. */
void ha_host_trampoline(void *context);
void ha_host_trampoline_callback(hipStream_t stream, hipError_t status, void *context);

#endif
