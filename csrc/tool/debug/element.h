/* SPDX-License-Identifier: MIT */
/* Elements of tensors as numbers and as text. */
#ifndef HA_TOOL_DEBUG_ELEMENT_H
#define HA_TOOL_DEBUG_ELEMENT_H

#include <stddef.h>

#include "core/dtype.h"

/* Every element of every dtype is one exactly; `imaginary` is 0 where it has none. */
struct ha_element {
    long double real;
    long double imaginary;
};

enum { HA_ELEMENT_TEXT = 80 }; /* bytes for any text below */

/* `at` needs no alignment. */
struct ha_element ha_element_load(const struct ha_dtype *dtype, const void *at);

/* As few digits as tell it from its neighbours: 0.1, -3, True, 1+2j, nan. */
void ha_element_text(const struct ha_dtype *dtype, const struct ha_element *element,
                     char text[HA_ELEMENT_TEXT]);

#endif
