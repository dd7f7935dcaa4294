/* SPDX-License-Identifier: MIT */
/* DLPack 1.3: its C structs, and tensors of other packages as a source of addresses.
 *
 * dlpack.c and dlpack_import.c read tensors of other packages, dlpack_export.c gives
 * ours, and dlpack_exchange.c has the table of C functions by which packages do both
 * without Python calls.  A *managed* tensor is one with a deleter; it comes in two
 * layouts, the *legacy* one and the *versioned* one of 1.0.  The holder of a managed
 * tensor calls its deleter once.
 *
 * Deleters of ours may be called from any thread, without the GIL and while the
 * interpreter ends; then they leave the memory alone. */
#ifndef HA_ADAPTERS_DLPACK_H
#define HA_ADAPTERS_DLPACK_H

#include <Python.h>

#include <stdint.h>

#include "adapters/message.h"
#include "adapters/take.h"
#include "adapters/types.h"

enum ha_dl_device_type {
    HA_DL_CPU = 1,
    HA_DL_CUDA_HOST = 3,
    HA_DL_ROCM = 10,
    HA_DL_ROCM_HOST = 11,
    HA_DL_CUDA_MANAGED = 13,
};

#define HA_DL_READ_ONLY 1u
#define HA_DL_COPIED 2u

#define HA_DL_MAJOR 1u
#define HA_DL_MINOR 3u

struct ha_dl_device {
    int32_t type;
    int32_t id;
};

struct ha_dl_tensor {
    void *data;
    struct ha_dl_device device;
    int32_t ndim;
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL = C order, from producers before 1.2 */
    uint64_t byte_offset;
};

struct ha_dl_legacy {
    struct ha_dl_tensor tensor;
    void *manager;
    void (*deleter)(struct ha_dl_legacy *); /* or NULL */
};

struct ha_dl_version {
    uint32_t major;
    uint32_t minor;
};

/* Of another major version only `version`, `manager` and `deleter` may be looked at. */
struct ha_dl_versioned {
    struct ha_dl_version version;
    void *manager;
    void (*deleter)(struct ha_dl_versioned *); /* or NULL */
    uint64_t flags;
    struct ha_dl_tensor tensor;
};

/* What __dlpack_c_exchange_api__ of a type points to, for as long as the process lives.
 * Each function gives 0, or -1 with a Python exception. */
struct ha_dl_exchange {
    struct ha_dl_version version;
    struct ha_dl_exchange *previous; /* for consumers of an older major version */
    int (*allocate)(struct ha_dl_tensor *prototype, struct ha_dl_versioned **out,
                    void *context,
                    void (*fail)(void *context, const char *kind, const char *text));
    int (*managed_from)(void *object, struct ha_dl_versioned **out);
    int (*managed_to)(struct ha_dl_versioned *stolen, void **out_object);
    int (*tensor_from)(void *object, struct ha_dl_tensor *out); /* or NULL */
    int (*work_stream)(int32_t device_type, int32_t device_id, void **out_stream);
};

_Static_assert(sizeof(struct ha_dl_tensor) == 48, "layout of DLPack");
_Static_assert(sizeof(struct ha_dl_legacy) == 64, "layout of DLPack");
_Static_assert(sizeof(struct ha_dl_versioned) == 80, "layout of DLPack");
_Static_assert(sizeof(struct ha_dl_exchange) == 56, "layout of DLPack");
_Static_assert(sizeof(int64_t) == sizeof(Py_ssize_t), "64-bit only");

#define HA_DL_LEGACY_NAME "dltensor"
#define HA_DL_VERSIONED_NAME "dltensor_versioned"
#define HA_DL_USED_LEGACY_NAME "used_dltensor"
#define HA_DL_USED_VERSIONED_NAME "used_dltensor_versioned"
#define HA_DL_EXCHANGE_NAME "dlpack_exchange_api"

/* The exchange table in the type of `object`, of a version that is understood; NULL
 * where there is none.  Borrowed; no exception. */
const struct ha_dl_exchange *ha_dl_table_of(struct ha_types *types, PyObject *object);
/* The same, but NULL for objects whose elements are not what is in their memory. */
const struct ha_dl_exchange *ha_dl_exchange_of(struct ha_types *types,
                                               PyObject *object);

/* An object that calls the deleter when it goes.  At most one of the two is there, and
 * is stolen; without one, ha_dl_keep may give it later. */
PyObject *ha_dl_keeper(struct ha_types *types, struct ha_dl_legacy *legacy,
                       struct ha_dl_versioned *versioned);
void ha_dl_keep(PyObject *empty, struct ha_dl_legacy *legacy,
                struct ha_dl_versioned *versioned);

/* Address, size and shape from a tensor into the view and shape of `take`: 1, or -1. */
int ha_dl_take_tensor(struct ha_take *take, const struct ha_dl_tensor *tensor,
                      bool readonly);

/* Whether the version is understood: 0, or BufferError and -1. */
int ha_dl_check_version(const struct ha_where *where,
                        const struct ha_dl_versioned *managed);
/* The managed tensor in an unused capsule, borrowed: 0, or -1 with BufferError. */
int ha_dl_open_capsule(const struct ha_where *where, PyObject *capsule,
                       struct ha_dl_legacy **legacy,
                       struct ha_dl_versioned **versioned);
/* Lets a capsule go that __dlpack__ has made for us, which is stolen.  The deleter of
 * an unused tensor is called, by the capsule's destructor or, without one, here. */
void ha_dl_drop_capsule(struct ha_types *types, PyObject *stolen);
/* The tensor of an object by the table of its type, in a keeper: owned, or NULL with an
 * exception. */
PyObject *ha_dl_ask_exchange(struct ha_types *types,
                             const struct ha_dl_exchange *exchange,
                             const struct ha_where *where, PyObject *object,
                             struct ha_dl_versioned **managed);

/* The producer's current stream on a ROCm device: 0, or -1 with an exception. */
int ha_dl_work_stream(const struct ha_dl_exchange *exchange,
                      const struct ha_where *where, int device, uintptr_t *out);

/* Makes the type of keepers; 0 or -1. */
int ha_dl_init(struct ha_types *types);

/* Rows of types with an exchange table, and of objects with __dlpack__. */
int ha_take_exchange(struct ha_take *take, PyObject *object);
int ha_take_dlpack(struct ha_take *take, PyObject *object);

#endif
