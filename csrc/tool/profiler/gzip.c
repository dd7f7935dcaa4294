/* SPDX-License-Identifier: MIT */
#include "tool/profiler/gzip.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "core/dl.h"

/* zlib's ABI, which has been this since 1.0: what zlib.h declares. */
struct z_stream {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *message;
    void *state;
    void *(*allocate)(void *, unsigned, unsigned);
    void (*release)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
};
enum {
    Z_NO_FLUSH = 0,
    Z_FINISH = 4,
    Z_OK = 0,
    Z_STREAM_END = 1,
    Z_BUF_ERROR = -5, /* nothing to do */
    Z_DEFLATED = 8,
    WINDOW_GZIP = 15 + 16,
    MEMORY_LEVEL = 8,
    LEVEL = 1,
    OUT_BYTES = 256 << 10,
};

struct ha_gzip {
    struct z_stream stream;
    int (*deflate)(struct z_stream *stream, int flush);
    int (*end)(struct z_stream *stream);
    unsigned char out[OUT_BYTES];
};

enum ha_status
ha_gzip_new(struct ha_gzip **made)
{
    struct ha_dl_tried tried = {.used = 0};
    void *library = ha_dl_open("libz.so.1", RTLD_NOW | RTLD_LOCAL, &tried);
    int (*init)(struct z_stream *stream, int level, int method, int bits, int memory,
                int strategy, const char *version, int bytes) = NULL;
    const char *(*version)(void) = NULL;

    if (library == NULL) {
        return ha_error_set(HA_ERROR_UNSUPPORTED,
                            "a .json.gz trace needs zlib, which is not here: %s; write "
                            ".json instead",
                            tried.text);
    }
    struct ha_gzip *gzip = calloc(1, sizeof *gzip);
    if (gzip == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "no memory for zlib");
    }
    *(void **)&init = dlsym(library, "deflateInit2_");
    *(void **)&version = dlsym(library, "zlibVersion");
    *(void **)&gzip->deflate = dlsym(library, "deflate");
    *(void **)&gzip->end = dlsym(library, "deflateEnd");
    if (init == NULL || version == NULL || gzip->deflate == NULL || gzip->end == NULL ||
        init(&gzip->stream, LEVEL, Z_DEFLATED, WINDOW_GZIP, MEMORY_LEVEL, 0, version(),
             (int)sizeof gzip->stream) != Z_OK) {
        free(gzip);
        return ha_error_set(HA_ERROR_UNSUPPORTED, "libz.so.1 does not start");
    }
    *made = gzip;
    return HA_OK;
}

bool
ha_gzip_write(struct ha_gzip *gzip, const void *bytes, size_t size, bool last,
              bool (*put)(void *context, const void *bytes, size_t size), void *context)
{
    struct z_stream *stream = &gzip->stream;
    int code = Z_OK;

    stream->next_in = bytes;
    do {
        if (stream->avail_in == 0) {
            stream->avail_in = size < INT_MAX ? (unsigned)size : (unsigned)INT_MAX;
            size -= stream->avail_in;
        }
        stream->next_out = gzip->out;
        stream->avail_out = OUT_BYTES;
        code = gzip->deflate(stream, last && size == 0 ? Z_FINISH : Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
            return false;
        }
        if (!put(context, gzip->out, OUT_BYTES - stream->avail_out)) {
            return false;
        }
    } while (stream->avail_in > 0 || size > 0 || stream->avail_out == 0 ||
             (last && code == Z_OK));
    return !last || code == Z_STREAM_END;
}

void
ha_gzip_free(struct ha_gzip *gzip)
{
    if (gzip != NULL) {
        (void)gzip->end(&gzip->stream);
        free(gzip);
    }
}
