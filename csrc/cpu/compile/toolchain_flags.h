/* SPDX-License-Identifier: MIT */
/* Fixed parts of the compiler's command lines, and the text around a user's source.
 *
 * The front end reads HIP C++ for the nvptx64 target, because that target keeps one IR
 * parameter for each C++ parameter and marks shared and device memory by address space.
 * cpu/compile/rewrite.c turns its text IR into IR of the host; the back end compiles
 * that.
 *
 *   zig clang -cc1 HA_FRONT_FLAGS -aux-triple <host> -D__HIP_CPU_WARP_SIZE__=<32 or 64>
 *       -I<device headers> <program's options> -emit-llvm -o - -          > front.ll
 *   ha_rewrite                                                            > host.ll
 *   zig clang -cc1 HA_BACK_FLAGS -triple <host> -target-cpu <cpu> -O3
 *       HA_VECTOR_FLAGS [-fveclib=libmvec] [HA_NO_FORWARDING] [HA_NO_WRAP_CHECKS]
 * [HA_NO_UNROLLING] -x ir -emit-obj -o k.o -                                          <
 * host.ll zig ld.lld -shared -Bsymbolic -o k.so k.o
 *
 * Relocatable code ends behind the front end, as bitcode.  cpu/compile/link.c makes one
 * module of several such modules with the front end's optimisation, and goes on from
 * there:
 *
 *   zig clang -cc1 HA_OPTIMISE_FLAGS -triple <front's> -x ir
 *       -mlink-bitcode-file <second> ... -emit-llvm -o - -    < first.bc  > front.ll
 *
 * The source is the prelude, HA_SOURCE_BEFORE, `#line 1 "<name>"`, the user's text,
 * and, for each name expression, a `#line` and `__attribute__((device, used)) constexpr
 * auto` HA_REWRITE_NAME_PREFIX<n>` = (&<expression>);`, then HA_SOURCE_AFTER.
 *
 * Each list of flags is comma separated string literals, for an array initialiser. */
#ifndef HA_CPU_COMPILE_TOOLCHAIN_FLAGS_H
#define HA_CPU_COMPILE_TOOLCHAIN_FLAGS_H

/* LLVM 20's loop load elimination forwards a store past a narrower one
 * (cpu/compile/rewrite_forward.c).  It has no switch; a loop with as many dependences
 * as this has none on record, and the pass leaves it alone. */
#define HA_NO_FORWARDING "-mllvm", "-max-dependences=1"

/* Loops that go round a number of times that is known only at run time are not
 * unrolled. For texts of many loops (cpu/compile/rewrite_parts.c). */
#define HA_NO_UNROLLING "-mllvm", "-unroll-runtime=0"

/* LLVM 20's check that an index of few bits does not wrap forgets the index's step
 * (cpu/compile/rewrite_narrow.c).  It is asked for by loops that are made vectors on
 * that condition, and by rows of loads or stores with gaps. */
#define HA_NO_WRAP_CHECKS                                                              \
    "-mllvm", "-enable-interleaved-mem-accesses=0", "-mllvm",                          \
        "-vectorize-scev-check-threshold=0", "-mllvm",                                 \
        "-pragma-vectorize-scev-check-threshold=0", "-mllvm",                          \
        "-loop-load-elimination-scev-check-threshold=0"

/* Rows of operations that are alike become vectors where the compiler thinks it no
 * dearer, not only where it thinks it cheaper.  A fused product and sum counts as one
 * operation there and saves half of what two would; tiles of a matrix in registers
 * stayed scalar then. */
#define HA_VECTOR_FLAGS                                                                \
    "-vectorize-loops", "-vectorize-slp", "-mllvm", "-slp-threshold=-1"

/* -O1 and no higher: enough to inline and to put locals into registers; the rest is the
 * back end's work.  Loops are unrolled fully or not at all: a partly unrolled loop can
 * no longer be turned into vector code. */
#define HA_OPTIMISE_FLAGS                                                              \
    "-O1", "-funroll-loops", "-mllvm", "-unroll-runtime=0", "-mllvm",                  \
        "-unroll-allow-partial=0", HA_NO_FORWARDING

/* For lanes that run in step: what is loaded is not remembered beyond a store, and each
 * store is made, in the program's order.  To the optimiser s[t] and s[t ^ 1] are two
 * cells; to the warp they are one array.  It has no one switch for that; these are the
 * limits of its searches for what a load could see.  What stands before a branch or
 * behind it stays there: the lanes of its other side make it, too.  A copy of a record
 * may still be made from what that was copied from before; AMD's compiler does the
 * same. */
#define HA_IN_ORDER_FLAGS                                                              \
    "-mllvm", "-memssa-check-limit=0", "-mllvm", "-earlycse-mssa-optimization-cap=0",  \
        "-mllvm", "-memdep-block-scan-limit=1", "-mllvm",                              \
        "-memdep-block-number-limit=1", "-mllvm", "-dse-memoryssa-scanlimit=0",        \
        "-mllvm", "-dse-memoryssa-walklimit=0", "-mllvm", "-disable-licm-promotion",   \
        "-mllvm", "-licm-mssa-optimization-cap=0", "-mllvm",                           \
        "-available-load-scan-limit=1", "-mllvm", "-instcombine-code-sinking=0",       \
        "-mllvm", "-simplifycfg-max-small-block-size=0", "-mllvm",                     \
        "-simplifycfg-merge-cond-stores=0"

/* Instructions name the lines that they come from (cpu/compile/ir_place.h); nothing of
 * this reaches the back end. */
#define HA_PLACE_FLAGS "-debug-info-kind=line-tables-only"
/* For all but checks, which tell columns, too. */
#define HA_NO_COLUMNS "-gno-column-info"
/* For checks: the headers tell the scopes of atomics. */
#define HA_CHECK_DEFINE "-D__HIP_CPU_CHECK__=1"

#define HA_FRONT_TRIPLE "nvptx64-nvidia-cuda"

/* malloc can fail on a device, so a comparison with NULL is not known beforehand.
 * For virtual base classes clang 20 writes a cast between address spaces that its own
 * verifier refuses; the host has one such space, and the back end verifies what it
 * gets.
 */
#define HA_FRONT_FLAGS                                                                 \
    "-triple", HA_FRONT_TRIPLE, "-x", "hip", "-fcuda-is-device",                       \
        "-fcuda-allow-variadic-functions", "-fdeclspec", "-fno-threadsafe-statics",    \
        "-fno-builtin-printf", "-fno-builtin-malloc", "-fno-builtin-free",             \
        "-disable-llvm-verifier", HA_OPTIMISE_FLAGS,                                   \
        "-ffp-contract=fast-honor-pragmas", "-nostdsysteminc", "-nobuiltininc",        \
        HA_PLACE_FLAGS

/* Source of hiprtc is kernels alone.  That of hipadapt-cc is a whole program, of which
 * the front end reads everything and compiles the kernels; it comes preprocessed. */
#define HA_FRONT_KERNEL_FLAGS "-fno-rtti"
#define HA_FRONT_PROGRAM_FLAGS                                                         \
    "-fcxx-exceptions", "-fexceptions", "-fgnuc-version=4.2.1", "-fhip-new-launch-api"

#define HA_BACK_FLAGS "-mrelocation-model", "pic", "-pic-level", "2", "-Wno-pass-failed"

#define HA_SOURCE_PRELUDE "#include <hip/hip_runtime.h>\n"

/* Everything that can be inlined is: only the kernel itself then asks for its lane, and
 * each barrier and warp call stands in the kernel's own flow.  Between the two are more
 * of our headers, and then the program. */
#define HA_SOURCE_BEFORE                                                               \
    "#pragma clang attribute push(__attribute__((always_inline)), apply_to = "         \
    "function)\n"
#define HA_SOURCE_AFTER "\n#pragma clang attribute pop\n"

#define HA_REWRITE_NAME_PREFIX "__hip_name_"

#endif
