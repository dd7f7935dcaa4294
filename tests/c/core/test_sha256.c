/* SPDX-License-Identifier: MIT */
/* SHA-256 against the examples of FIPS 180-4, and streaming against one piece. */
/* sources: core */
#include "check.h"
#include "core/sha256.h"

static const char *
hex_of(const void *data, size_t size)
{
    static char text[HA_SHA256_HEX_BYTES];
    uint8_t digest[HA_SHA256_BYTES];

    ha_sha256(data, size, digest);
    ha_sha256_hex(digest, text);
    return text;
}

static void
test_published_examples(void)
{
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

    CHECK_TEXT(hex_of("", 0),
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_TEXT(hex_of("abc", 3),
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_TEXT(hex_of(two_blocks, strlen(two_blocks)),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void
test_million_letters(void)
{
    size_t size = 1000000;
    char *data = malloc(size);

    CHECK(data != NULL);
    memset(data, 'a', size);
    CHECK_TEXT(hex_of(data, size),
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(data);
}

static void
test_pieces_of_any_length_give_the_same(void)
{
    uint8_t data[300];
    uint8_t whole[HA_SHA256_BYTES];
    uint8_t parts[HA_SHA256_BYTES];

    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 37 + 11);
    }
    for (size_t size = 0; size <= sizeof data; size += 1) {
        ha_sha256(data, size, whole);
        for (size_t piece = 1; piece < 131; piece += 13) {
            struct ha_sha256 hash;
            ha_sha256_init(&hash);
            for (size_t done = 0; done < size; done += piece) {
                size_t left = size - done;
                ha_sha256_update(&hash, data + done, left < piece ? left : piece);
            }
            ha_sha256_final(&hash, parts);
            CHECK(memcmp(whole, parts, sizeof whole) == 0);
        }
    }
}

int
main(void)
{
    RUN(test_published_examples);
    RUN(test_million_letters);
    RUN(test_pieces_of_any_length_give_the_same);
    return 0;
}
