/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4), for cache keys and image checks. */
#ifndef HA_CORE_SHA256_H
#define HA_CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define HA_SHA256_BYTES 32
#define HA_SHA256_HEX_BYTES 65 /* with the final NUL */

struct ha_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
};

void ha_sha256_init(struct ha_sha256 *hash);
void ha_sha256_update(struct ha_sha256 *hash, const void *data, size_t size);
/* Ends the hash; it must be initialised anew before the next use. */
void ha_sha256_final(struct ha_sha256 *hash, uint8_t out[HA_SHA256_BYTES]);

/* All three in one. */
void ha_sha256(const void *data, size_t size, uint8_t out[HA_SHA256_BYTES]);

/* Lower case hexadecimal. */
void ha_sha256_hex(const uint8_t digest[HA_SHA256_BYTES],
                   char text[HA_SHA256_HEX_BYTES]);

#endif
