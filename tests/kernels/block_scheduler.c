/* SPDX-License-Identifier: MIT */
/* Behind the program: what runs the lanes of block_lanes.h, and answers requests. */

/* Runs a lane until it stops. */
static UNWATCHED void
resume(struct lane *lane)
{
    now = lane;
    unsigned t = (unsigned)(lane - lanes_);
    threadIdx = (struct place){t % blockDim.x, t / blockDim.x % blockDim.y,
                               t / blockDim.x / blockDim.y};
    if (_setjmp(scheduler) != 0)
        return;
    if (lane->started)
        _longjmp(lane->stopped, 1);
    lane->started = 1;
    setcontext(&lane->start);
}

/* ---- warps ---- */

static UNWATCHED int
compare_paths(const struct lane *a, const struct lane *b)
{
    int least = a->length < b->length ? a->length : b->length;
    for (int i = 0; i < least; i++) {
        if (a->path[i] != b->path[i])
            return a->path[i] < b->path[i] ? -1 : 1;
    }
    return a->length - b->length;
}

/* Number in the warp of the lane whose value lane `self` gets. */
static UNWATCHED int
read_from(const struct lane *call, int self)
{
    int width = call->width, inside = self % width, first = self - inside;
    int other = self ^ call->operand;
    switch (call->op) {
    case SHFL:
        return first + (call->operand & (width - 1));
    case UP:
        return inside < call->operand ? self : self - call->operand;
    case DOWN:
        return inside + call->operand >= width ? self : self + call->operand;
    default:
        return other >= first + width ? self : other;
    }
}

static UNWATCHED unsigned long
joined(enum op op, unsigned long a, unsigned long b)
{
    switch (op) {
    case R_ADD:
        return a + b;
    case R_AND:
        return a & b;
    case R_OR:
        return a | b;
    case R_XOR:
        return a ^ b;
    case R_MIN:
        return (long)b < (long)a ? b : a;
    case R_MAX:
        return (long)b > (long)a ? b : a;
    case R_UMIN:
        return b < a ? b : a;
    default:
        return b > a ? b : a;
    }
}

/* What lane `self` of a group gets. */
static UNWATCHED unsigned long
answer(const struct lane *warp, unsigned long group, int self, const unsigned long *given)
{
    const struct lane *call = &warp[self];
    int from;
    unsigned long set = 0, equal = 0, all = given[__builtin_ctzl(group)];
    for (int i = 0; i < WARP; i++) {
        if (group >> i & 1) {
            set |= (unsigned long)(given[i] != 0) << i;
            equal |= (unsigned long)(given[i] == given[self]) << i;
            if (i != __builtin_ctzl(group))
                all = joined(call->op, all, given[i]);
        }
    }
    switch (call->op) {
    case SHFL:
    case UP:
    case DOWN:
    case XOR:
        from = read_from(call, self);
        return from < WARP && group >> from & 1 ? given[from] : given[self];
    case BALLOT:
        return set;
    case ANY:
        return set != 0;
    case ALL:
        return set == group;
    case ACTIVE:
        return group;
    case MATCH_ANY:
        return equal;
    case MATCH_ALL:
        return equal == group ? group : 0;
    case MEET:
        return 0;
    default:
        return all;
    }
}

/* Serves the lanes of a warp that come first, if any wait. */
static UNWATCHED int
serve_warp(struct lane *warp, int size)
{
    struct lane *first = NULL;
    for (int i = 0; i < size; i++) {
        if (warp[i].state == AT_WARP &&
            (first == NULL || compare_paths(&warp[i], first) < 0))
            first = &warp[i];
    }
    if (first == NULL)
        return 0;
    unsigned long given[WARP], groups[WARP] = {0};
    int here[WARP] = {0};
    for (int i = 0; i < size; i++) {
        given[i] = warp[i].value;
        here[i] = warp[i].state == AT_WARP && compare_paths(&warp[i], first) == 0;
    }
    for (int i = 0; i < size; i++) {
        for (int j = 0; here[i] && j < size; j++)
            groups[i] |= (unsigned long)(here[j] && warp[j].mask == warp[i].mask) << j;
        if (here[i] && warp[i].mask != 0 && warp[i].mask != groups[i])
            bad("the mask names other lanes than are there");
    }
    if (first->op == MEET)
        warp_meets((int)(warp - lanes_) / WARP);
    for (int i = 0; i < size; i++) {
        if (here[i]) {
            warp[i].value = answer(warp, groups[i], i, given);
            warp[i].state = READY;
        }
    }
    return 1;
}

static UNWATCHED void
run_warp(struct lane *warp, int size, int backwards)
{
    do {
        for (int i = 0; i < size; i++) {
            struct lane *lane = &warp[backwards ? size - 1 - i : i];
            if (lane->state == READY)
                resume(lane);
        }
    } while (serve_warp(warp, size));
}

/* ---- blocks ---- */

/* Serves all lanes that wait at a barrier, if any do. */
static UNWATCHED int
serve_block(int lanes)
{
    struct lane *first = NULL;
    unsigned long count = 0, set = 0;
    for (int i = 0; i < lanes; i++) {
        struct lane *lane = &lanes_[i];
        if (lane->state != AT_BARRIER)
            continue;
        first = first == NULL ? lane : first;
        if (lane->barrier != first->barrier)
            bad("lanes wait at different barriers");
        count++;
        set += lane->value;
    }
    for (int i = 0; first != NULL && i < lanes; i++) {
        struct lane *lane = &lanes_[i];
        if (lane->state != AT_BARRIER)
            continue;
        lane->value = lane->op == COUNT ? set : lane->op == OR ? set != 0 : set == count;
        lane->state = READY;
    }
    return first != NULL;
}

static struct {
    long *head;
    char *memory;
} request;

static UNWATCHED void
lane_begins(void)
{
    call(request.head[0], request.memory, request.head + 9 + 2 * request.head[8]);
    now->state = LEFT;
    _longjmp(scheduler, 1);
}

static UNWATCHED void
run_block(int lanes, int backwards, char *stacks)
{
    for (int i = 0; i < lanes; i++) {
        struct lane *lane = &lanes_[i];
        lane->state = READY;
        lane->started = lane->base = lane->length = 0;
        getcontext(&lane->start);
        lane->start.uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
        lane->start.uc_stack.ss_size = STACK_BYTES;
        makecontext(&lane->start, lane_begins, 0);
    }
    do {
        phase_begins();
        int warps = (lanes + WARP - 1) / WARP;
        for (int i = 0; i < warps; i++) {
            int w = backwards ? warps - 1 - i : i;
            int size = lanes - w * WARP < WARP ? lanes - w * WARP : WARP;
            run_warp(&lanes_[w * WARP], size, backwards);
        }
    } while (serve_block(lanes));
}

static UNWATCHED void
run(long *head, char *memory, int backwards, char *stacks)
{
    struct place *sizes[] = {&gridDim, &blockDim};
    for (int s = 0; s < 2; s++)
        *sizes[s] = (struct place){(unsigned)head[1 + 3 * s], (unsigned)head[2 + 3 * s],
                                   (unsigned)head[3 + 3 * s]};
    int blocks = (int)(gridDim.x * gridDim.y * gridDim.z);
    int lanes = (int)(blockDim.x * blockDim.y * blockDim.z);
    request.head = head;
    request.memory = memory;
    for (int at = 0; at < blocks; at++) {
        unsigned b = (unsigned)(backwards ? blocks - 1 - at : at);
        blockIdx = (struct place){b % gridDim.x, b / gridDim.x % gridDim.y,
                                  b / gridDim.x / gridDim.y};
        block_begins(b, backwards);
        run_block(lanes, backwards, stacks);
    }
}

/* Memory with nothing beside it. */
static UNWATCHED char *
far_away(long address, size_t size)
{
    void *memory = mmap((void *)address, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        exit(3);
    return memory;
}

/* Reads requests: how many numbers the head has; the head: kernel, grid, block, bytes of
 * memory, count of ranges, ranges (start, size), arguments; the memory.  Answers each
 * with a flag, 1 where the order of lanes made a difference, and the memory. */
UNWATCHED int
main(void)
{
    long count, head[64];
    char *stacks = far_away(0x400000000000, (size_t)LANES_MOST * STACK_BYTES);
    while (fread(&count, sizeof count, 1, stdin) == 1) {
        if (count > 64 || fread(head, sizeof *head, (size_t)count, stdin) != (size_t)count)
            return 3;
        size_t size = (size_t)head[7];
        char *one = far_away(0x300000000000, size);
        char *two = far_away(0x380000000000, size);
        if (fread(one, 1, size, stdin) != size)
            return 3;
        memcpy(two, one, size);
        watch(head, one);
        run(head, one, 0, stacks);
        watch(head, NULL);
        run(head, two, 1, stacks);
        long differs = memcmp(one, two, size) != 0;
        fwrite(&differs, sizeof differs, 1, stdout);
        fwrite(one, 1, size, stdout);
        munmap(one, size);
        munmap(two, size);
    }
    return 0;
}
