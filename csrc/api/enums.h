/* SPDX-License-Identifier: MIT */
/* HIP's enums as Python classes, and status codes as ready-made results.
 *
 * A class is an IntEnum made from the generated tables on first use, so that importing
 * costs nothing for enums that are not used.  A status code that the tables don't know
 * becomes a member of its own, made for that one result: it equals its number and
 * belongs to the class, but the class doesn't list it.
 *
 * All of it needs the GIL; the objects belong to struct ha_enums, part of module state.
 * Each is published once it is made (adapters/together.h) and stays. */
#ifndef HA_API_ENUMS_H
#define HA_API_ENUMS_H

#include <Python.h>

#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "api/generated/enums.h"

#define HA_HIP_CODES 1100
#define HA_RTC_CODES 128

struct ha_enums {
    PyObject *classes[HA_ENUM_COUNT];    /* owned; NULL until used */
    PyObject *hip_members[HA_HIP_CODES]; /* owned; NULL: unknown or not made yet */
    PyObject *hip_results[HA_HIP_CODES]; /* owned 1-tuples of the same */
    PyObject *rtc_members[HA_RTC_CODES];
    PyObject *rtc_results[HA_RTC_CODES];
};

int ha_enums_traverse(struct ha_enums *enums, visitproc visit, void *arg);
void ha_enums_clear(struct ha_enums *enums);

/* The number of the enum with that name, or -1; no exception. */
int ha_enum_find(const char *name);

/* The class; borrowed.  NULL with an exception. */
PyObject *ha_enum_class(struct ha_enums *enums, enum ha_enum which);

/* The member of a value, or one of its own for a value that has none; owned. */
PyObject *ha_enum_value(struct ha_enums *enums, enum ha_enum which, long long value);

/* The C value of an argument: a member of the right enum, or an int that has a member.
 * -1 with TypeError (other kinds, members of other enums) or ValueError. */
int ha_enum_arg(struct ha_enums *enums, enum ha_enum which, PyObject *object,
                const struct ha_where *where, int *value);

/* The same for one that the call reads and writes: an enum, which is put into `cell`,
 * or memory for it (ha_cell_from in api/call.h).  C gets the address ha_inout_of. */
int ha_enum_inout(struct ha_enums *enums, enum ha_enum which, struct ha_types *types,
                  PyObject *object, const struct ha_where *where, struct ha_view *view,
                  int *cell);

/* The member of a hipError_t; owned. */
PyObject *ha_hip_status(struct ha_enums *enums, int code);

/* The tuple `(hipError_t,)`; owned. */
PyObject *ha_hip_result(struct ha_enums *enums, int code);

/* The same for hiprtcResult. */
PyObject *ha_rtc_status(struct ha_enums *enums, int code);
PyObject *ha_rtc_result(struct ha_enums *enums, int code);

#endif
