/* SPDX-License-Identifier: MIT */
/* The contract between a compiled kernel image and the CPU device.
 *
 * An image is a position independent ELF shared object that cpu/compile/rewrite.c
 * describes as IR and ld.lld links.  It has no undefined symbol of ours: what it needs
 * from the device it calls through one table, `__ha_image.runtime`, which the loader
 * (cpu/module/module.c) fills in after dlopen.  It exports exactly one object of ours,
 * `__ha_image` (struct ha_image). libm and libmvec symbols are resolved from the
 * process, where the loader has made those two libraries global before.
 *
 * Vocabulary: a *lane* is one work item; a *block* is one work group; a *warp* is
 * `warp_size` consecutive lanes of a block, in linear thread order (x fastest); a
 * *site* is one barrier or warp call instruction of the image, after inlining.
 *
 * Every field offset below is written into IR text by cpu/compile/rewrite.c; change
 * both together and raise HA_IMAGE_ABI.  Static assertions at the end of this file hold
 * the layout. */
#ifndef HA_CPU_BASE_IMAGE_H
#define HA_CPU_BASE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define HA_IMAGE_ABI 9u
#define HA_IMAGE_SYMBOL "__ha_image"
/* Exported by images that were compiled with an explanation: lines about kernels, with
 * a NUL behind (cpu/compile/back_facts.h). */
#define HA_IMAGE_FACTS "__ha_facts"
/* Stands for a slash in names of files of line tables: HA_KERNEL_NUMBERS. */
#define HA_LINES_SLASH '\1'
#define HA_LOOP_DEPTH_MAX 8u /* loops around a warp site, at most */

/* Shape of one launch; read-only while the kernel runs. */
struct ha_grid {
    uint32_t block_dim[3]; /* offset  0 */
    uint32_t grid_dim[3];  /* offset 12 */
};

/* One lane as the reference executor runs it.  The executor embeds it as the first
 * member of its own lane record; images read the first four fields and write only
 * `trip`. */
struct ha_lane {
    uint32_t thread_idx[3];     /* offset  0 */
    uint32_t block_idx[3];      /* offset 12 */
    const struct ha_grid *grid; /* offset 24, borrowed from the launch */
    void *shared;               /* offset 32: the block's shared memory, static part
                                   first, dynamic part at kernel->shared_static */
    uint32_t trip[HA_LOOP_DEPTH_MAX]; /* offset 40: iteration counts of the loops that
                                         surround warp sites, outermost first */
};

/* Where a warp call stands, for the order in which diverged groups of lanes are served:
 * loops from the outermost; in a common loop the lane with fewer trips goes first; else
 * the smaller `order` (program order after the rewriter's reverse post order) goes
 * first. */
struct ha_warp_site {
    uint32_t order;
    uint32_t depth;                   /* loops around the site, <= HA_LOOP_DEPTH_MAX */
    uint32_t loop[HA_LOOP_DEPTH_MAX]; /* ids of these loops, outermost first */
};

enum ha_warp_op {
    HA_WARP_SHFL = 0,    /* value of lane `operand` of the width-segment */
    HA_WARP_SHFL_UP = 1, /* value of lane - operand, own value if outside the segment */
    HA_WARP_SHFL_DOWN =
        2, /* value of lane + operand, own value if outside the segment */
    HA_WARP_SHFL_XOR = 3, /* value of lane ^ operand, own value if in a later segment */
    HA_WARP_BALLOT = 4,   /* bit per active lane whose value is not 0 */
    HA_WARP_ANY = 5,      /* 1 if any active lane's value is not 0 */
    HA_WARP_ALL = 6,      /* 1 if every active lane's value is not 0 */
    HA_WARP_SYNC = 7,     /* rendezvous only */
    HA_WARP_ACTIVE = 8,   /* mask of the active lanes */
    HA_WARP_MATCH_ANY = 9,  /* mask of active lanes whose value equals this lane's */
    HA_WARP_MATCH_ALL = 10, /* active mask if all values are equal, else 0 */
};

/* The operand of HA_WARP_SYNC. */
enum ha_sync {
    HA_SYNC_ORDERS = 0, /* what lanes did before is ordered before what follows */
    HA_SYNC_STEP = 1,   /* only seen to be needed: the program does not ask for it */
};

enum ha_block_op {
    HA_BLOCK_SYNC = 0,  /* __syncthreads */
    HA_BLOCK_COUNT = 1, /* __syncthreads_count: lanes with value != 0 */
    HA_BLOCK_AND = 2,   /* __syncthreads_and */
    HA_BLOCK_OR = 3,    /* __syncthreads_or */
    HA_BLOCK_GRID = 4,  /* all live lanes of all blocks: cooperative launches */
    HA_BLOCK_MULTI = 5, /* of all grids: cooperative launches on several devices */
};

/* What an image may ask about its launch. */
enum ha_query {
    HA_QUERY_COOPERATIVE = 0,    /* 1 in a cooperative launch */
    HA_QUERY_SHARED_DYNAMIC = 1, /* bytes of dynamic shared memory */
    /* In a cooperative launch on several devices; 0 in any other. */
    HA_QUERY_GRID_COUNT = 2,
    HA_QUERY_GRID_RANK = 3,   /* number of this grid */
    HA_QUERY_MULTI_SIZE = 4,  /* threads of all grids */
    HA_QUERY_MULTI_FIRST = 5, /* threads of the grids before this one */
};

/* A tensor that a lane sends to a debug stream; the layout is in the device header
 * hipadapt/debug_tensor.h. */
struct ha_image_tensor {
    const char *prefix;
    const char *dtype; /* numpy's name */
    const void *data;
    uint32_t pipe;
    uint32_t dimensions;
    uint64_t shape[8];
};

/* What an access of a program under check does: bits, with the logarithm of the
 * alignment that it relies on in the upper half. */
enum ha_site_bits {
    HA_SITE_READ = 1 << 0,
    HA_SITE_WRITE = 1 << 1,
    HA_SITE_ATOMIC = 1 << 2,
    HA_SITE_VOLATILE = 1 << 3,
    HA_SITE_ACQUIRE = 1 << 4,
    HA_SITE_RELEASE = 1 << 5,
    HA_SITE_FENCE = 1 << 6,        /* no access */
    HA_SITE_COPY = 1 << 7,         /* a part of a memcpy, memmove, memset or memcmp */
    HA_SITE_VALUED = 1 << 12,      /* the value that is stored is told */
    HA_SITE_MEETS = 1 << 15,       /* no access: a barrier or warp call comes next */
    HA_SITE_EXCHANGE = 1 << 13,    /* it stores where there is the value that is told */
    HA_SITE_UNWRITTEN = 1 << 14,   /* no access: what is decided here depends on memory
                                      that nobody wrote; the value is its origin */
    HA_SITE_SCOPE_DEVICE = 1 << 8, /* none of these: all that there is */
    HA_SITE_SCOPE_BLOCK = 2 << 8,
    HA_SITE_SCOPE_WARP = 3 << 8,
    HA_SITE_SCOPE_LANE = 4 << 8,
    HA_SITE_SCOPE_MASK = 7 << 8,
    HA_SITE_ALIGN_SHIFT = 16,
};

/* What the address of an access is computed from. */
enum ha_check_root {
    HA_ROOT_UNKNOWN = 0, /* memory, or several addresses */
    HA_ROOT_POINTER,     /* a parameter, or what was read from memory */
    HA_ROOT_SHARED,      /* a variable in shared memory, with these bytes */
    HA_ROOT_DYNAMIC,     /* dynamic shared memory */
    HA_ROOT_LOCAL,       /* a variable of the lane, with these bytes */
    HA_ROOT_VARIABLE,    /* __device__, with these bytes */
    HA_ROOT_CONSTANT,    /* __constant__ and literals, with these bytes */
    HA_ROOT_ARGUMENT,    /* a record of the kernel's arguments, with these bytes */
};

/* Where an access of a program under check stands; a constant of the image. */
struct ha_check_site {
    const char *file;      /* offset  0: these four never NULL */
    const char *function;  /* offset  8: that it stands in */
    const char *text;      /* offset 16: of the line, or empty */
    const char *root_name; /* offset 24: of the variable, or empty */
    uint64_t root_bytes;   /* offset 32 */
    uint32_t line, column; /* offset 40: 0: not known */
    uint32_t what;         /* offset 48: enum ha_site_bits */
    uint32_t root;         /* offset 52: enum ha_check_root */
    uint32_t bytes;        /* offset 56: of the access; 0: it depends */
    uint32_t reserved;
};

/* Shadow memory, for programs that are checked for what nobody wrote
 * (cpu/compile/shadow_insert.h): a byte for each byte, whose bits are 1 where those of
 * the memory have no value, and a number for each four bytes, aligned, that says where
 * they come from (cpu/memory/shadow_origin.h). */
struct ha_image_shadow {
    void *bits;
    void *origins; /* aligned to 4 bytes */
};

enum ha_shadow_op {
    HA_SHADOW_COPY = 0, /* what `from` has goes to `to`, as memmove does */
    HA_SHADOW_FILL,     /* `value` is 0, or an origin for what has no value now */
    HA_SHADOW_ORIGIN,   /* `value` is the origin of what has no value */
    HA_SHADOW_COMPUTED, /* what has no value there was computed, not copied */
    HA_SHADOW_NAME,     /* the answer is an origin: variable `from` of a lane */
    /* Around an atomic access: `value` is enum ha_shadow_atomic, and then whether it
     * has stored. */
    HA_SHADOW_ATOMIC,
    HA_SHADOW_ATOMIC_DONE,
};

/* The bit of an origin that HA_SHADOW_COMPUTED sets. */
#define HA_SHADOW_COMPUTED_BIT ((uint32_t)1 << 31)

/* What a bit of an atomic result depends on. */
enum ha_shadow_atomic {
    HA_ATOMIC_VALUE,    /* its operand: an exchange */
    HA_ATOMIC_BITS,     /* the same bit of both */
    HA_ATOMIC_LOWER,    /* bits that are no higher: a sum */
    HA_ATOMIC_ALL,      /* all bits */
    HA_ATOMIC_COMPARED, /* its operand, if it is stored */
};

/* What calls of a lane hand over: the layout is that of LLVM's pass for memory without
 * values in kernels. */
struct ha_shadow_calls {
    uint64_t params[100]; /* offset    0: bits of arguments, aligned to 8 bytes */
    uint64_t result[100]; /* offset  800 */
    uint64_t unused[201];
    uint32_t param_origins[200]; /* offset 3208 */
    uint32_t result_origin;      /* offset 4008 */
    uint32_t unused_origin;
    uint64_t pending; /* offset 4016: bits that an atomic access is going to leave */
    uint32_t pending_origin;
    uint32_t pending_compared;
    uint64_t pending_old;
};

/* What the device gives to an image.  One constant instance lives in
 * cpu/exec/image_runtime.c. */
struct ha_image_runtime {
    /* The lane that this thread is running; never NULL inside a reference kernel. */
    struct ha_lane *(*self)(void);
    /* All live lanes of the block meet here.  `line` is the source line for messages,
     * `site` numbers the call instructions; returns the reduction of `op`. */
    uint32_t (*block)(uint32_t op, uint32_t value, uint32_t line, uint32_t site);
    /* Live lanes of the warp meet here.  mask 0 = the lanes that are converged at this
     * site; else those that the program names.  `width` is the segment (1..warp size,
     * power of two).  The value is carried as 64 raw bits. */
    uint64_t (*warp)(uint32_t op, const struct ha_warp_site *site, uint64_t mask,
                     uint64_t value, uint32_t operand, uint32_t width);
    /* printf of the kernel; the C varargs of the host ABI follow.  Returns characters.
     */
    int (*print)(const char *format, ...);
    /* assert() failed; does not return. */
    void (*assert_fail)(const char *text, const char *file, uint32_t line,
                        const char *function);
    /* Device heap. */
    void *(*alloc)(uint64_t size);
    void (*release)(void *ptr);
    /* Monotonic nanoseconds: clock64(), wall_clock64(). */
    uint64_t (*clock)(void);
    /* Give other lanes a turn: __builtin_amdgcn_s_sleep, __nanosleep, spin hints. */
    void (*pause)(void);
    /* The same for all lanes of a launch; 0 for what is not an enum ha_query. */
    uint64_t (*query)(uint32_t what);
    /* The lane is going to read or write so many bytes (cpu/memory/access.h); only
     * kernels with HA_KERNEL_GUARDED call it. */
    void (*access)(const void *address, uint64_t size, uint32_t write);
    /* A tensor for the debug stream; 0 unless it is refused. */
    uint32_t (*debug_tensor)(const struct ha_image_tensor *tensor);
    /* The lane is going to access so many bytes; `root` is what the address was
     * computed from, or NULL; `value` what is going to be stored, if the site has
     * HA_SITE_VALUED.  Only kernels with HA_KERNEL_CHECKED call it. */
    void (*check)(const void *address, uint64_t size, const struct ha_check_site *site,
                  const void *root, uint64_t value);
    /* A function of the C library gave a result that is not finite, of these arguments:
     * floats or doubles, as bits.  Only kernels with HA_KERNEL_NUMBERS call it. */
    void (*made)(const struct ha_check_site *site, uint64_t result, uint64_t first,
                 uint64_t second, uint32_t bits);
    /* For kernels with HA_KERNEL_SHADOWED alone: what the calls of the lane hand over;
     * the shadow of so many bytes, the same for as long as the kernel runs; and what
     * enum ha_shadow_op says. */
    struct ha_shadow_calls *(*shadow_calls)(void);
    struct ha_image_shadow (*shadow)(const void *address, uint64_t size,
                                     uint32_t write);
    uint64_t (*shadow_do)(uint32_t op, void *to, const void *from, uint64_t size,
                          uint64_t value);
};

#define HA_SPAN_BLOCKS_MAX 64u /* blocks that go in step, see HA_KERNEL_SPAN */

enum ha_kernel_flags {
    HA_KERNEL_BLOCK = 1u << 0, /* has a block barrier somewhere it can reach */
    HA_KERNEL_WARP = 1u << 1,  /* has a warp call somewhere it can reach */
    HA_KERNEL_LANE = 1u << 2,  /* calls a function that asks runtime->self() */
    HA_KERNEL_SHARED_DYNAMIC = 1u << 3,
    HA_KERNEL_GUARDED = 1u << 4, /* asks before each access */
    HA_KERNEL_CONTROL = 1u << 5, /* may change how floating point rounds or flushes */
    HA_KERNEL_WARPS = 1u << 6,   /* the fast function needs gangs that are warps: a row
                                    of one plane, or rows of whole warps */
    HA_KERNEL_GRID = 1u << 7,    /* the fast function calls block(HA_BLOCK_GRID) once a
                                    block and barrier: for cooperative launches */
    HA_KERNEL_SPAN = 1u << 8,    /* blocks that are neighbours go in step: long parts */
    HA_KERNEL_CHECKED = 1u << 9, /* tells the device of each access */
    HA_KERNEL_NUMBERS = 1u << 10,  /* each operation raises its own exceptions only; the
                                      image has line tables (cpu/module/lines.h) */
    HA_KERNEL_SHADOWED = 1u << 11, /* keeps shadow memory */
};

/* What an argument is, for callers that convert to it; the device needs its size only.
 */
enum ha_arg_kind {
    HA_ARG_VALUE = 0, /* none of the others, or not known */
    HA_ARG_POINTER = 1,
    HA_ARG_RECORD = 2,
    HA_ARG_INTEGER = 3,
    HA_ARG_FLOAT = 4, /* binary floating point of that size */
};

struct ha_image_arg {
    uint32_t size;   /* bytes */
    uint32_t align;  /* bytes */
    uint32_t offset; /* in a packed `extra` buffer, C layout rules */
    uint32_t kind;   /* enum ha_arg_kind */
};

/* One lane of the kernel, start to end; barriers go through the runtime table. */
typedef void ha_kernel_reference_fn(void *const *args, struct ha_lane *lane);
/* Where a fast function is, for messages: written as it runs, in program order. */
struct ha_place {
    uint64_t block;  /* offset  0: in linear order; of rows the first one */
    uint32_t blocks; /* offset  8: 0 before the first, else how many run together */
    uint32_t gang;   /* offset 12: which runs, in the order of its first lane */
    uint32_t lane;   /* offset 16: of the gang, what runs alone, or UINT32_MAX */
    uint32_t reserved[11];
};

/* Blocks [first, last) in linear order, x fastest, all lanes of each; NULL where the
 * rewriter has made no such form.  `shared` is one block's memory.  `frame` is a struct
 * ha_place, behind which the memory of the gangs of a block lies.  Returns `last`, or
 * the number of a block that it has not run, with HA_FAST_REFUSED: the reference
 * function is to run it; or one of which only some lanes came to a barrier, with
 * HA_FAST_DIVERGED. */
typedef uint64_t ha_kernel_fast_fn(void *const *args, const struct ha_grid *grid,
                                   uint64_t first, uint64_t last, void *shared,
                                   void *frame);

#define HA_FAST_REFUSED ((uint64_t)1 << 62)
#define HA_FAST_DIVERGED ((uint64_t)1 << 63)

struct ha_proof;

struct ha_image_kernel {
    const char *name; /* symbol as hipModuleGetFunction wants it */
    ha_kernel_reference_fn *reference;
    ha_kernel_fast_fn *fast;
    const struct ha_image_arg *args;
    uint32_t arg_count;
    uint32_t flags;
    uint32_t shared_static; /* bytes, a multiple of 64 */
    uint32_t max_threads;   /* __launch_bounds__, else 1024 */
    /* Of a fast function whose lanes run in gangs: lanes of a gang, which are
     * neighbours in x, else 0; and bytes of `frame` for each gang. */
    uint32_t gang_width;
    uint32_t gang_frame;
    const char *report; /* what was decided, a remark a line: cpu/compile/report.h */
    const struct ha_proof *proof; /* of a checked kernel (cpu/base/proof.h), or NULL */
};

struct ha_image_variable {
    const char *name;
    void *address;
    uint64_t size;
    uint32_t constant; /* __constant__ */
    uint32_t reserved;
};

struct ha_image {
    uint32_t abi; /* HA_IMAGE_ABI */
    uint32_t warp_size;
    const struct ha_image_runtime *runtime; /* NULL in the file, set by the loader */
    const struct ha_image_kernel *kernels;
    const struct ha_image_variable *variables;
    uint32_t kernel_count;
    uint32_t variable_count;
};

_Static_assert(offsetof(struct ha_lane, grid) == 24, "lane layout is in IR");
_Static_assert(offsetof(struct ha_lane, shared) == 32, "lane layout is in IR");
_Static_assert(offsetof(struct ha_lane, trip) == 40, "lane layout is in IR");
_Static_assert(sizeof(struct ha_warp_site) == 40, "site layout is in IR");
_Static_assert(sizeof(struct ha_place) == 64, "frames are aligned to 64 bytes");
_Static_assert(sizeof(struct ha_image_tensor) == 96, "tensor layout is in a header");
_Static_assert(sizeof(struct ha_check_site) == 64, "site layout is in IR");
_Static_assert(offsetof(struct ha_shadow_calls, result) == 800, "LLVM's layout");
_Static_assert(offsetof(struct ha_shadow_calls, param_origins) == 3208,
               "LLVM's layout");
_Static_assert(offsetof(struct ha_shadow_calls, pending) == 4016, "LLVM's layout");
_Static_assert(sizeof(struct ha_image_arg) == 16, "argument layout is in IR");
_Static_assert(sizeof(struct ha_image_kernel) == 72, "kernel layout is in IR");
_Static_assert(sizeof(struct ha_image_variable) == 32, "variable layout is in IR");
_Static_assert(sizeof(struct ha_image) == 40, "image layout is in IR");

#endif
