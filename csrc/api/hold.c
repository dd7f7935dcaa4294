/* SPDX-License-Identifier: MIT */
#include "api/hold.h"

#include "adapters/freeze.h"
#include "adapters/launch_data.h"
#include "adapters/view.h"
#include "api/api.h"
#include "api/keep.h"
#include "api/pending.h"
#include "api/provider.h"

static bool
holds(const struct ha_view *view)
{
    return view->owner != NULL || view->has_buffer;
}

static void
tell_kept(const void *dst, const void *src)
{
    const struct ha_provider *provider = ha_provider_loaded();

    if (provider != NULL && provider->keeps != NULL) {
        provider->keeps(dst, src);
    }
}

void
ha_hold_begin(const struct ha_view *dst, const struct ha_view *src)
{
    tell_kept(holds(dst) ? dst->ptr : NULL, holds(src) ? src->ptr : NULL);
}

void
ha_hold_end(void)
{
    tell_kept(NULL, NULL);
}

static void
tell_image(const void *image, Py_ssize_t bytes)
{
    const struct ha_provider *provider = ha_provider_loaded();

    if (provider != NULL && provider->image_size != NULL) {
        provider->image_size(image, (size_t)bytes);
    }
}

void
ha_hold_image(const struct ha_view *image)
{
    if (image->size >= 0) {
        tell_image(image->ptr, image->size);
    }
}

void
ha_hold_image_end(void)
{
    tell_image(NULL, 0);
}

int
ha_hold_views(struct ha_api *api, hipStream_t stream, struct ha_view *const *views,
              int count)
{
    PyObject *held = NULL;
    int used = 0;

    for (int i = 0; i < count; i++) {
        used += holds(views[i]);
    }
    if (used == 0) {
        return 0;
    }
    held = PyTuple_New(used);
    if (held == NULL) {
        return -1;
    }
    used = 0;
    for (int i = 0; i < count; i++) {
        if (!holds(views[i])) {
            continue;
        }
        PyObject *one = ha_view_freeze(&api->types, views[i]);
        if (one == NULL) {
            Py_DECREF(held);
            return -1;
        }
        PyTuple_SET_ITEM(held, used++, one);
    }
    return ha_pending_add(api, stream, held);
}

int
ha_hold_launch(struct ha_api *api, hipStream_t stream,
               struct ha_launch_arguments *launch)
{
    if (launch->owners == NULL && !holds(&launch->view)) {
        return 0;
    }
    PyObject *held = ha_launch_hold(&api->types, launch);
    return held != NULL ? ha_pending_add(api, stream, held) : -1;
}

int
ha_hold_kept(struct ha_api *api, hipStream_t stream, const void *address)
{
    PyObject *held = ha_keep_of(api, address);

    return held != NULL ? ha_pending_add(api, stream, held) : 0;
}

int
ha_hold_on_each(struct ha_api *api, size_t offset, size_t stride, long long count,
                struct ha_view *view)
{
    const char *records = view->ptr;
    int result = 0;

    /* What is behind a bare address is the caller's business. */
    if (records == NULL || view->size < 0 || !holds(view)) {
        return 0;
    }
    if (count > view->size / (Py_ssize_t)stride) {
        count = view->size / (Py_ssize_t)stride;
    }
    PyObject *held = ha_view_freeze(&api->types, view);
    if (held == NULL) {
        return -1;
    }
    for (long long i = 0; result == 0 && i < count; i++) {
        const char *at = records + (size_t)i * stride + offset;
        result = ha_pending_add(api, *(const hipStream_t *)at, Py_NewRef(held));
    }
    Py_DECREF(held);
    return result;
}
