/* SPDX-License-Identifier: MIT */
/* Groups of threads: the grids of several devices, the grid, the block, tiles of a warp,
 * and the threads that stand together.
 *
 * A group within a warp is a mask of lanes; its calls name that mask, so they meet
 * wherever the lanes of the group make them.  A tile whose end lies behind the end of the
 * block has fewer lanes in its mask than its size says.  A thread_group may be any of
 * these; a number in it says which. */
#pragma once
#pragma clang system_header

#define __HA_CG__ __attribute__((device, always_inline)) inline
#ifndef __HA_GRID_SYNC__
#define __HA_GRID_SYNC__(line) ((void)__ha_block(4, 0, line))
#define __HA_MULTI_GRID_SYNC__(line) ((void)__ha_block(5, 0, line))
#endif

namespace cooperative_groups {

class thread_block;
class coalesced_group;
template <unsigned int size, class Parent = void> class thread_block_tile;

namespace internal {

enum group_type {
    cg_invalid,
    cg_multi_grid,
    cg_grid,
    cg_workgroup,
    cg_tiled_group,
    cg_coalesced_group
};

__HA_CG__ unsigned block_rank_of_thread() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__HA_CG__ unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }

/* The lanes of this warp that the block has. */
__HA_CG__ uint64_t block_lanes() {
    unsigned begin = block_rank_of_thread() & ~(unsigned)(warpSize - 1);
    unsigned left = block_size() - begin;
    return left >= (unsigned)warpSize ? __ha_warp_mask() : ((uint64_t)1 << left) - 1;
}

/* The aligned run of `size` lanes around this one. */
__HA_CG__ uint64_t tile_mask(unsigned size) {
    uint64_t run = size >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << size) - 1;
    return (run << (__lane_id() & ~(size - 1))) & block_lanes();
}

/* Lane number of the member with this rank; the mask's own bits, lowest first. */
__HA_CG__ unsigned lane_of(uint64_t mask, unsigned rank) {
    for (; rank > 0; rank--)
        mask &= mask - 1;
    return mask != 0 ? (unsigned)__builtin_ctzll(mask) : __lane_id();
}
__HA_CG__ unsigned rank_in(uint64_t mask) {
    return (unsigned)__builtin_popcountll(mask & __lanemask_lt());
}

/* From bits of lanes to bits of ranks. */
__HA_CG__ unsigned long long ranks_of(uint64_t mask, uint64_t lanes) {
    unsigned long long ranks = 0;
    for (unsigned rank = 0; mask != 0; rank++, mask &= mask - 1)
        ranks |= (unsigned long long)(lanes >> __builtin_ctzll(mask) & 1) << rank;
    return ranks;
}

/* A tile size is a power of two that a warp can hold. */
__HA_CG__ void check_tile(unsigned size) {
    if (size == 0 || size > (unsigned)warpSize || (size & (size - 1)) != 0)
        __ha_assert_fail("the tile size is a power of two up to warpSize",
                         "hip/hip_cooperative_groups.h", __LINE__, "tiled_partition");
}

} // namespace internal

/* Any group; what it does depends on its kind. */
class thread_group {
  protected:
    uint32_t _type;
    uint32_t _size;
    uint64_t _mask; /* of groups within a warp */
    uint32_t _meta_rank;
    uint32_t _meta_size;

    __HA_CG__ thread_group(uint32_t type, uint32_t size, uint64_t mask = 0,
                           uint32_t meta_rank = 0, uint32_t meta_size = 1)
        : _type(type), _size(size), _mask(mask), _meta_rank(meta_rank),
          _meta_size(meta_size) {}
    friend __HA_CG__ thread_group this_thread();
    friend __HA_CG__ thread_group tiled_partition(const thread_group &, unsigned);
    friend __HA_CG__ thread_group tiled_partition(const thread_block &, unsigned);

  public:
    __HA_CG__ uint32_t size() const { return _size; }
    __HA_CG__ uint32_t num_threads() const { return _size; }
    __HA_CG__ unsigned int cg_type() const { return _type; }
    __HA_CG__ uint32_t thread_rank() const;
    __HA_CG__ bool is_valid() const;
    __HA_CG__ void sync(unsigned line = __builtin_LINE()) const;
};

/* ---- the grid ---- */

class grid_group : public thread_group {
    friend __HA_CG__ grid_group this_grid();

  protected:
    explicit __HA_CG__ grid_group(uint32_t size)
        : thread_group(internal::cg_grid, size) {}

  public:
    struct arrival_token {};
    __HA_CG__ uint32_t thread_rank() const {
        unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
        return block * internal::block_size() + internal::block_rank_of_thread();
    }
    __HA_CG__ bool is_valid() const { return __ha_query(0) != 0; }
    __HA_CG__ void sync(unsigned line = __builtin_LINE()) const {
        __HA_GRID_SYNC__(line);
    }
    __HA_CG__ dim3 group_dim() const { return blockDim; } /* so it is in HIP */
    __HA_CG__ dim3 dim_blocks() const { return gridDim; }
    __HA_CG__ dim3 block_index() const { return blockIdx; }
    __HA_CG__ unsigned long long num_blocks() const {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    __HA_CG__ unsigned long long block_rank() const {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x +
               blockIdx.x;
    }
    /* The whole barrier is at the wait. */
    __HA_CG__ arrival_token barrier_arrive() const { return {}; }
    __HA_CG__ void barrier_wait(arrival_token &&,
                                unsigned line = __builtin_LINE()) const {
        sync(line);
    }
};

__HA_CG__ grid_group this_grid() {
    return grid_group(gridDim.x * gridDim.y * gridDim.z * internal::block_size());
}

/* ---- the grids of a launch on several devices ---- */

class multi_grid_group : public thread_group {
    friend __HA_CG__ multi_grid_group this_multi_grid();

  protected:
    explicit __HA_CG__ multi_grid_group(uint32_t size)
        : thread_group(internal::cg_multi_grid, size) {}

  public:
    __HA_CG__ uint32_t num_grids() const { return (uint32_t)__ha_query(2); }
    __HA_CG__ uint32_t grid_rank() const { return (uint32_t)__ha_query(3); }
    __HA_CG__ uint32_t thread_rank() const {
        return (uint32_t)__ha_query(5) + this_grid().thread_rank();
    }
    __HA_CG__ bool is_valid() const { return __ha_query(2) != 0; }
    __HA_CG__ void sync(unsigned line = __builtin_LINE()) const {
        __HA_MULTI_GRID_SYNC__(line);
    }
};

__HA_CG__ multi_grid_group this_multi_grid() {
    return multi_grid_group((uint32_t)__ha_query(4));
}

/* ---- the block ---- */

class thread_block : public thread_group {
    friend __HA_CG__ thread_block this_thread_block();

  protected:
    explicit __HA_CG__ thread_block(uint32_t size)
        : thread_group(internal::cg_workgroup, size) {}

  public:
    struct arrival_token {};
    static __HA_CG__ dim3 group_index() { return blockIdx; }
    static __HA_CG__ dim3 thread_index() { return threadIdx; }
    static __HA_CG__ uint32_t thread_rank() { return internal::block_rank_of_thread(); }
    static __HA_CG__ uint32_t size() { return internal::block_size(); }
    static __HA_CG__ uint32_t num_threads() { return internal::block_size(); }
    static __HA_CG__ bool is_valid() { return true; }
    static __HA_CG__ void sync(unsigned line = __builtin_LINE()) {
        (void)__ha_block(0, 0, line);
    }
    __HA_CG__ dim3 group_dim() const { return blockDim; }
    __HA_CG__ dim3 dim_threads() const { return blockDim; }
    __HA_CG__ arrival_token barrier_arrive() const { return {}; }
    __HA_CG__ void barrier_wait(arrival_token &&,
                                unsigned line = __builtin_LINE()) const {
        sync(line);
    }
};

__HA_CG__ thread_block this_thread_block() {
    return thread_block(internal::block_size());
}

/* ---- within a warp ---- */

namespace internal {

/* What tiles and coalesced groups do with their mask. */
template <class Group> class lanes {
    __HA_CG__ uint64_t mask() const { return static_cast<const Group *>(this)->_lanes(); }
    __HA_CG__ int lane(unsigned rank) const {
        return (int)static_cast<const Group *>(this)->_lane(rank);
    }
    __HA_CG__ unsigned count() const {
        return (unsigned)__builtin_popcountll(mask());
    }

  public:
    template <class _Tp> __HA_CG__ _Tp shfl(_Tp var, int source) const {
        unsigned rank = (unsigned)source % static_cast<const Group *>(this)->size();
        return __shfl_sync(mask(), var, lane(rank));
    }
    template <class _Tp> __HA_CG__ _Tp shfl_down(_Tp var, unsigned int delta) const {
        unsigned rank = rank_in(mask());
        bool there = delta < count() - rank;
        return __shfl_sync(mask(), var, lane(there ? rank + delta : rank));
    }
    template <class _Tp> __HA_CG__ _Tp shfl_up(_Tp var, unsigned int delta) const {
        unsigned rank = rank_in(mask());
        return __shfl_sync(mask(), var,
                           lane(delta <= rank ? rank - delta : rank));
    }
    template <class _Tp> __HA_CG__ _Tp shfl_xor(_Tp var, unsigned int lane_mask) const {
        unsigned rank = rank_in(mask());
        unsigned other = rank ^ lane_mask;
        return __shfl_sync(mask(), var,
                           lane(other < count() ? other : rank));
    }
    __HA_CG__ unsigned long long ballot(int predicate) const {
        return ranks_of(mask(), __ballot_sync(mask(), predicate));
    }
    __HA_CG__ int any(int predicate) const { return __any_sync(mask(), predicate); }
    __HA_CG__ int all(int predicate) const { return __all_sync(mask(), predicate); }
    template <class _Tp> __HA_CG__ unsigned long long match_any(_Tp value) const {
        return ranks_of(mask(), __match_any_sync(mask(), value));
    }
    template <class _Tp>
    __HA_CG__ unsigned long long match_all(_Tp value, int &same) const {
        return ranks_of(mask(), __match_all_sync(mask(), value, &same));
    }
};

} // namespace internal

/* A tile whose size is known when it runs. */
class tiled_group : public thread_group {
  protected:
    explicit __HA_CG__ tiled_group(uint32_t size, uint32_t rank, uint32_t count)
        : thread_group(internal::cg_tiled_group, size, internal::tile_mask(size), rank,
                       count) {}
    friend __HA_CG__ tiled_group tiled_partition(const tiled_group &, unsigned);

  public:
    __HA_CG__ unsigned int thread_rank() const { return __lane_id() & (_size - 1); }
    __HA_CG__ void sync() const { __syncwarp(_mask); }
    __HA_CG__ unsigned int meta_group_rank() const { return _meta_rank; }
    __HA_CG__ unsigned int meta_group_size() const { return _meta_size; }
};

class coalesced_group : public thread_group,
                        public internal::lanes<coalesced_group> {
  protected:
    explicit __HA_CG__ coalesced_group(uint64_t mask, uint32_t rank = 0,
                                       uint32_t count = 1)
        : thread_group(internal::cg_coalesced_group,
                       (uint32_t)__builtin_popcountll(mask), mask, rank, count) {}
    friend __HA_CG__ coalesced_group coalesced_threads();
    friend __HA_CG__ coalesced_group tiled_partition(const coalesced_group &, unsigned);
    friend __HA_CG__ coalesced_group binary_partition(const coalesced_group &, bool);
    template <unsigned int n, class _Pp>
    friend __HA_CG__ coalesced_group binary_partition(const thread_block_tile<n, _Pp> &,
                                                      bool);

  public:
    __HA_CG__ uint64_t _lanes() const { return _mask; }
    __HA_CG__ unsigned _lane(unsigned rank) const {
        return internal::lane_of(_mask, rank);
    }
    __HA_CG__ unsigned int thread_rank() const { return internal::rank_in(_mask); }
    __HA_CG__ void sync() const { __syncwarp(_mask); }
    __HA_CG__ unsigned int meta_group_rank() const { return _meta_rank; }
    __HA_CG__ unsigned int meta_group_size() const { return _meta_size; }
};

/* The lanes that stand here together. */
__HA_CG__ coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* A tile of `tile` lanes; Parent: what it is a part of, void if that is forgotten. */
template <unsigned int tile, class Parent>
class thread_block_tile : public tiled_group,
                          public internal::lanes<thread_block_tile<tile, Parent>> {
    static_assert(tile > 0 && (tile & (tile - 1)) == 0 && tile <= (unsigned)warpSize,
                  "the tile size is a power of two up to warpSize");

  public:
    __HA_CG__ thread_block_tile(uint32_t rank, uint32_t count, int)
        : tiled_group(tile, rank, count) {}
    template <class Other>
    __HA_CG__ thread_block_tile(const thread_block_tile<tile, Other> &other)
        : tiled_group(tile, other.meta_group_rank(), other.meta_group_size()) {}
    __HA_CG__ uint64_t _lanes() const { return internal::tile_mask(tile); }
    __HA_CG__ unsigned _lane(unsigned rank) const {
        return (__lane_id() & ~(tile - 1)) + rank;
    }
    static __HA_CG__ unsigned int thread_rank() { return __lane_id() & (tile - 1); }
    static __HA_CG__ constexpr unsigned int size() { return tile; }
    static __HA_CG__ constexpr unsigned int num_threads() { return tile; }
    static __HA_CG__ void sync() { __syncwarp(internal::tile_mask(tile)); }
};

/* ---- partitions ---- */

template <unsigned int tile, class Parent>
__HA_CG__ thread_block_tile<tile, Parent> tiled_partition(const Parent &parent) {
    return thread_block_tile<tile, Parent>(parent.thread_rank() / tile,
                                           (parent.size() + tile - 1) / tile, 0);
}
__HA_CG__ tiled_group tiled_partition(const tiled_group &parent, unsigned int tile) {
    internal::check_tile(tile);
    if (parent.size() <= tile)
        return parent;
    return tiled_group(tile, parent.thread_rank() / tile, parent.size() / tile);
}
/* A tile that is larger than the group, even than a warp, is all of it. */
__HA_CG__ coalesced_group tiled_partition(const coalesced_group &parent,
                                          unsigned int tile) {
    bool whole = tile > (unsigned)warpSize && (tile & (tile - 1)) == 0;
    internal::check_tile(whole ? (unsigned)warpSize : tile);
    uint64_t rest = parent._mask;
    uint64_t part = 0;
    unsigned rank = parent.thread_rank() / tile;
    for (unsigned i = 0; rest != 0 && i < (rank + 1) * tile; i++, rest &= rest - 1)
        part |= i >= rank * tile ? rest & -rest : 0;
    return coalesced_group(part, rank, (parent.size() + tile - 1) / tile);
}
__HA_CG__ thread_group tiled_partition(const thread_block &parent, unsigned int tile) {
    internal::check_tile(tile);
    uint64_t mask = internal::tile_mask(tile);
    return thread_group(internal::cg_tiled_group, (uint32_t)__builtin_popcountll(mask),
                        mask, parent.thread_rank() / tile,
                        (parent.size() + tile - 1) / tile);
}
__HA_CG__ thread_group tiled_partition(const thread_group &parent, unsigned int tile) {
    if (parent.cg_type() == internal::cg_coalesced_group)
        return tiled_partition(static_cast<const coalesced_group &>(parent), tile);
    if (parent.cg_type() != internal::cg_tiled_group)
        return tiled_partition(this_thread_block(), tile);
    internal::check_tile(tile);
    if (parent._size <= tile)
        return parent;
    uint64_t mask = internal::tile_mask(tile);
    return thread_group(internal::cg_tiled_group, (uint32_t)__builtin_popcountll(mask),
                        mask, parent.thread_rank() / tile,
                        (parent._size + tile - 1) / tile);
}
__HA_CG__ coalesced_group binary_partition(const coalesced_group &parent, bool which) {
    uint64_t yes = __ballot_sync(parent._mask, which);
    return coalesced_group(which ? yes : parent._mask & ~yes);
}
template <unsigned int tile, class Parent>
__HA_CG__ coalesced_group binary_partition(const thread_block_tile<tile, Parent> &parent,
                                           bool which) {
    uint64_t yes = __ballot_sync(parent._lanes(), which);
    return coalesced_group(which ? yes : parent._lanes() & ~yes);
}
__HA_CG__ thread_group this_thread() {
    return thread_group(internal::cg_coalesced_group, 1, __lanemask_eq());
}

/* ---- any group ---- */

__HA_CG__ uint32_t thread_group::thread_rank() const {
    switch (_type) {
    case internal::cg_multi_grid:
        return this_multi_grid().thread_rank();
    case internal::cg_grid:
        return this_grid().thread_rank();
    case internal::cg_workgroup:
        return internal::block_rank_of_thread();
    default:
        return internal::rank_in(_mask);
    }
}
__HA_CG__ bool thread_group::is_valid() const {
    switch (_type) {
    case internal::cg_multi_grid:
        return this_multi_grid().is_valid();
    case internal::cg_grid:
        return this_grid().is_valid();
    default:
        return _type != internal::cg_invalid;
    }
}
__HA_CG__ void thread_group::sync(unsigned line) const {
    switch (_type) {
    case internal::cg_multi_grid:
        this_multi_grid().sync(line);
        break;
    case internal::cg_grid:
        this_grid().sync(line);
        break;
    case internal::cg_workgroup:
        thread_block::sync(line);
        break;
    default:
        __syncwarp(_mask);
        break;
    }
}
template <class Group> __HA_CG__ uint32_t group_size(const Group &group) {
    return group.size();
}
template <class Group> __HA_CG__ uint32_t thread_rank(const Group &group) {
    return group.thread_rank();
}
template <class Group> __HA_CG__ bool is_valid(const Group &group) {
    return group.is_valid();
}
template <class Group> __HA_CG__ void sync(const Group &group) { group.sync(); }

} // namespace cooperative_groups
