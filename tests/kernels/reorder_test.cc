// SPDX-License-Identifier: Apache-2.0
// Plain and blocked layouts: where each element lies, zeros in padded lanes, and the way back.
#include "kernels/reorder.h"

#include <doctest/doctest.h>

#include "kernel_testing.h"

using namespace sx;

TEST_CASE("to_blocked puts channel c at block c / b, lane c % b, and zeros beyond the last channel") {
  testing::Random random(1);
  testing::for_each_isa([&](Isa isa) {
    CAPTURE(isa_name(isa));
    for (size_t block : {kernels::channel_block(), size_t{4}, size_t{8}, size_t{16}})
      for (size_t batch : {1u, 3u})
        for (size_t channels : {1u, 3u, 16u, 20u, 33u})
          for (size_t space : {1u, 7u, 49u, 1500u}) {
            const size_t blocks = (channels + block - 1) / block;
            const auto plain = random.floats(batch * channels * space);
            std::vector<float> blocked(kernels::blocked_size(batch, channels, space, block), 7.0f);
            REQUIRE(blocked.size() == batch * blocks * space * block);
            testing::Threads threads(2);
            kernels::to_blocked(plain.data(), blocked.data(), batch, channels, space, block, threads);
            size_t wrong = 0;
            for (size_t n = 0; n < batch; ++n)
              for (size_t c = 0; c < blocks * block; ++c)
                for (size_t s = 0; s < space; ++s) {
                  const float expected = c < channels ? plain[(n * channels + c) * space + s] : 0.0f;
                  wrong += blocked[((n * blocks + c / block) * space + s) * block + c % block] != expected;
                }
            CHECK(wrong == 0);
            std::vector<float> back(plain.size());
            kernels::from_blocked(blocked.data(), back.data(), batch, channels, space, block, threads);
            CHECK(back == plain);
          }
  });
}
