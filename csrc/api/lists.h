/* SPDX-License-Identifier: MIT */
/* Lists of handles and enum members as arguments, and arrays that a call fills.
 *
 * *Slots* are memory for an array that C writes and Python gets as a list.  Where C
 * says how many entries there are, the call is made with no slots first, and with more
 * slots as long as all of them come back filled: one slot is always spare, so an array
 * that grew between two calls is noticed.
 *
 * All functions need the GIL.  Those that return int give -1 with an exception. */
#ifndef HA_API_LISTS_H
#define HA_API_LISTS_H

#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "api/api.h"
#include "api/generated/enums.h"

/* Handle *: a list or tuple of handles number `index`, else as ha_list_ptr_from. */
int ha_list_handle_from(struct ha_types *types, PyObject *object,
                        const struct ha_where *where, unsigned index, unsigned flags,
                        struct ha_view *out);

/* Enum *: a list or tuple of members or their values, else memory with C ints. */
int ha_list_enum_from(struct ha_api *api, PyObject *object,
                      const struct ha_where *where, enum ha_enum index, unsigned flags,
                      struct ha_view *out);

struct ha_slots {
    void *memory;      /* owned; NULL: none yet */
    size_t item_bytes; /* set by the caller */
    size_t room;       /* entries that memory has room for */
};

/* Zeroed room for `entries`, which the argument `where` asked for (NULL: the call did);
 * fewer than none are none. */
int ha_slots_make(struct ha_slots *slots, long long entries,
                  const struct ha_where *where);

/* After a call that found `*entries`: 1 where it has to be made again, with all `slots`
 * having room for the new `*entries`; 0 where it was given enough. */
int ha_slots_more(struct ha_slots *const *slots, int count, size_t *entries);

void ha_slots_free(struct ha_slots *slots);

/* For a count of `bytes` bytes that the caller keeps in memory: its value, 0 for NULL.
 */
long long ha_count_in(const struct ha_view *view, size_t bytes);

/* The list of the first `entries` slots; empty where the call failed.  `kind` is
 * HA_HANDLE, HA_RECORD, HA_ENUM (with `index`) or that of a number.  NULL handles at
 * the end are left out; handles of nodes keep `home` (api/keep.h; NULL for others). */
PyObject *ha_out_list(struct ha_api *api, bool good, enum ha_kind kind, unsigned index,
                      const struct ha_slots *slots, size_t entries, const void *home);

#endif
