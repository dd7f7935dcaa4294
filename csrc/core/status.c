/* SPDX-License-Identifier: MIT */
#include "core/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 2048

/* Owned by the thread; freed when it ends.  A pointer, and not the text itself, because
 * the device library is loaded late, when little thread-local room is left. */
static _Thread_local char *error_text;
static _Thread_local bool out_of_memory; /* there was a text, but no room for it */
static pthread_key_t text_key;           /* only for its destructor */
static bool text_key_made;
static pthread_once_t text_key_once = PTHREAD_ONCE_INIT;

static void
text_free(void *text)
{
    error_text = NULL;
    free(text);
}

static void
text_key_make(void)
{
    text_key_made = pthread_key_create(&text_key, text_free) == 0;
}

static char *
text_of_thread(void)
{
    if (error_text == NULL) {
        (void)pthread_once(&text_key_once, text_key_make);
        char *text = text_key_made ? calloc(1, TEXT_BYTES) : NULL;
        if (text != NULL && pthread_setspecific(text_key, text) != 0) {
            free(text);
            text = NULL;
        }
        error_text = text;
    }
    return error_text;
}

enum ha_status
ha_error_set(enum ha_status status, const char *format, ...)
{
    char text[TEXT_BYTES]; /* the arguments may point into error_text */
    va_list values;

    va_start(values, format);
    int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (length < 0) {
        text[0] = '\0';
    }
    char *kept = text_of_thread();
    out_of_memory = kept == NULL;
    if (kept != NULL) {
        (void)memcpy(kept, text, strlen(text) + 1);
    }
    return status;
}

const char *
ha_error_text(void)
{
    if (out_of_memory) {
        return "no memory for the text of an error";
    }
    return error_text != NULL ? error_text : "";
}
