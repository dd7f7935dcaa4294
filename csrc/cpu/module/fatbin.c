/* SPDX-License-Identifier: MIT */
#include "cpu/module/fatbin.h"

#include <stdio.h>
#include <string.h>

#include "cpu/base/error.h"
#include "cpu/compile/image_file.h"
#include "cpu/machine/machine.h"

#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define BUNDLE_MAGIC_BYTES (sizeof BUNDLE_MAGIC - 1)
#define COMPRESSED_MAGIC "CCOB"
#define COMPRESSED_MAGIC_BYTES (sizeof COMPRESSED_MAGIC - 1)
#define HEADER_BYTES (BUNDLE_MAGIC_BYTES + sizeof(uint64_t))
#define ENTRY_BYTES (3 * sizeof(uint64_t))
#define ENTRIES_MAX 1024u
#define ID_BYTES_MAX 1024u
#define BUNDLE_BYTES_MAX (UINT64_C(1) << 40)
#define LISTED_BYTES 200

/* `size` 0 = unknown: the system is asked about each part before it is read. */
struct bundle {
    const unsigned char *bytes;
    size_t size;
};

struct bundle_entry {
    uint64_t offset;
    uint64_t size;
    uint64_t id_size;
    const char *id; /* borrowed, not terminated */
};

static bool
reaches(const struct bundle *bundle, uint64_t at, uint64_t count)
{
    return ha_image_reaches(bundle->bytes, bundle->size, at, count);
}

static hipError_t
damaged(const char *what)
{
    return ha_cpu_fail(hipErrorInvalidImage, "the fat binary is damaged: %s", what);
}

/* Reads the entry at *at and moves *at behind it. */
static hipError_t
entry_read(const struct bundle *bundle, uint64_t *at, struct bundle_entry *entry)
{
    uint64_t numbers[3];
    if (!reaches(bundle, *at, ENTRY_BYTES)) {
        return damaged("the list of its entries is cut off");
    }
    memcpy(numbers, bundle->bytes + *at, sizeof numbers);
    *at += ENTRY_BYTES;
    entry->offset = numbers[0];
    entry->size = numbers[1];
    entry->id_size = numbers[2];
    entry->id = (const char *)bundle->bytes + *at;
    if (entry->id_size > ID_BYTES_MAX || !reaches(bundle, *at, entry->id_size)) {
        return damaged("the id of an entry is cut off");
    }
    *at += entry->id_size;
    /* Where the size is not known, only the entry that is wanted is asked about. */
    uint64_t end = bundle->size != 0 ? bundle->size : BUNDLE_BYTES_MAX;
    if (entry->offset > end || entry->size > end - entry->offset) {
        return damaged("an entry lies outside of it");
    }
    return hipSuccess;
}

/* Adds the entry to the list for the message, as far as there is room. */
static void
entry_list(char listed[LISTED_BYTES], const struct bundle_entry *entry)
{
    size_t used = strlen(listed);
    size_t size = (size_t)entry->id_size;
    if (used + size + 3 > LISTED_BYTES) {
        return;
    }
    if (used > 0) {
        memcpy(listed + used, ", ", 2);
        used += 2;
    }
    memcpy(listed + used, entry->id, size);
    listed[used + size] = '\0';
}

size_t
ha_fatbin_id(char id[HA_FATBIN_ID_BYTES])
{
    int size = snprintf(id, HA_FATBIN_ID_BYTES, "hipv4-%s-hipadapt-linux-gnu--%s",
                        ha_machine.name, HA_ARCH_NAME);
    return size > 0 ? (size_t)size : 0;
}

/* Lanes of a warp in this code; 0 if it is for another device. */
static uint32_t
entry_warp_size(const struct bundle_entry *entry)
{
    char id[HA_FATBIN_ID_BYTES + sizeof HA_FATBIN_WAVE64];
    size_t plain = ha_fatbin_id(id);
    size_t size = (size_t)entry->id_size;
    (void)strcpy(id + plain, HA_FATBIN_WAVE64);
    if ((size != plain && size != strlen(id)) || memcmp(entry->id, id, size) != 0) {
        return 0;
    }
    return size == plain ? 32 : 64;
}

/* The device's entry; `*found` is false without one, and `listed` then has the entries
 * that the bundle has. */
static hipError_t
bundle_find(const struct bundle *bundle, struct bundle_entry *entry, bool *found,
            char listed[LISTED_BYTES])
{
    uint64_t count;
    uint64_t at = HEADER_BYTES;
    *found = false;
    listed[0] = '\0';
    if (!reaches(bundle, 0, HEADER_BYTES)) {
        return damaged("it has no list of entries");
    }
    memcpy(&count, bundle->bytes + BUNDLE_MAGIC_BYTES, sizeof count);
    if (count > ENTRIES_MAX) {
        return damaged("it claims too many entries");
    }
    for (uint64_t i = 0; i < count && !*found; i++) {
        *entry = (struct bundle_entry){0};
        hipError_t code = entry_read(bundle, &at, entry);
        if (code != hipSuccess) {
            return code;
        }
        *found = entry_warp_size(entry) != 0;
        if (!*found && entry->size != 0) {
            entry_list(listed, entry);
        }
    }
    return hipSuccess;
}

static hipError_t
bundle_pick(const struct bundle *bundle, const void **image, size_t *image_size)
{
    char listed[LISTED_BYTES];
    struct bundle_entry entry;
    bool found;
    hipError_t code = bundle_find(bundle, &entry, &found, listed);
    if (code != hipSuccess) {
        return code;
    }
    if (found && entry.size == 0) {
        return damaged("the code object is empty");
    }
    if (found && !reaches(bundle, entry.offset, entry.size)) {
        return damaged("the code object can't be read");
    }
    if (found) {
        *image = bundle->bytes + entry.offset;
        *image_size = (size_t)entry.size;
        return hipSuccess;
    }
    return ha_cpu_fail(hipErrorNoBinaryForGpu,
                       "the fat binary has no code for the CPU device (%s), only for: "
                       "%s; build the program with hipadapt-cc",
                       HA_ARCH_NAME, listed[0] != '\0' ? listed : "nothing");
}

hipError_t
ha_fatbin_pick(const void *bytes, size_t size, const void **image, size_t *image_size)
{
    if (ha_image_begins(bytes, size, COMPRESSED_MAGIC, COMPRESSED_MAGIC_BYTES)) {
        return ha_cpu_fail(
            hipErrorNoBinaryForGpu,
            "the fat binary is compressed, which the CPU device does not "
            "read; build it with --no-offload-compress");
    }
    if (!ha_image_begins(bytes, size, BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES)) {
        *image = bytes;
        *image_size = size;
        return hipSuccess;
    }
    const struct bundle bundle = {.bytes = bytes, .size = size};
    return bundle_pick(&bundle, image, image_size);
}

uint32_t
ha_fatbin_warp_size(const void *bytes)
{
    char listed[LISTED_BYTES];
    struct bundle_entry entry;
    bool found = false;
    if (bytes != NULL && ha_image_begins(bytes, 0, BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES)) {
        const struct bundle bundle = {.bytes = bytes};
        (void)bundle_find(&bundle, &entry, &found, listed);
    }
    return found ? entry_warp_size(&entry) : 0;
}

const void *
ha_fatbin_unwrap(const void *wrapper, size_t size)
{
    struct ha_fatbin_wrapper copy;
    const uint32_t magic = HA_FATBIN_WRAPPER_MAGIC;
    if (wrapper == NULL || !ha_image_begins(wrapper, size, &magic, sizeof magic) ||
        !ha_image_reaches(wrapper, size, 0, sizeof copy)) {
        return NULL;
    }
    memcpy(&copy, wrapper, sizeof copy);
    return copy.version == HA_FATBIN_WRAPPER_VERSION ? copy.binary : NULL;
}
