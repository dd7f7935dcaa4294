/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_tree.h"

#include <stddef.h>

struct ha_record *
ha_tree_floor(struct ha_record *root, uintptr_t at)
{
    struct ha_record *best = NULL;

    while (root != NULL) {
        if (root->base <= at) {
            best = root;
            root = root->right;
        } else {
            root = root->left;
        }
    }
    return best;
}

struct ha_record *
ha_tree_above(struct ha_record *root, uintptr_t at)
{
    struct ha_record *best = NULL;

    while (root != NULL) {
        if (root->base > at) {
            best = root;
            root = root->left;
        } else {
            root = root->right;
        }
    }
    return best;
}

struct ha_record *
ha_tree_holder(struct ha_record *root, uintptr_t at)
{
    struct ha_record *record = ha_tree_floor(root, at);
    return record != NULL && at - record->base < record->bytes ? record : NULL;
}

uint64_t
ha_record_distance(const struct ha_record *record, uintptr_t at, uint64_t bytes)
{
    uintptr_t end = record->base + record->bytes;

    if (at >= end) {
        return at - end;
    }
    return at + bytes <= record->base ? record->base - (at + bytes) : 0;
}

/* All below `at` to *left, the rest to *right. */
static void
split(struct ha_record *root, uintptr_t at, struct ha_record **left,
      struct ha_record **right)
{
    while (root != NULL) {
        if (root->base < at) {
            *left = root;
            left = &root->right;
            root = root->right;
        } else {
            *right = root;
            right = &root->left;
            root = root->left;
        }
    }
    *left = NULL;
    *right = NULL;
}

void
ha_tree_insert(struct ha_record **root, struct ha_record *record)
{
    /* A hash of the address is random enough. */
    record->priority =
        (uint32_t)((record->base >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    while (*root != NULL && (*root)->priority >= record->priority) {
        root = record->base < (*root)->base ? &(*root)->left : &(*root)->right;
    }
    split(*root, record->base, &record->left, &record->right);
    *root = record;
}

void
ha_tree_remove(struct ha_record **root, struct ha_record *record)
{
    while (*root != record) {
        root = record->base < (*root)->base ? &(*root)->left : &(*root)->right;
    }
    struct ha_record *left = record->left;
    struct ha_record *right = record->right;
    while (left != NULL && right != NULL) {
        if (left->priority >= right->priority) {
            *root = left;
            root = &left->right;
            left = left->right;
        } else {
            *root = right;
            root = &right->left;
            right = right->left;
        }
    }
    *root = left != NULL ? left : right;
}
