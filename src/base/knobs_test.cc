#include "base/knobs.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tutti {
namespace {

using namespace std::chrono_literals;
using Environment = std::map<std::string, std::string, std::less<>>;

KnobLookup lookup_in(const Environment& environment) {
  return [environment](std::string_view name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
}

Result<Knobs> knobs_of(const Environment& environment) { return Knobs::read(lookup_in(environment)); }

std::string failure_of(const Environment& environment) { return std::string(knobs_of(environment).status().text()); }

const KnobReading& reading_of(const Knobs& knobs, KnobId id) { return knobs.readings()[static_cast<std::size_t>(id)]; }

TEST(Knobs, HaveDefaultsWhereNothingIsSet) {
  const Knobs knobs = Knobs::standard();
  EXPECT_EQ(knobs.start_timeout(), 60s);
  EXPECT_EQ(knobs.timeout(), 5min);
  EXPECT_EQ(knobs.silence(), 10s);
  EXPECT_EQ(knobs.late_warning(), 30s);
  EXPECT_EQ(knobs.socket_ifname(), "");
  EXPECT_EQ(knobs.socket_family(), SocketFamily::any);
  EXPECT_EQ(knobs.rails_max(), 4);
  EXPECT_EQ(knobs.sockets_per_peer(), 1);
  EXPECT_EQ(knobs.congestion(), std::nullopt);
  EXPECT_EQ(knobs.transport(), TransportChoice::automatic);
  EXPECT_FALSE(knobs.encrypt());
  EXPECT_EQ(knobs.compress(), WireCompression::off);
  EXPECT_EQ(knobs.dump_dir(), "");
  EXPECT_EQ(knobs.dump_signal(), DumpSignal::off);
  EXPECT_EQ(knobs.log_level(), LogLevel::warning);
  EXPECT_EQ(knobs.log_file(), "");
  EXPECT_TRUE(knobs.notes().empty());
  for (const KnobReading& reading : knobs.readings()) {
    EXPECT_EQ(reading.variable, "");
    EXPECT_EQ(reading.text, reading.knob->standard);
  }
}

TEST(Knobs, AreReadFromTheEnvironmentAndRememberFromWhere) {
  const auto knobs = knobs_of({{"TUTTI_START_TIMEOUT", "1.5"},
                               {"TUTTI_SILENCE", "250ms"},
                               {"TUTTI_LATE_WARNING", "off"},
                               {"TUTTI_SOCKETS_PER_PEER", "8"},
                               {"TUTTI_CONGESTION", "bbr"},
                               {"TUTTI_ENCRYPT", "1"},
                               {"TUTTI_COMPRESS", "BF16"},
                               {"TUTTI_TRANSPORT", "ucx"},
                               {"TUTTI_DUMP_SIGNAL", "USR2"},
                               {"TUTTI_LOG", "debug"}});
  ASSERT_TRUE(knobs) << knobs.status().text();
  EXPECT_EQ(knobs->start_timeout(), 1500ms);
  EXPECT_EQ(knobs->silence(), 250ms);
  EXPECT_EQ(knobs->late_warning(), std::nullopt);
  EXPECT_EQ(knobs->sockets_per_peer(), 8);
  EXPECT_EQ(knobs->congestion(), "bbr");
  EXPECT_TRUE(knobs->encrypt());
  EXPECT_EQ(knobs->compress(), WireCompression::bf16);
  EXPECT_EQ(knobs->transport(), TransportChoice::ucx);
  EXPECT_EQ(knobs->dump_signal(), DumpSignal::user2);
  EXPECT_EQ(knobs->log_level(), LogLevel::debug);
  EXPECT_EQ(reading_of(*knobs, KnobId::silence).variable, "TUTTI_SILENCE");
  EXPECT_EQ(reading_of(*knobs, KnobId::silence).text, "250ms");
  EXPECT_EQ(reading_of(*knobs, KnobId::timeout).variable, "");
}

TEST(Knobs, UnderstandTheNamesAndWordsOfNccl) {
  const auto knobs = knobs_of({{"NCCL_SOCKET_IFNAME", "^docker,lo"},
                               {"NCCL_SOCKET_FAMILY", "AF_INET6"},
                               {"NCCL_DEBUG", "info"},
                               {"NCCL_DEBUG_FILE", "/tmp/log.%h"}});
  ASSERT_TRUE(knobs) << knobs.status().text();
  EXPECT_EQ(knobs->socket_ifname(), "^docker,lo");
  EXPECT_EQ(knobs->socket_family(), SocketFamily::ipv6);
  EXPECT_EQ(knobs->log_level(), LogLevel::info);
  EXPECT_EQ(knobs->log_file(), "/tmp/log.%h");
  EXPECT_EQ(knobs->variable_of(KnobId::log), "NCCL_DEBUG");
  EXPECT_EQ(knobs->variable_of(KnobId::timeout), "TUTTI_TIMEOUT");
  EXPECT_EQ(knobs_of({{"NCCL_DEBUG", "TRACE"}})->log_level(), LogLevel::debug);
  EXPECT_EQ(knobs_of({{"NCCL_DEBUG", "VERSION"}})->log_level(), LogLevel::warning);
}

TEST(Knobs, ASecretHasAValueAndNoText) {
  const auto knobs = knobs_of({{"TUTTI_JOB_SECRET", "not for everybody"}});
  ASSERT_TRUE(knobs) << knobs.status().text();
  EXPECT_EQ(knobs->job_secret(), "not for everybody");
  EXPECT_EQ(reading_of(*knobs, KnobId::job_secret).text, "set");
  const std::string failure = failure_of({{"TUTTI_JOB_SECRET", std::string(5000, 'x')}});
  EXPECT_NE(failure.find("5000 bytes"), std::string::npos) << failure;
  EXPECT_EQ(failure.find("xx"), std::string::npos) << failure;
}

TEST(Knobs, OurNameWinsAndTheNoteSaysSo) {
  const auto knobs = knobs_of({{"TUTTI_LOG", "error"}, {"NCCL_DEBUG", "INFO"}});
  ASSERT_TRUE(knobs) << knobs.status().text();
  EXPECT_EQ(knobs->log_level(), LogLevel::error);
  EXPECT_EQ(knobs->notes(), std::vector<std::string>{"TUTTI_LOG='error' counts, NCCL_DEBUG='INFO' does not"});
  EXPECT_TRUE(knobs_of({{"TUTTI_LOG", "info"}, {"NCCL_DEBUG", "INFO"}})->notes().empty()) << "they say the same";
  EXPECT_TRUE(knobs_of({{"TUTTI_LOG", "info"}, {"NCCL_DEBUG", "LOUD"}})) << "what does not count does no harm";
}

TEST(Knobs, AnEmptyValueIsNone) {
  const auto knobs = knobs_of({{"TUTTI_SILENCE", ""}, {"TUTTI_LOG", ""}, {"NCCL_DEBUG", "INFO"}});
  ASSERT_TRUE(knobs) << knobs.status().text();
  EXPECT_EQ(knobs->silence(), 10s);
  EXPECT_EQ(knobs->log_level(), LogLevel::info);
}

TEST(Knobs, ABadValueIsNamedWithWhatIsAllowed) {
  EXPECT_EQ(failure_of({{"TUTTI_START_TIMEOUT", "soon"}}),
            "TUTTI_START_TIMEOUT: 'soon' is not a time; it takes seconds such as 60, 1.5s or 500ms, from 1 ms to "
            "1000000 s");
  EXPECT_EQ(failure_of({{"TUTTI_RAILS_MAX", "0"}}),
            "TUTTI_RAILS_MAX: '0' is outside of what is allowed; it takes a whole number from 1 to 16");
  EXPECT_EQ(failure_of({{"TUTTI_SOCKETS_PER_PEER", "many"}}),
            "TUTTI_SOCKETS_PER_PEER: 'many' is not a whole number; it takes a whole number from 1 to 64");
  EXPECT_EQ(failure_of({{"TUTTI_ENCRYPT", "maybe"}}),
            "TUTTI_ENCRYPT: 'maybe' is neither yes nor no; it takes 1, on, yes, true, or 0, off, no, false");
  EXPECT_EQ(failure_of({{"TUTTI_COMPRESS", "zip"}}), "TUTTI_COMPRESS: 'zip' is not known; it takes off, bf16 or fp16");
  EXPECT_EQ(failure_of({{"NCCL_SOCKET_FAMILY", "ipv4"}}),
            "NCCL_SOCKET_FAMILY: 'ipv4' is not known; it takes AF_INET or AF_INET6, and TUTTI_SOCKET_FAMILY takes any, "
            "ipv4 or ipv6");
}

TEST(Knobs, AllBadValuesStandInOneLine) {
  const std::string text = failure_of({{"TUTTI_TIMEOUT", "-1"}, {"TUTTI_LOG", "a\nb"}});
  EXPECT_NE(text.find("TUTTI_TIMEOUT: '-1'"), std::string::npos) << text;
  EXPECT_NE(text.find("TUTTI_LOG: 'a?b'"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(Knobs, TimesBeyondTheLimitsAreRefused) {
  for (const char* value : {"0", "0.1ms", "1000001", "1e300", "nan", "inf", "5 minutes", "-5s"}) {
    EXPECT_FALSE(knobs_of({{"TUTTI_SILENCE", value}})) << value;
  }
  EXPECT_FALSE(knobs_of({{"TUTTI_LOG_FILE", std::string(5000, 'x')}}));
}

TEST(Knobs, SizesAreReadWithUnits) {
  const Knob knob{.name = "TUTTI_SIZE", .type = KnobType::bytes, .least = 1024, .most = 1 << 20};
  EXPECT_EQ(*parse_knob(knob, "64K"), KnobValue(std::int64_t{65536}));
  EXPECT_EQ(parse_knob(knob, "2M").status().text(),
            "'2M' is outside of what is allowed; it takes bytes such as 65536, 64K or 1M, from 1 KiB to 1 MiB");
}

TEST(Knobs, UnknownNamesComeWithTheNearestKnown) {
  const std::vector<std::string> names = {"HOME",       "TUTTI_LOG",     "TUTTI_SEED",
                                          "TUTTI_RANK", "TUTTI_SILENSE", "TUTTI_BANANAS_PER_DAY"};
  const std::vector<std::string> expected = {"TUTTI_SILENSE is no setting, did you mean 'TUTTI_SILENCE'?",
                                             "TUTTI_BANANAS_PER_DAY is no setting; 'tutti env' lists those that are"};
  EXPECT_EQ(unknown_knobs(names), expected);
}

TEST(Knobs, TheTableIsFitToPrint) {
  std::set<std::string_view> names;
  for (const Knob& knob : all_knobs()) {
    EXPECT_TRUE(knob.name.starts_with("TUTTI_")) << knob.name;
    EXPECT_TRUE(names.insert(knob.name).second) << knob.name;
    EXPECT_TRUE(knob.meaning.ends_with('.')) << knob.name;
    EXPECT_EQ(knob.type == KnobType::choice, !knob.choices.empty()) << knob.name;
    for (const KnobTranslation& each : knob.translations)
      EXPECT_TRUE(parse_knob(knob, each.ours)) << knob.alias << ": " << each.theirs;
  }
}

}  // namespace
}  // namespace tutti
