// SPDX-License-Identifier: MIT
// part of: static_init.hip
#include "check.h"

int next_of(int *d);

class Keeper {
  public:
    Keeper() {
        int four = 4;
        CHECK(hipMalloc(&d_, sizeof *d_));
        CHECK(hipMemcpy(d_, &four, sizeof four, hipMemcpyHostToDevice));
        printf("before main %d\n", next());
    }
    ~Keeper() {
        printf("after main %d\n", next());
        CHECK(hipFree(d_));
    }
    int next() { return next_of(d_); }

  private:
    int *d_;
};

static Keeper keeper;

int keeper_next() { return keeper.next(); }
