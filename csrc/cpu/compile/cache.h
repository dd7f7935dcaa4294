/* SPDX-License-Identifier: MIT */
/* Compiled kernels on disk, by a hash of everything that went into them.
 *
 * The folder is HIPADAPT_CACHE_DIR, else $XDG_CACHE_HOME/hipadapt, else
 * ~/.cache/hipadapt; it is used only if it belongs to this user and nobody else may
 * enter it, and not at all in a set-uid process or with HIPADAPT_CACHE=0.  It holds one
 * file a key, `<hex>.kernel`, `<hex>.prelude` or `<hex>.object`, and the file `lock`.
 * A file that fails its checks is a miss and is written anew, so nothing waits for the
 * disk.  Old files go when there are more than HIPADAPT_CACHE_SIZE MiB; a hit makes a
 * file young.
 *
 *     0   magic "HACACHE1"            96  payload:
 *     8   payload size, 64 bits           block log
 *     16  key                             u32 count, names: u32 present, block
 *     48  sha256 of the payload           u32 count, files read: block path, sha256
 *     80  zeros                           u32 count, paths that were absent: block path
 *                                         block image
 *
 * A block is a u32 size and that many bytes; numbers are in host order, since the key
 * holds the host.  Nothing here fails the caller: a cache that does not work is a cache
 * that is empty.  Any number of processes and threads may work on one folder. */
#ifndef HA_CPU_COMPILE_CACHE_H
#define HA_CPU_COMPILE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/compile/buffer.h"
#include "cpu/compile/compile_result.h"

#define HA_CACHE_KEY_BYTES 32

/* What an entry's image is; the end of its name. */
enum ha_cache_kind {
    HA_CACHE_KERNEL,
    HA_CACHE_PRELUDE, /* cpu/compile/prelude.h */
    HA_CACHE_OBJECT,  /* cpu/compile/objects.h */
};

/* What a compilation found outside the program and outside our headers: an entry holds
 * only while these files have these contents and those paths still lead nowhere. */
struct ha_cache_inputs {
    struct ha_list files;
    struct ha_bytes hashes; /* 32 bytes a file */
    struct ha_list absent;
};
void ha_cache_inputs_release(struct ha_cache_inputs *inputs);

/* True if there is an entry that still holds; `result` then is as ha_compile leaves it.
 */
bool ha_cache_load(enum ha_cache_kind kind, const uint8_t key[HA_CACHE_KEY_BYTES],
                   struct ha_compile_result *result);
void ha_cache_store(enum ha_cache_kind kind, const uint8_t key[HA_CACHE_KEY_BYTES],
                    const struct ha_compile_result *result,
                    const struct ha_cache_inputs *inputs);

/* Keeps other processes and threads from compiling the same key at the same time. Waits
 * until `deadline_ns` at most, or until `interrupted`; gives a descriptor for
 * ha_cache_unlock, or -1: then compile without. */
int ha_cache_lock(const uint8_t key[HA_CACHE_KEY_BYTES], uint64_t deadline_ns,
                  bool (*interrupted)(void));
void ha_cache_unlock(int lock);

#endif
