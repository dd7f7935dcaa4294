/* SPDX-License-Identifier: MIT */
#include "cpu/base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/file_limit.h"
#include "cpu/base/gone.h"

#define MAGIC 0x48414950u
#define LINK_BYTES 64
#define PATH_BYTES 64
#define DESCRIPTOR_LIMIT ((uintptr_t)1 << 20) /* no memory lies below this address */

static const char *const names[HA_SHARED_KIND_COUNT] = {
    [HA_SHARED_MEMORY] = "hipadapt memory",
    [HA_SHARED_POOL] = "hipadapt pool",
    [HA_SHARED_PHYSICAL] = "hipadapt physical",
    [HA_SHARED_EVENT] = "hipadapt event",
};

int
ha_shared_file_grow(int file, uint64_t bytes)
{
    struct ha_file_limit limit;
    ha_file_limit_hold(&limit);
    int status = ftruncate(file, (off_t)bytes);
    ha_file_limit_release(&limit);
    return status;
}

int
ha_shared_file_create(enum ha_shared_kind kind, uint64_t bytes, int *file)
{
    if (bytes > INT64_MAX) {
        return EFBIG;
    }
    int made = memfd_create(names[kind], MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0) {
        return errno;
    }
    if (ha_shared_file_grow(made, bytes) != 0 ||
        fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
        int error = errno;
        close(made);
        return error;
    }
    *file = made;
    return 0;
}

/* Whether the link that the kernel keeps at `path` leads to a memfd of this kind. */
static bool
name_fits(enum ha_shared_kind kind, const char *path)
{
    char link[LINK_BYTES];
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length < 0) {
        return false;
    }
    link[length] = 0;
    const size_t before = sizeof "/memfd:" - 1;
    size_t name_length = strlen(names[kind]);
    return strncmp(link, "/memfd:", before) == 0 &&
           strncmp(link + before, names[kind], name_length) == 0 &&
           strcmp(link + before + name_length, " (deleted)") == 0;
}

bool
ha_shared_file_look(enum ha_shared_kind kind, int file, uint64_t *inode,
                    uint64_t *bytes)
{
    char path[PATH_BYTES];
    struct stat status;
    if (file < 0) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || !name_fits(kind, path) ||
        fstat(file, &status) != 0 || status.st_size < 0) {
        return false;
    }
    *inode = (uint64_t)status.st_ino;
    *bytes = (uint64_t)status.st_size;
    return true;
}

int
ha_shared_file_copy(int file)
{
    return fcntl(file, F_DUPFD_CLOEXEC, 0);
}

int
ha_shared_file_meant(const void *handle)
{
    int descriptor = -1;
    if ((uintptr_t)handle < DESCRIPTOR_LIMIT) {
        return (int)(uintptr_t)handle;
    }
    /* Read by the kernel, so that a wrong address is an answer and no fault. */
    struct iovec local = {.iov_base = &descriptor, .iov_len = sizeof descriptor};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)handle,
                           .iov_len = sizeof descriptor};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) !=
        (ssize_t)sizeof descriptor) {
        return -1;
    }
    return descriptor;
}

bool
ha_shared_file_map(int file, uint64_t offset, size_t size, struct ha_file_view *view)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = offset / page * page;
    uint64_t end = (offset + size + page - 1) / page * page;
    void *map = mmap(NULL, (size_t)(end - begin), PROT_READ | PROT_WRITE, MAP_SHARED,
                     file, (off_t)begin);
    if (map == MAP_FAILED) {
        return false;
    }
    view->map = map;
    view->map_bytes = (size_t)(end - begin);
    view->ptr = (char *)map + (offset - begin);
    return true;
}

void
ha_shared_file_unmap(struct ha_file_view *view)
{
    ha_gone_add(view->map, view->map_bytes);
    munmap(view->map, view->map_bytes);
    view->map = NULL;
}

/* ---- tickets ---- */

_Static_assert(sizeof(struct ha_ipc_ticket) == HA_TICKET_BYTES, "fits HIP's handles");

/* Protects against garbage. A forger could as well write a good one. */
static uint64_t
check_of(const struct ha_ipc_ticket *ticket)
{
    const unsigned char *bytes = (const unsigned char *)ticket;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < offsetof(struct ha_ipc_ticket, check); i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

bool
ha_ticket_write(struct ha_ipc_ticket *ticket, enum ha_shared_kind kind, int file,
                const struct ha_shared_part *part)
{
    uint64_t inode;
    uint64_t bytes;
    if (!ha_shared_file_look(kind, file, &inode, &bytes)) {
        return false;
    }
    memset(ticket, 0, sizeof *ticket);
    ticket->magic = MAGIC;
    ticket->kind = (uint32_t)kind;
    ticket->process = (int32_t)getpid();
    ticket->descriptor = file;
    ticket->inode = inode;
    ticket->part = *part;
    ticket->check = check_of(ticket);
    return true;
}

/* Whether these are the bytes of a ticket. */
static bool
is_ticket(const struct ha_ipc_ticket *ticket, enum ha_shared_kind kind)
{
    return ticket->magic == MAGIC && ticket->kind == (uint32_t)kind &&
           ticket->check == check_of(ticket) && ticket->process > 0 &&
           ticket->descriptor >= 0 && ticket->part.size > 0 &&
           ticket->part.place % sizeof(uint64_t) == 0 && ticket->part.serial != 0;
}

bool
ha_ticket_fits(const struct ha_ipc_ticket *ticket, enum ha_shared_kind kind, int file)
{
    uint64_t inode;
    uint64_t bytes;
    return is_ticket(ticket, kind) && ha_shared_file_look(kind, file, &inode, &bytes) &&
           inode == ticket->inode && ticket->part.size <= bytes &&
           ticket->part.offset <= bytes - ticket->part.size;
}

bool
ha_ticket_is_valid(const struct ha_ipc_ticket *ticket, int file)
{
    uint64_t serial;
    return ticket->part.place <= INT64_MAX - sizeof serial &&
           pread(file, &serial, sizeof serial, (off_t)ticket->part.place) ==
               (ssize_t)sizeof serial &&
           serial == ticket->part.serial;
}

enum ha_ticket_result
ha_ticket_open(const struct ha_ipc_ticket *ticket, enum ha_shared_kind kind, int *file)
{
    char path[PATH_BYTES];
    if (!is_ticket(ticket, kind)) {
        return HA_TICKET_BAD;
    }
    if (ticket->process == (int32_t)getpid()) {
        return HA_TICKET_OWN;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", ticket->process, ticket->descriptor);
    if (!name_fits(kind, path)) {
        return HA_TICKET_GONE;
    }
    int opened = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (opened < 0) {
        return HA_TICKET_GONE;
    }
    struct stat status;
    /* The kernel lets root open files of any user, which the bytes of a ticket are no
     * reason to do. */
    if (fstat(opened, &status) != 0 || status.st_uid != geteuid() ||
        !ha_ticket_fits(ticket, kind, opened)) {
        close(opened);
        return HA_TICKET_GONE;
    }
    *file = opened;
    return HA_TICKET_OPEN;
}
