/* SPDX-License-Identifier: MIT */
/* Looks at each access of the lanes: gcc calls this before it, if it compiles for its
 * thread sanitizer, whose library is not linked.  An access is wrong outside of the
 * buffers, and where another lane meets it without a barrier in between, of the block or
 * of the warp. */

struct touch {
    int writer, reader; /* lane of the grid, from 1; 0: none, -1: several */
    int write_phase, read_phase;
    int write_atomic, read_atomic;
    int write_block, read_block;
    int write_meeting, read_meeting; /* barriers of the warp before */
    int write_warp, read_warp;       /* -1: several */
};
extern char __start_block_shared[], __stop_block_shared[];
static struct {
    char *memory; /* NULL: nothing is watched */
    long size;
    char *allowed;
    struct touch *touches, *shared;
    int phase, block;
    int meetings[LANES_MOST]; /* of each warp */
} watched;

static UNWATCHED void
watch(const long *head, char *memory)
{
    free(watched.touches), free(watched.allowed), free(watched.shared);
    watched.memory = memory;
    watched.size = head[7];
    watched.touches = calloc((size_t)head[7], sizeof *watched.touches);
    watched.shared = calloc((size_t)(__stop_block_shared - __start_block_shared),
                            sizeof *watched.shared);
    watched.allowed = calloc((size_t)head[7], 1);
    for (long r = 0; r < head[8]; r++)
        memset(watched.allowed + head[9 + 2 * r], 1, (size_t)head[10 + 2 * r]);
}

/* Shared memory holds anything, and not the same for both orders of lanes. */
static UNWATCHED void
block_begins(unsigned block, int backwards)
{
    watched.block = (int)block + 1;
    memset(__start_block_shared, backwards ? 0xa5 : 0x3c,
           (size_t)(__stop_block_shared - __start_block_shared));
}

static UNWATCHED void
phase_begins(void)
{
    watched.phase++;
}

static UNWATCHED void
warp_meets(int warp)
{
    watched.meetings[warp]++;
}

/* True if an earlier access may be at the same time as one that is made now. */
static UNWATCHED int
at_once(int lane, int phase, int block, int warp, int meeting)
{
    int self = (watched.block - 1) * LANES_MOST + (int)(now - lanes_) + 1;
    int own = (int)(now - lanes_) / WARP;
    if (lane == 0 || lane == self)
        return 0;
    if (block != 0 && block != watched.block)
        return 1;
    return phase == watched.phase && (warp != own || meeting == watched.meetings[own]);
}

static UNWATCHED void
touch(struct touch *it, int global, int write, long at)
{
    int self = (watched.block - 1) * LANES_MOST + (int)(now - lanes_) + 1;
    int block = global ? watched.block : 0;
    int warp = (int)(now - lanes_) / WARP;
    int clash = at_once(it->writer, it->write_phase, it->write_block, it->write_warp,
                        it->write_meeting) &&
                !(it->write_atomic && atomic_);
    clash |= write &&
             at_once(it->reader, it->read_phase, it->read_block, it->read_warp,
                     it->read_meeting) &&
             !(it->read_atomic && atomic_);
    if (clash) {
        fprintf(stderr, "block %d lane %d meets another one at %ld of %s memory\n",
                watched.block - 1, (int)(now - lanes_), at, global ? "global" : "shared");
        exit(4);
    }
    if (write) {
        it->writer = self;
        it->write_phase = watched.phase;
        it->write_atomic = atomic_;
        it->write_block = block;
        it->write_warp = warp;
        it->write_meeting = watched.meetings[warp];
        return;
    }
    int again = it->reader != 0 && it->reader != self &&
                (it->read_phase == watched.phase || it->read_block != block);
    it->read_atomic = atomic_ && (it->read_atomic || !again);
    it->read_block = it->reader != 0 && it->read_block != block ? -1 : block;
    it->reader = again ? -1 : self;
    it->read_warp = again && it->read_warp != warp ? -1 : warp;
    it->read_meeting = watched.meetings[warp];
    it->read_phase = watched.phase;
}

static UNWATCHED void
touched(char *address, long size, int write)
{
    long first = address - watched.memory;
    if (watched.memory == NULL)
        return;
    for (char *p = address; p < address + size; p++) {
        if (p >= __start_block_shared && p < __stop_block_shared)
            touch(&watched.shared[p - __start_block_shared], 0, write, p - address);
    }
    if (first < -(1L << 30) || first > 1L << 30)
        return; /* a local variable */
    for (long at = first; at < first + size; at++) {
        if (at < 0 || at >= watched.size || !watched.allowed[at]) {
            fprintf(stderr, "lane %d leaves its buffers at %ld\n", (int)(now - lanes_), at);
            exit(4);
        }
        touch(&watched.touches[at], 1, write, at);
    }
}

#define HOOK(size)                                                                     \
    UNWATCHED void __tsan_read##size(void *p)                                          \
    {                                                                                  \
        touched(p, size, 0);                                                           \
    }                                                                                  \
    UNWATCHED void __tsan_write##size(void *p)                                         \
    {                                                                                  \
        touched(p, size, 1);                                                           \
    }                                                                                  \
    UNWATCHED void __tsan_unaligned_read##size(void *p)                                \
    {                                                                                  \
        touched(p, size, 0);                                                           \
    }                                                                                  \
    UNWATCHED void __tsan_unaligned_write##size(void *p)                               \
    {                                                                                  \
        touched(p, size, 1);                                                           \
    }                                                                                  \
    UNWATCHED void __tsan_volatile_read##size(void *p)                                 \
    {                                                                                  \
        touched(p, size, 0);                                                           \
    }                                                                                  \
    UNWATCHED void __tsan_volatile_write##size(void *p)                                \
    {                                                                                  \
        touched(p, size, 1);                                                           \
    }
HOOK(1)
HOOK(2)
HOOK(4)
HOOK(8)
HOOK(16)
UNWATCHED void
__tsan_read_range(void *p, long size)
{
    touched(p, size, 0);
}
UNWATCHED void
__tsan_write_range(void *p, long size)
{
    touched(p, size, 1);
}
UNWATCHED void
__tsan_init(void)
{
}
UNWATCHED void
__tsan_func_entry(void *p)
{
    (void)p;
}
UNWATCHED void
__tsan_func_exit(void)
{
}
