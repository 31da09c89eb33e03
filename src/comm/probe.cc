#include "comm/probe.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "os/clock.h"

namespace tutti::comm {

namespace {

enum class Order : std::uint32_t {
  stop,
  ping,    // messages there and back, one after the other
  burst,   // messages there, as they come, then one back
  stream,  // a large message there, then a small one back
};

// What rank 0 asks of rank 1.
struct Request {
  Order order = Order::stop;
  std::uint32_t number = 0;  // of messages; of a stream bytes
};

constexpr std::uint32_t kMessageBytes = 8;
constexpr std::uint32_t kPingsMax = 8;  // in a round
constexpr std::size_t kRoundsMax = 12;
constexpr std::size_t kRoundsMin = 2;
// No more than an inbox takes: waiting for places would be counted as work.
constexpr std::uint32_t kBurst = transport::kInboxValues;
// Of the time that there is: for messages, and for a single stream.
constexpr double kShareOfMessages = 0.4;
constexpr double kShareOfStream = 0.25;
constexpr std::array<std::uint32_t, 4> kStreams = {64 << 10, 256 << 10, 1 << 20, 4 << 20};
constexpr std::uint32_t kStreamBytesMax = kStreams.back();
constexpr int kStreamRounds = 2;  // plans are made at the first
// Nothing in the library takes less of a core; and of the time from end to end, an end takes at most so much.
constexpr double kMessageMin_s = 0.3e-6;
constexpr double kShareOfEndMax = 0.4;

double seconds_since(Time start) { return static_cast<double>(os::now().ns - start.ns) * 1e-9; }

class Conversation {
 public:
  explicit Conversation(Side& side) : side_(side), data_(kStreamBytesMax) {}

  Status pass(Rank from, std::uint32_t bytes) {
    return side_.run({.collective = plan::Collective::broadcast,
                      .in = data_.data(),
                      .out = data_.data(),
                      .count = bytes,
                      .type = DataType::uint8,
                      .root = from});
  }

  Status tell(Request& request) {
    return side_.run({.collective = plan::Collective::broadcast,
                      .in = &request,
                      .out = &request,
                      .count = sizeof(request),
                      .type = DataType::uint8});
  }

  // Both ranks do the same.
  Status carry_out(const Request& request) {
    switch (request.order) {
      case Order::stop: return {};
      case Order::ping:
        for (std::uint32_t i = 0; i < request.number; ++i) {
          TUTTI_TRY(pass(0, kMessageBytes));
          TUTTI_TRY(pass(1, kMessageBytes));
        }
        return {};
      case Order::burst:
        for (std::uint32_t i = 0; i < request.number; ++i) TUTTI_TRY(pass(0, kMessageBytes));
        return pass(1, kMessageBytes);
      case Order::stream: TUTTI_TRY(pass(0, std::min(request.number, kStreamBytesMax))); return pass(1, kMessageBytes);
    }
    return Status(Code::internal, "the other rank asks for something unknown");
  }

  // Seconds that it took.
  Result<double> ask(Request request) {
    TUTTI_TRY(tell(request));
    const Time start = os::now();
    TUTTI_TRY(carry_out(request));
    return seconds_since(start);
  }

 private:
  Side& side_;
  std::vector<std::byte> data_;
};

// Disturbances only make it slower; the very fastest may be an accident.
double lower_quartile(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 4];
}

struct Messages {
  double round_trip_s = 0;
  double burst_s = 0;
};

// Pings and bursts take turns, so that a disturbance does not fall on one of them alone.
Result<Messages> measure_messages(Conversation& conversation, double about_s) {
  const Time start = os::now();
  TUTTI_ASSIGN(const double once_s, conversation.ask({Order::ping, 1}));
  const double fitting = about_s / kRoundsMax / std::max(once_s, 1e-9);
  const auto pings = static_cast<std::uint32_t>(std::clamp(fitting, 1.0, static_cast<double>(kPingsMax)));
  std::vector<double> round_trips;
  std::vector<double> bursts;
  while (bursts.size() < kRoundsMin || (bursts.size() < kRoundsMax && seconds_since(start) < about_s)) {
    TUTTI_ASSIGN(const double pings_s, conversation.ask({Order::ping, pings}));
    round_trips.push_back(pings_s / pings);
    TUTTI_ASSIGN(const double burst_s, conversation.ask({Order::burst, kBurst}));
    bursts.push_back(burst_s);
  }
  return Messages{lower_quartile(std::move(round_trips)), lower_quartile(std::move(bursts))};
}

}  // namespace

Result<NetworkRates> measure_network(Side& probe, std::chrono::nanoseconds about) {
  const double about_s = std::chrono::duration<double>(about).count();
  Conversation conversation(probe);
  // The first one makes connections and plans.
  TUTTI_TRY(conversation.ask({Order::burst, kBurst}).status());
  const Time start = os::now();
  TUTTI_ASSIGN(const Messages messages, measure_messages(conversation, about_s * kShareOfMessages));
  NetworkRates rates{.latency_s = messages.round_trip_s / 2};
  const double message_s = (messages.burst_s - messages.round_trip_s) / (kBurst - 1);
  rates.message_s = std::min(std::max(kMessageMin_s, message_s), rates.latency_s * kShareOfEndMax);
  for (const std::uint32_t bytes : kStreams) {
    // The largest counts: networks let a little pass faster than they can go on. What would take too long by what is
    // known so far is left out.
    const double expected_s = rates.is_known() ? bytes / rates.bytes_per_s : 0;
    if (rates.is_known() && (expected_s > about_s * kShareOfStream || seconds_since(start) > about_s)) break;
    double stream_s = std::numeric_limits<double>::max();
    for (int i = 0; i < kStreamRounds; ++i) {
      TUTTI_ASSIGN(const double seconds, conversation.ask({Order::stream, bytes}));
      stream_s = std::min(stream_s, seconds);
    }
    // Without the way there and back, which is not part of what a link carries in a second.
    rates.bytes_per_s = bytes / std::max(stream_s - messages.round_trip_s, stream_s / 4);
  }
  Request stop;
  TUTTI_TRY(conversation.tell(stop));
  return rates;
}

Status answer_probe(Side& probe) {
  Conversation conversation(probe);
  for (;;) {
    Request request;
    TUTTI_TRY(conversation.tell(request));
    if (request.order == Order::stop) return {};
    TUTTI_TRY(conversation.carry_out(request));
  }
}

}  // namespace tutti::comm
