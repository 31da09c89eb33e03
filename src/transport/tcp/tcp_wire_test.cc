#include "transport/tcp/tcp_wire.h"

#include "transport/wire_for_test.h"

namespace tutti::transport {
namespace {

TEST(TcpWire, WhatWasOnABrokenConnectionIsSentAgainOverTheOthers) {
  for (const int breaks_after : {0, 1, 3}) {
    std::array<TcpWire*, 2> wires{};
    std::vector<std::string> warnings;
    WirePair pair(3, [&](Rank rank, const auto& ports) {
      auto wire = std::make_unique<TcpWire>(ports, 3, [&warnings, rank](const std::string& text) {
        if (rank == 0) warnings.push_back(text);
      });
      wires[static_cast<std::size_t>(rank)] = wire.get();
      return wire;
    });
    Random random(static_cast<std::uint64_t>(breaks_after) + 1);
    std::vector<Sending> sent;
    for (int i = 0; i < 8; ++i) sent.push_back(value_of(random, kValueBytesMax / 2 + static_cast<std::size_t>(i)));
    std::uint32_t number = 0;
    for (std::uint32_t i = 0; i < sent.size(); ++i) {
      if (static_cast<int>(i) == breaks_after) pair.break_rail(i % 3);
      pair.wire(0).send_value(sent[i].parcel(++number, i));
      pair.wire(0).send_token(Port::collective, 0, ++number);
      const Status moved = pair.progress_until([&] { return pair.messages(1) == number; });
      ASSERT_TRUE(moved) << moved.text();
      expect_value(pair, i, sent[i]);
      pair.remote(1).count_taken(0);
      pair.wire(1).send_taken(Port::collective, 0, i + 1, true);
    }
    ASSERT_TRUE(pair.progress_until([&] { return pair.wire(0).is_flushed(); }));
    EXPECT_EQ(wires[0]->rails().size(), 2u);
    EXPECT_EQ(warnings.size(), 1u);
  }
}

}  // namespace
}  // namespace tutti::transport
