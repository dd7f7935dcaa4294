# SPDX-License-Identifier: MIT
"""Valid C++ of many kinds, for what it becomes in the compiler's IR.

Each text defines `int f(int)` with what it needs; a host's compiler takes them too.
"""

from __future__ import annotations

PROGRAMS = {
    "select of functions": """
        __device__ int twice(int x) { return 2 * x; }
        __device__ int next(int x) { return x + 1; }
        __device__ int f(int i) {
            int (*g)(int) = (i & 1) ? twice : next;
            return g(i);
        }
    """,
    "three functions": """
        __device__ int a(int x) { return 2 * x; }
        __device__ int b(int x) { return x + 1; }
        __device__ int c(int x) { return x * x; }
        __device__ int f(int i) {
            int (*g)(int) = i % 3 == 0 ? a : i % 3 == 1 ? b : c;
            return g(i) + (i > 4 ? g(3) : 0);
        }
    """,
    "local table": """
        __device__ int a(int x) { return 2 * x; }
        __device__ int b(int x) { return x + 1; }
        __device__ int f(int i) {
            int (*t[])(int) = {a, b, a, b};
            return t[i & 3](i);
        }
    """,
    "global table": """
        typedef int (*fn)(int);
        __device__ int a(int x) { return 2 * x; }
        __device__ int b(int x) { return x + 1; }
        __constant__ fn t[2] = {a, b};
        __device__ fn u[2] = {b, a};
        __device__ int f(int i) { return t[i & 1](i) + u[i & 1](i); }
    """,
    "static table": """
        __device__ int a(int x) { return 2 * x; }
        __device__ int b(int x) { return x + 1; }
        __device__ int f(int i) {
            static int (*const t[])(int) = {a, b};
            return t[i & 1](i);
        }
    """,
    "function pointer in record": """
        struct op {
            int (*run)(int, int);
            int with;
        };
        __device__ int add(int x, int y) { return x + y; }
        __device__ int mul(int x, int y) { return x * y; }
        __device__ int f(int i) {
            op o = i & 2 ? op{add, 5} : op{mul, 7};
            return o.run(i, o.with);
        }
    """,
    "virtual": """
        struct shape {
            int s;
            __device__ shape(int s) : s(s) {}
            __device__ virtual int area() const { return s; }
            __device__ virtual ~shape() {}
        };
        struct square : shape {
            using shape::shape;
            __device__ int area() const override { return s * s; }
        };
        struct cube final : square {
            using square::square;
            __device__ int area() const override { return 6 * square::area(); }
        };
        __device__ int f(int i) {
            shape a(i);
            square b(i);
            cube c(i);
            const shape *p = i % 3 == 0 ? &a : i % 3 == 1 ? &b : (const shape *)&c;
            return p->area();
        }
    """,
    "multiple inheritance": """
        struct A {
            int x = 1;
            __device__ virtual int g() { return x; }
        };
        struct B {
            int y = 2;
            __device__ virtual int h() { return y; }
        };
        struct C : A, B {
            int z = 3;
            __device__ int g() override { return z + x; }
            __device__ int h() override { return z * y; }
        };
        __device__ int f(int i) {
            C c;
            B b;
            c.z = i;
            B *p = i & 1 ? &b : (B *)&c;
            A *a = &c;
            return p->h() + a->g();
        }
    """,
    "virtual inheritance": """
        struct A {
            int x = 1;
            __device__ virtual int g() { return x; }
        };
        struct B : virtual A {
            int y = 2;
        };
        struct C : virtual A {
            int z = 3;
        };
        struct D : B, C {
            __device__ int g() override { return x + y + z; }
        };
        __device__ int f(int i) {
            D d;
            d.x = i;
            B b;
            A *p = i & 1 ? (A *)&d : (A *)&b;
            return p->g();
        }
    """,
    "pure virtual": """
        struct A {
            __device__ virtual int g(int) = 0;
        };
        struct B : A {
            __device__ int g(int i) override { return i + 3; }
        };
        struct C : A {
            __device__ int g(int i) override { return i * 3; }
        };
        __device__ int f(int i) {
            B b;
            C c;
            A *p = i & 4 ? (A *)&b : &c;
            return p->g(i);
        }
    """,
    "member pointers": """
        struct A {
            int x;
            __device__ int g(int i) { return x + i; }
            __device__ int h(int i) { return x * i; }
            __device__ virtual int v(int i) { return i; }
        };
        __device__ int f(int i) {
            A a{};
            a.x = 5;
            int (A::*m)(int) = i % 3 == 0 ? &A::g : i % 3 == 1 ? &A::h : &A::v;
            int A::*d = &A::x;
            return (a.*m)(i) + a.*d;
        }
    """,
    "lambda as function": """
        __device__ int f(int i) {
            auto a = [](int x) { return x + 4; };
            auto b = [](int x) { return x - 4; };
            int (*g)(int) = i & 1 ? +a : +b;
            return g(i);
        }
    """,
    "recursion": """
        __device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        __device__ int odd(int n);
        __device__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
        __device__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
        __device__ int f(int i) { return fib(i % 12) + even(i); }
    """,
    "recursive pointer": """
        struct node {
            node *l, *r;
            int v;
        };
        __device__ int sum(const node *n) {
            return n ? n->v + sum(n->l) + sum(n->r) : 0;
        }
        __device__ int f(int i) {
            node a{0, 0, i}, b{0, 0, 2}, c{&a, &b, 3};
            return sum(&c);
        }
    """,
    "expect": """
        __device__ int f(int i) {
            int r = 0;
            if (__builtin_expect(i == 3, 0)) r = 7;
            else if (__builtin_expect_with_probability(i > 5, 1, 0.7)) r = 9;
            if (__builtin_unpredictable(i & 1)) r += 100;
            for (int k = 0; k < i; k++) {
                if (k & 1) [[unlikely]]
                    r += k * k;
                else [[likely]] r ^= k;
            }
            switch (i) {
            [[likely]] case 3:
                r += 1000;
                break;
            case 4: r += 3; break;
            case 8: r -= 3; break;
            }
            return r;
        }
    """,
    "assume": """
        __device__ int f(int i) {
            __builtin_assume(i >= 0);
            alignas(32) int t[8] = {1, 2, 3, 4, 5, 6, 7, 8};
            int *p = (int *)__builtin_assume_aligned(t, 32);
            if (i < 0) __builtin_unreachable();
            return p[i & 7] / 2 + i % 8;
        }
    """,
    "switches": """
        enum class E : unsigned char { a, b, c, d };
        __device__ int f(int i) {
            int r = 0;
            switch (i) {
            case 0: r = 5; break;
            case 1: r = 17; break;
            case 2: r = -3; break;
            case 3: r = 99; break;
            case 4: r = 1; break;
            case 5 ... 9: r = 44; break;
            default: r = 8;
            }
            switch ((long long)i * 1000000007ll) {
            case 3000000021ll: r += 3; break;
            case 7000000049ll: r += 7; break;
            case 5: r = 0;
            }
            switch ((E)(i & 3)) {
            case E::a: r ^= 64; break;
            case E::b: r ^= 32; [[fallthrough]];
            case E::c: r ^= 16; break;
            case E::d: return r;
            }
            return r;
        }
    """,
    "switch to strings": r"""
        __device__ const char *name(int i) {
            switch (i) {
            case 0: return "zero";
            case 1: return "one";
            case 2: return "t\"wo\n";
            case 3: return "three, (and) more";
            case 4: return "@f !5 #0 %x addrspace(1)";
            default: return "many";
            }
        }
        __device__ int f(int i) {
            int h = 0;
            for (const char *p = name(i); *p; p++) h = h * 31 + *p;
            return h;
        }
    """,
    "strings of strings": r"""
        __device__ const char *const names[] = {"a", "bc", "d\x01\xff",
                                                ", !callees !3"};
        struct row {
            const char *name;
            int value;
            const int *more;
        };
        __device__ const int numbers[] = {4, 5, 6};
        __device__ const row rows[] = {{"x", 3, numbers}, {"y, @g", 4, numbers + 1}};
        __device__ int f(int i) {
            const char *s = names[i & 3];
            int h = 0;
            while (*s) h = h * 7 + (unsigned char)*s++;
            const row &r = rows[i & 1];
            return h + r.value + r.name[0] + *r.more;
        }
    """,
    "restrict": """
        __device__ void add(int *__restrict__ a, const int *__restrict__ b, int n) {
            for (int k = 0; k < n; k++) a[k] += b[k] * 3;
        }
        __device__ int f(int i) {
            int a[4] = {i, 1, 2, 3}, b[4] = {5, i, 7, 8};
            add(a, b, 4);
            add(a + 2, b, 2);
            return a[0] + a[1] + a[2] * 5 + a[3];
        }
    """,
    "range and nonnull": """
        struct S {
            bool b;
            const int *p;
        };
        enum E { one = 1, two = 2 };
        __device__ __attribute__((returns_nonnull)) int *pick(int *a, int *b, int i) {
            return i & 1 ? a : b;
        }
        __device__ __attribute__((noinline)) bool flag(const S &s) { return s.b; }
        __device__ int f(int i) {
            int x = i, y = 2;
            S s{(i & 2) != 0, pick(&x, &y, i)};
            S t = s;
            volatile E e = i & 1 ? one : two;
            return flag(t) + *t.p + (t.b ? e : 10) + (pick(&x, &y, i) != nullptr);
        }
    """,
    "nontemporal": """
        __device__ int f(int i) {
            int t[4] = {1, 2, 3, 4};
            int *volatile q = t;
            int *p = q;
            __builtin_nontemporal_store(i, p + 1);
            return __builtin_nontemporal_load(p + (i & 3));
        }
    """,
    "records by value": """
        struct V {
            float x, y, z;
        };
        struct L {
            int v[9];
        };
        struct T {
            char c;
            long long l;
        };
        __device__ __attribute__((noinline)) V scale(V v, float s) {
            return {v.x * s, v.y * s, v.z * s};
        }
        __device__ __attribute__((noinline)) L fill(L l, int k) {
            for (int &v : l.v) v += k;
            return l;
        }
        __device__ __attribute__((noinline)) T both(T a, T b) {
            return {(char)(a.c + b.c), a.l * b.l};
        }
        __device__ int f(int i) {
            V v = scale({1, 2, (float)i}, 2);
            L l{};
            l.v[3] = i;
            l = fill(l, 4);
            T t = both({1, i}, {2, 3});
            return (int)v.z + l.v[3] + l.v[8] + t.c + (int)t.l;
        }
    """,
    "optnone": """
        __device__ __attribute__((optnone, noinline)) int g(int i) {
            int t = 0;
            for (int k = 0; k < i; k++) t += k;
            return t;
        }
        __device__ __attribute__((minsize)) int h(int i) { return i * 3; }
        __device__ __attribute__((cold)) int c(int i) { return i - 1; }
        __device__ __attribute__((hot, flatten)) int d(int i) { return c(i) + h(i); }
        __device__ __attribute__((pure)) int pu(const int *p) { return *p; }
        __device__ __attribute__((const)) int co(int i) { return i ^ 5; }
        __device__ int f(int i) { return g(i) + d(i) + pu(&i) + co(i); }
    """,
    "annotate": """
        __device__ __attribute__((annotate("mine"))) int g(int i) { return i + 1; }
        struct S {
            __attribute__((annotate("field"))) int x;
        };
        __device__ __attribute__((annotate("var"))) int counter = 3;
        __device__ int f(int i) {
            __attribute__((annotate("local"))) int k = i;
            S s{i};
            return g(k) + s.x + __builtin_annotation(i, "here") + counter;
        }
    """,
    "unicode and odd names": """
        __device__ int naïve(int x) { return x + 1; }
        __device__ int odd_label(int x) asm("odd label, (x) !5");
        __device__ __attribute__((noinline)) int odd_label(int x) { return x * 2; }
        template <class T, int n> struct pair_of {
            T v[n];
            __device__ T sum() const {
                T t = 0;
                for (T x : v) t += x;
                return t;
            }
        };
        namespace {
        struct hidden {
            pair_of<int, 3> p;
        };
        } // namespace
        __device__ __attribute__((noinline)) int use(const hidden &h) {
            return h.p.sum();
        }
        __device__ int f(int i) {
            hidden h{{{i, 2, 3}}};
            struct local {
                int a;
            } l{i};
            return naïve(i) + odd_label(i) + use(h) + l.a;
        }
    """,
    "unions and bit fields": """
        union U {
            float f;
            unsigned u;
            unsigned char c[4];
        };
        struct B {
            unsigned a : 3, b : 7;
            int c : 5;
            unsigned long long d : 40;
        };
        __device__ int f(int i) {
            U u;
            u.f = (float)i;
            B b{(unsigned)i, (unsigned)i * 3, i, (unsigned long long)i << 30};
            b.c++;
            return (int)(u.u >> 16) + u.c[3] + b.a + b.b + b.c + (int)(b.d >> 28);
        }
    """,
    "i128": """
        __device__ int f(int i) {
            unsigned __int128 x = (unsigned __int128)i << 70 | 5;
            x *= 3;
            x += i;
            __int128 y = -(__int128)i;
            return (int)(x >> 70) + (int)x + (int)(y >> 3) + (x > 100);
        }
    """,
    "bitint": """
        __device__ int f(int i) {
            _BitInt(37) x = i;
            x = x * 1000003 + 5;
            unsigned _BitInt(7) y = (unsigned _BitInt(7))i;
            y += 100;
            return (int)(x >> 3) + (int)y;
        }
    """,
    "vectors": """
        typedef int v4 __attribute__((vector_size(16)));
        typedef float f3 __attribute__((ext_vector_type(3)));
        __device__ int f(int i) {
            v4 a = {i, 1, 2, 3}, b = a * 3 + 1;
            v4 c = __builtin_shufflevector(a, b, 0, 5, 2, 7);
            v4 m = a > b - 5;
            f3 q = {1, 2, (float)i};
            q = q.zyx * 2.0f;
            return c[0] + c[1] + c[3] + m[0] + (int)q.x + (int)__builtin_reduce_add(b);
        }
    """,
    "complex": """
        __device__ int f(int i) {
            _Complex float a = {(float)i, 2}, b = {3, 4};
            _Complex float c = a + b;
            return (int)__real__ c + (int)__imag__ c;
        }
    """,
    "complex product": """
        __device__ int f(int i) {
            _Complex float a = {(float)i, 2}, b = {3, 4};
            _Complex float c = a * b;
            _Complex double d = {1, (double)i};
            d = d * d;
            return (int)__real__ c + (int)__imag__ c + (int)__real__ d;
        }
    """,
    "complex quotient": """
        __device__ int f(int i) {
            _Complex double a = {(double)i * 25, 50}, b = {3, 4};
            _Complex double c = a / b;
            return (int)(__real__ c + 0.5) + (int)(__imag__ c + 100.5);
        }
    """,
    "builtins": """
        __device__ int f(int i) {
            int r;
            bool o = __builtin_add_overflow(i << 28, i << 29, &r);
            unsigned u;
            o |= __builtin_mul_overflow((unsigned)i, 1000000000u, &u);
            long long l;
            o ^= __builtin_sub_overflow(5ll, (long long)i, &l);
            return (r ^ (int)u ^ (int)l) + o + __builtin_popcount(i) +
                   __builtin_clz(i | 1) + __builtin_ctz(i | 8) +
                   (int)__builtin_bitreverse32(i) + (int)__builtin_rotateleft32(i, 5) +
                   (int)__builtin_bswap32(i) + __builtin_ffs(i) + __builtin_parity(i) +
                   __builtin_isnan((double)i) + __builtin_signbit((float)-i) +
                   __builtin_constant_p(i) + (int)__builtin_object_size(&r, 0);
        }
    """,
    "floats": """
        __device__ int f(int i) {
            double d = i * 0.37;
            int e;
            double m = __builtin_frexp(d, &e);
            return (int)(__builtin_floor(d) + __builtin_ceil(d) + __builtin_trunc(-d) +
                         __builtin_rint(d) + __builtin_fabs(-d) +
                         __builtin_copysign(d, -1.0) + __builtin_fmax(d, 3.0) +
                         __builtin_fmin(d, 3.0) + __builtin_ldexp(m, e) * 2) +
                   e + __builtin_isinf(d) + __builtin_isfinite(d) +
                   __builtin_fpclassify(0, 1, 2, 3, 4, d);
        }
    """,
    "alloca": """
        __device__ int f(int i) {
            int n = (i & 7) + 1;
            int *p = (int *)__builtin_alloca(n * sizeof(int));
            for (int k = 0; k < n; k++) p[k] = k + i;
            return p[n - 1];
        }
    """,
    "memory functions": """
        __device__ int f(int i) {
            char a[40], b[40];
            __builtin_memset(a, i, 40);
            __builtin_memcpy(b, a, 33);
            __builtin_memmove(a + 1, a, 20);
            __builtin_memcpy_inline(b + 3, a, 8);
            a[3] = 1;
            return a[0] + a[20] + b[32] + (__builtin_memcmp(a, b, 4) > 0);
        }
    """,
    "volatile": """
        __device__ int f(int i) {
            volatile int v = i;
            v = v + 1;
            volatile struct {
                int a, b;
            } s;
            s.a = v;
            s.b = 4;
            return v + s.a * s.b;
        }
    """,
    "goto": """
        __device__ int f(int i) {
            int k = 0, r = 0;
        again:
            if (k < i) {
                r += k;
                k++;
                if (r > 50) goto out;
                goto again;
            }
            r = -r;
        out:
            return r;
        }
    """,
    "static locals": """
        __device__ int f(int i) {
            static const int t[] = {3, 1, 4, 1, 5, 9, 2, 6};
            static constexpr double d[] = {0.5, 1.5};
            const char s[] = "abcdef";
            return t[i & 7] + (int)(d[i & 1] * 2) + s[i % 6];
        }
    """,
    "variables": """
        __device__ int a = 4;
        __device__ int *pa = &a;
        __constant__ int c[3] = {7, 8, 9};
        __device__ const int *pc = c + 1;
        inline __device__ int in = 5;
        template <class T> __device__ T tv = T(6);
        __device__ int zero[100];
        struct P {
            int *p;
            const char *s;
            double d;
        };
        __device__ P rec = {&a, "hello", 2.5};
        __device__ int **ppa = &pa;
        __device__ struct {
            int *x;
            int y[3];
        } an = {&zero[7], {1, 2, 3}};
        __device__ __attribute__((weak)) int wk = 12;
        __device__ __attribute__((aligned(256))) char al[3] = {1, 2, 3};
        __device__ long addr_diff = (long)(sizeof(P));
        __device__ int f(int i) {
            return *pa + pc[0] + in + tv<int> + *rec.p + rec.s[i % 5] + **ppa + *an.x +
                   an.y[i % 3] + wk + al[i % 3] + (int)addr_diff + zero[i % 100];
        }
    """,
    "templates": """
        template <class... T> __device__ int sum(T... t) { return (0 + ... + t); }
        template <int n> struct F {
            static __device__ int v() { return n * F<n - 1>::v(); }
        };
        template <> struct F<0> {
            static __device__ int v() { return 1; }
        };
        template <class A, class B> struct both {
            A a;
            B b;
            __device__ auto call(int i) const { return a(i) + b(i); }
        };
        template <class A, class B> __device__ both<A, B> join(A a, B b) {
            return {a, b};
        }
        __device__ int f(int i) {
            int k = 3;
            return sum(i, 2, 'c', 4.5f) + F<5>::v() +
                   join([=](int x) { return x * k; }, [&](int x) { return x + k; })
                       .call(i);
        }
    """,
    "erased function": """
        struct any {
            void *p;
            int (*call)(void *, int);
            template <class F>
            __device__ any(F &f)
                : p(&f), call([](void *p, int i) { return (*(F *)p)(i); }) {}
            __device__ int operator()(int i) const { return call(p, i); }
        };
        __device__ int apply(any a, int i) { return a(i) + a(i + 1); }
        __device__ int f(int i) {
            int k = 0;
            auto l = [&](int x) {
                k += x;
                return k;
            };
            auto m = [](int x) { return x * x; };
            return i & 1 ? apply(l, i) : apply(m, i);
        }
    """,
    "placement": """
        struct A {
            int x;
            __device__ A(int x) : x(x) {}
            __device__ virtual int g() { return x; }
        };
        struct B : A {
            int y = 3;
            using A::A;
            __device__ int g() override { return x + y; }
        };
        __device__ int f(int i) {
            alignas(B) char s[sizeof(B)];
            A *a = i & 1 ? new (s) A(i) : new (s) B(i);
            return __builtin_launder(a)->g();
        }
    """,
    "goto computed by switch in loop": """
        __device__ int f(int i) {
            unsigned state = 0;
            int acc = i;
            for (int k = 0; k < 20; k++) {
                switch (state) {
                case 0:
                    acc += 3;
                    state = acc & 1 ? 2 : 1;
                    break;
                case 1:
                    acc *= 2;
                    state = 3;
                    break;
                case 2:
                    acc -= 5;
                    state = 0;
                    break;
                case 3:
                    acc ^= k;
                    state = acc % 4;
                    if ((int)state < 0) state = 0;
                    break;
                default: state = 0;
                }
            }
            return acc;
        }
    """,
    "loop pragmas": """
        __device__ int f(int i) {
            int r = 0;
        #pragma unroll
            for (int k = 0; k < 8; k++) r += k * i;
        #pragma unroll 3
            for (int k = 0; k < i; k++) r ^= k * 3;
        #pragma nounroll
            for (int k = 0; k < i; k++) r += k;
        #pragma clang loop vectorize(enable) interleave_count(2)
            for (int k = 0; k < i; k++) r += k * k;
        #pragma clang loop distribute(enable) vectorize_width(4)
            for (int k = 0; k < i; k++) r += 2;
            do { r--; } while (r > 1000);
            return r;
        }
    """,
    "musttail": """
        __device__ __attribute__((noinline)) int g(int n, int acc) {
            if (n == 0) return acc;
            [[clang::musttail]] return g(n - 1, acc + n);
        }
        __device__ int f(int i) { return g(i, 3); }
    """,
    "empty asm": """
        __device__ int f(int i) {
            asm volatile("" ::: "memory");
            return i + 1;
        }
    """,
    "asm with operand": """
        __device__ int f(int i) {
            int x = i;
            asm volatile("" : "+r"(x));
            return x + 1;
        }
    """,
    "alias": """
        extern "C" __device__ int real_one(int x) { return x + 9; }
        extern "C" __device__ __attribute__((alias("real_one"))) int other_one(int x);
        __device__ int f(int i) { return other_one(i); }
    """,
    "section and used": """
        __device__ __attribute__((used)) int kept = 5;
        __device__ __attribute__((used, noinline)) int g(int i) { return i + kept; }
        static __device__ __attribute__((unused)) int h(int i) { return i; }
        __device__ int f(int i) { return g(i); }
    """,
    "noinline and loops": """
        __device__ __attribute__((noinline)) long long
        mix(long long a, short b, unsigned char c, bool d, float e, double g) {
            return a + b * c + d + (long long)(e * g);
        }
        __device__ int f(int i) {
            return (int)mix(i, (short)-i, (unsigned char)(i * 3), i & 1, i * 0.5f, 2.0);
        }
    """,
    "atomics of the language": """
        __device__ int f(int i) {
            int x = i;
            __atomic_fetch_add(&x, 3, __ATOMIC_RELAXED);
            __atomic_store_n(&x, x * 2, __ATOMIC_RELEASE);
            int y = __atomic_load_n(&x, __ATOMIC_ACQUIRE);
            __atomic_compare_exchange_n(&x, &y, 77, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED);
            __sync_fetch_and_or(&x, 2);
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
            return x + y;
        }
    """,
    "pointer compare and casts": """
        __device__ int tab[16];
        __shared__ int sh[4];
        __device__ int f(int i) {
            int *p = &tab[i & 15];
            long d = p - tab;
            unsigned long u = (unsigned long)p;
            bool same = (int *)u == &tab[i & 15];
            const void *q = p;
            return (int)d + same + (q != nullptr) + (p < tab + 8);
        }
    """,
    "function address compare": """
        __device__ __attribute__((noinline)) int a(int x) { return x; }
        __device__ __attribute__((noinline)) int b(int x) { return x + 1; }
        __device__ int call(int (*g)(int), int i) {
            if (g == a) return 100;
            return g(i);
        }
        __device__ int f(int i) { return call(i & 1 ? a : b, i); }
    """,
    "callback through noinline": """
        __device__ int a(int x) { return x; }
        __device__ int b(int x) { return x + 1; }
        __device__ __attribute__((noinline)) int apply(int (*g)(int), int i) {
            return g(i) * 2;
        }
        __device__ int f(int i) { return apply(i & 1 ? a : b, i) + apply(a, 3); }
    """,
    "large constants": """
        __device__ const long long big[] = {9223372036854775807ll,
                                            -9223372036854775807ll - 1};
        __device__ const float fl[] = {1e30f, -0.0f, 3.14f, __builtin_inff()};
        __device__ const _Float16 hs[] = {1.5, 2.5};
        __device__ const bool bs[] = {true, false, true};
        __device__ int f(int i) {
            return (int)(big[i & 1] >> 40) + (fl[i & 3] > 2) + (int)hs[i & 1] +
                   bs[i % 3];
        }
    """,
    "nested lambdas and captures": """
        template <class F> __device__ int twice(F f, int i) { return f(f(i)); }
        __device__ int f(int i) {
            int a = 2;
            auto g = [&](auto self, int n) -> int {
                return n <= 0 ? a : self(self, n - 1) + n;
            };
            return twice([&](int x) { return x + g(g, x % 5); }, i);
        }
    """,
    "unaligned and packed": """
        struct __attribute__((packed)) K {
            char c;
            int i;
            short s;
            double d;
        };
        __device__ int f(int i) {
            K k{1, i, 3, 4.5};
            K t[3] = {k, k, k};
            t[1].i += 7;
            return t[1].i + t[2].s + (int)t[0].d + (int)sizeof(K);
        }
    """,
    "fp environment": """
        __device__ float g(float x, float y) {
        #pragma STDC FENV_ACCESS ON
            return x / y + x;
        }
        __device__ int f(int i) { return (int)(g((float)i, 3.0f) * 100); }
    """,
    "strict exceptions": """
        __device__ float g(float x, float y) {
        #pragma clang fp exceptions(strict)
            return x * y + x;
        }
        __device__ int f(int i) { return (int)(g((float)i, 3.0f) * 100); }
    """,
    "virtual bases built in place": """
        struct A {
            int x = 1;
            __device__ virtual int g() { return x; }
            __device__ A() {}
            __device__ virtual ~A() {}
        };
        struct B : virtual A {
            int y = 2;
            __device__ B(int v) { y = v + g(); }
            __device__ int g() override { return y + x; }
        };
        struct C : virtual A {
            int z = 3;
        };
        struct D : B, C {
            __device__ D(int v) : B(v) {}
            __device__ int g() override { return x + y + z; }
        };
        struct E : D {
            int w = 4;
            __device__ E(int v) : D(v) {}
            __device__ int g() override { return D::g() * w; }
        };
        __device__ __attribute__((noinline)) int use(A *a) { return a->g(); }
        __device__ int f(int i) {
            D d(i);
            d.x = i;
            E e(i);
            A *p = i % 3 == 0 ? (A *)&d : i % 3 == 1 ? (A *)&e : nullptr;
            B b(i);
            if (!p) p = &b;
            C *c = i & 1 ? (C *)&d : &e;
            return use(p) + c->z;
        }
    """,
    "asm barriers": """
        __device__ int f(int i) {
            int x = i, y = 4;
            asm volatile("" ::: "memory");
            asm("" : "=r"(x) : "0"(i));
            asm volatile("" : "+r"(x), "+m"(y) : "r"(i) : "memory");
            for (int k = 0; k < 5; k++) {
                x += k;
                asm volatile("" : "+r"(x));
            }
            return x + y;
        }
    """,
    "aliases": """
        extern "C" __device__ int first(int x) { return x + 9; }
        extern "C" __device__ __attribute__((alias("first"))) int second(int x);
        extern "C" __device__ int number = 7;
        extern "C" __device__ __attribute__((alias("number"))) int same;
        __device__ int (*const table[])(int) = {second, first};
        __device__ int f(int i) {
            number += 0;
            return second(i) + same + table[i & 1](i);
        }
    """,
    "arguments that nobody reads": """
        struct Pair { int a, b; };
        __device__ int said = 0;
        __device__ int say(const char *text, int x, ...) { return x + text[0]; }
        __device__ void nothing(...) {}
        __device__ __attribute__((noinline)) void tell(const char *, ...) { said += 0; }
        __device__ int f(int i) {
            Pair pair = {i, 2};
            nothing(i, "(...) @_Z3sayPKciz(");
            tell("%d %s", pair.a, "...) @x(");
            return say("a", i, 2.0, "b, c", pair.a) + say("b", i) + pair.b;
        }
    """,
}
