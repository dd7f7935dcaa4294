/* SPDX-License-Identifier: MIT */
#include "core/readable.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No system has smaller pages; where they are larger, more is asked than need be. */
#define PAGE_BYTES ((uintptr_t)4096)
#define SIGNAL_SET_BYTES ((size_t)8) /* the kernel's sigset_t */
#define NO_SUCH_HOW (-1)

/* The kernel copies the new set from the address before it looks at what to do with it;
 * with a wrong order nothing is changed.  Unlike process_vm_readv and pipes, this needs
 * neither a right nor a file. */
static bool
is_page_readable(uintptr_t address)
{
    const uintptr_t aligned = address & ~(uintptr_t)(SIGNAL_SET_BYTES - 1);
    return syscall(SYS_rt_sigprocmask, NO_SUCH_HOW, aligned, NULL, SIGNAL_SET_BYTES) ==
               0 ||
           errno != EFAULT;
}

bool
ha_memory_readable(const void *address, size_t bytes)
{
    uintptr_t begin = (uintptr_t)address;
    uintptr_t last;
    if (bytes == 0) {
        return true;
    }
    if (ha_memory_impossible(address) ||
        __builtin_add_overflow(begin, bytes - 1, &last)) {
        return false;
    }
    int saved = errno;
    bool readable = is_page_readable(begin);
    uintptr_t page = begin & ~(PAGE_BYTES - 1);
    while (readable && last - page >= PAGE_BYTES) {
        page += PAGE_BYTES;
        readable = is_page_readable(page);
    }
    errno = saved;
    return readable;
}

bool
ha_text_readable(const char *text, size_t *length)
{
    const char *at = text;
    for (;;) {
        size_t rest = PAGE_BYTES - ((uintptr_t)at & (PAGE_BYTES - 1));
        if (!ha_memory_readable(at, 1)) {
            return false;
        }
        const char *end = memchr(at, '\0', rest);
        if (end != NULL) {
            *length = (size_t)(end - text);
            return true;
        }
        at += rest;
    }
}
