/* SPDX-License-Identifier: MIT */
/* A table as IR: the structs of cpu/base/proof.h, field by field. */
#include "cpu/compile/proof/proof_build.h"

#define NODE "{ i16, i16, i32, i32, i32, i32, i32, i64 }"
#define CONTEXT "{ i32, i32, i32 }"
#define EDGE "{ i32, i32 }"
#define LOOP "{ i32, i32, i32, i32 }"
#define ROOT "{ i32, i32, i64, ptr, i64 }"
#define ACCESS "{ i32, i32, i32, i32, i32, i32, i32, i32, i64, i64 }"

static void
begin(struct ir_out *out, const char *name, uint32_t row, uint32_t count,
      const char *type)
{
    ir_print(out, "@__ha_proof_%s.%u = internal constant [%u x %s] %s", name, row,
             count, type, count > 0 ? "[" : "zeroinitializer\n");
}

static void
end(struct ir_out *out, uint32_t count)
{
    if (count > 0) {
        ir_print(out, "]\n");
    }
}

static void
write_nodes(const struct proof_table *table, uint32_t row, struct ir_out *out)
{
    begin(out, "nodes", row, table->node_count, NODE);
    for (uint32_t i = 0; i < table->node_count; i++) {
        const struct ha_proof_node *node = &table->nodes[i];
        ir_print(out,
                 "%s" NODE " { i16 %u, i16 %u, i32 %u, i32 %u, i32 %u, i32 %u, i32 %u, "
                 "i64 %lld }",
                 i > 0 ? ", " : "", node->op, node->bits, node->a, node->b, node->c,
                 node->loop, node->disjoint, (long long)node->number);
    }
    end(out, table->node_count);
}

static void
write_places(const struct proof_table *table, uint32_t row, struct ir_out *out)
{
    begin(out, "contexts", row, table->context_count, CONTEXT);
    for (uint32_t i = 0; i < table->context_count; i++) {
        const struct ha_proof_context *context = &table->contexts[i];
        ir_print(out, "%s" CONTEXT " { i32 %u, i32 %u, i32 %u }", i > 0 ? ", " : "",
                 context->around, context->condition, context->wanted);
    }
    end(out, table->context_count);
    begin(out, "edges", row, table->edge_count, EDGE);
    for (uint32_t i = 0; i < table->edge_count; i++) {
        ir_print(out, "%s" EDGE " { i32 %u, i32 %u }", i > 0 ? ", " : "",
                 table->edges[i].value, table->edges[i].context);
    }
    end(out, table->edge_count);
    begin(out, "loops", row, table->loop_count, LOOP);
    for (uint32_t i = 0; i < table->loop_count; i++) {
        const struct ha_proof_loop *loop = &table->loops[i];
        ir_print(out, "%s" LOOP " { i32 %u, i32 %u, i32 %u, i32 %u }",
                 i > 0 ? ", " : "", loop->around, loop->begin, loop->again,
                 loop->in_step);
    }
    end(out, table->loop_count);
}

static void
write_roots(const struct proof_table *table, uint32_t row, struct ir_out *out)
{
    begin(out, "roots", row, table->root_count, ROOT);
    for (uint32_t i = 0; i < table->root_count; i++) {
        const struct ha_proof_root *root = &table->roots[i];
        struct ir_slice name = table->root_names[i];
        ir_print(out, "%s" ROOT " { i32 %u, i32 %u, i64 %llu, ptr %.*s, i64 %llu }",
                 i > 0 ? ", " : "", root->kind, root->argument,
                 (unsigned long long)root->bytes,
                 IR_ARGS(name.size > 0 ? name : ir_slice_of("null")),
                 (unsigned long long)root->offset);
    }
    end(out, table->root_count);
}

static void
write_accesses(const struct proof_table *table, uint32_t row, struct ir_out *out)
{
    begin(out, "accesses", row, table->access_count, ACCESS);
    for (uint32_t i = 0; i < table->access_count; i++) {
        const struct ha_proof_access *access = &table->accesses[i];
        ir_print(out,
                 "%s" ACCESS " { i32 %u, i32 %u, i32 %u, i32 %u, i32 %u, i32 %u, "
                 "i32 %u, i32 %u, i64 %llu, i64 %llu }",
                 i > 0 ? ", " : "", access->address, access->context, access->root,
                 access->what, access->bytes, access->loop, access->crosses,
                 access->line, (unsigned long long)access->after,
                 (unsigned long long)access->behind);
    }
    end(out, table->access_count);
}

void
ha_proof_write(const struct proof_table *table, uint32_t row, struct ir_out *out)
{
    write_nodes(table, row, out);
    write_places(table, row, out);
    write_roots(table, row, out);
    write_accesses(table, row, out);
    ir_print(
        out,
        "@__ha_proof.%u = internal constant { ptr, ptr, ptr, ptr, ptr, ptr, ptr, "
        "i32, i32, i32, i32, i32, i32, i32 } { ptr @__ha_plain.%u, ptr "
        "@__ha_proof_nodes.%u, ptr @__ha_proof_contexts.%u, ptr "
        "@__ha_proof_edges.%u, ptr @__ha_proof_loops.%u, ptr @__ha_proof_roots.%u, "
        "ptr @__ha_proof_accesses.%u, i32 %u, i32 %u, i32 %u, i32 %u, i32 %u, i32 "
        "%u, i32 %u }\n",
        row, row, row, row, row, row, row, row, table->node_count, table->context_count,
        table->edge_count, table->loop_count, table->root_count, table->access_count,
        table->parts);
}
