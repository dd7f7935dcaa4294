/* SPDX-License-Identifier: MIT */
/* Files in memory that several processes map, and how a file gets from one to another.
 *
 * A *shared file* is a memfd whose name says what is in it and which is sealed against
 * shrinking, so that no process can take pages away from under another that has mapped
 * it.  It travels in two ways:
 *
 * - as a file descriptor that the program passes on itself (HIP's POSIX handles);
 * - as a *ticket*, which is plain bytes: process, descriptor and inode of the file. The
 *   other side opens /proc/<process>/fd/<descriptor>.  The kernel allows that to the
 *   same user and to root, and only while the process lives; files of other users are
 *   refused to root here.  The inode shows whether it is still the same file, and a
 *   number in the file whether the ticket's part still exists.
 *
 * A file is looked at before it is used: it must be a memfd of ours with the right name
 * and seal.  Anything else is refused before it is opened for writing.
 *
 * Locks: none. Descriptors that are given out are owned by the caller and
 * close-on-exec.
 */
#ifndef HA_CPU_BASE_SHARED_FILE_H
#define HA_CPU_BASE_SHARED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ha_shared_kind {
    HA_SHARED_MEMORY = 1, /* a span of allocations */
    HA_SHARED_POOL,       /* a memory pool */
    HA_SHARED_PHYSICAL,   /* an allocation of hipMemCreate */
    HA_SHARED_EVENT,      /* the state of an event */
    HA_SHARED_KIND_COUNT,
};

#define HA_TICKET_BYTES 64

/* The part of a file that a ticket is for. It exists as long as the number at `place`
 * in the file is `serial`. No other part of the file ever has the same number there. */
struct ha_shared_part {
    uint64_t offset;
    uint64_t size;
    uint64_t place;  /* a multiple of 8 */
    uint64_t serial; /* not 0 */
};

/* A part of a shared file, for another process; the bytes of HIP's IPC handles. */
struct ha_ipc_ticket {
    uint32_t magic;
    uint32_t kind;
    int32_t process;
    int32_t descriptor;
    uint64_t inode;
    struct ha_shared_part part;
    uint64_t check; /* of the bytes before it */
};

/* A new file of `bytes` bytes of 0; 0, or the number of an error. */
int ha_shared_file_create(enum ha_shared_kind kind, uint64_t bytes, int *file);

/* ftruncate to a size of at most INT64_MAX, past the limit of the process too: that is
 * EFBIG and no signal. */
int ha_shared_file_grow(int file, uint64_t bytes);

/* The inode and the size of a shared file of this kind; false if it is none. */
bool ha_shared_file_look(enum ha_shared_kind kind, int file, uint64_t *inode,
                         uint64_t *bytes);

/* Another descriptor of the file, or -1 (errno says why). */
int ha_shared_file_copy(int file);

/* The descriptor that a program means by the `void *` of an import call: the number
 * itself or the address of an int, since HIP's documentation leaves that open and
 * programs do both; -1 if it is neither. Borrowed. */
int ha_shared_file_meant(const void *handle);

/* A part of a shared file in this process's memory. */
struct ha_file_view {
    void *ptr; /* its first byte */
    void *map; /* owned: the pages */
    size_t map_bytes;
};

/* Maps [offset, offset + size), which lies in the file; false without memory. */
bool ha_shared_file_map(int file, uint64_t offset, size_t size,
                        struct ha_file_view *view);
void ha_shared_file_unmap(struct ha_file_view *view);

/* Fills in a ticket for a part of the file; false if that is no file of the kind. */
bool ha_ticket_write(struct ha_ipc_ticket *ticket, enum ha_shared_kind kind, int file,
                     const struct ha_shared_part *part);

enum ha_ticket_result {
    HA_TICKET_OPEN, /* *file is open */
    HA_TICKET_BAD,  /* no ticket of this kind */
    HA_TICKET_OWN,  /* written by this very process */
    HA_TICKET_GONE, /* the file is not there (any more), or not for this user */
};

/* Whether the ticket is one for a part of this file. */
bool ha_ticket_fits(const struct ha_ipc_ticket *ticket, enum ha_shared_kind kind,
                    int file);

/* Whether the part of a fitting ticket is still there.  Asked when it is mapped: a part
 * that is freed after that stays valid for its users. */
bool ha_ticket_is_valid(const struct ha_ipc_ticket *ticket, int file);

/* Opens the file that the ticket is for; it has all of the ticket's part. */
enum ha_ticket_result ha_ticket_open(const struct ha_ipc_ticket *ticket,
                                     enum ha_shared_kind kind, int *file);

#endif
