// The table itself: to add a setting, add its KnobId, its row here and its accessor in Knobs.
#include <array>

#include "base/knobs.h"

namespace tutti {

namespace {

constexpr double kLongestSeconds = 1e6;  // eleven days: who waits longer has forgotten it
constexpr double kShortestSeconds = 1e-3;
constexpr double kLargestBytes = 1ull << 44;  // 16 TiB: more than any communicator takes

constexpr std::array<std::string_view, 3> kFamilies = {"any", "ipv4", "ipv6"};
constexpr std::array<std::string_view, 3> kCompressions = {"off", "bf16", "fp16"};
constexpr std::array<std::string_view, 2> kMeasurements = {"auto", "off"};
constexpr std::array<std::string_view, 3> kTransports = {"auto", "tcp", "ucx"};
constexpr std::array<std::string_view, 3> kSignals = {"off", "USR1", "USR2"};
constexpr std::array<std::string_view, 4> kLevels = {"error", "warning", "info", "debug"};

constexpr std::array<KnobTranslation, 2> kFamilyTranslations = {{{"AF_INET", "ipv4"}, {"AF_INET6", "ipv6"}}};
// What asks for less than warnings there does not hide warnings here: somebody who wants that says it to us.
constexpr std::array<KnobTranslation, 6> kLevelTranslations = {{{"NONE", "warning"},
                                                                {"VERSION", "warning"},
                                                                {"WARN", "warning"},
                                                                {"INFO", "info"},
                                                                {"ABORT", "info"},
                                                                {"TRACE", "debug"}}};

constexpr Knob seconds(KnobId id, std::string_view name, std::string_view standard, std::string_view meaning) {
  return {.id = id,
          .name = name,
          .standard = standard,
          .meaning = meaning,
          .type = KnobType::seconds,
          .least = kShortestSeconds,
          .most = kLongestSeconds};
}

constexpr Knob choice(KnobId id, std::string_view name, std::string_view meaning,
                      std::span<const std::string_view> choices, std::string_view standard) {
  return {
      .id = id, .name = name, .standard = standard, .meaning = meaning, .type = KnobType::choice, .choices = choices};
}

constexpr Knob text(KnobId id, std::string_view name, std::string_view meaning) {
  return {.id = id, .name = name, .meaning = meaning};
}

constexpr Knob integer(KnobId id, std::string_view name, std::string_view standard, std::string_view meaning,
                       double least, double most) {
  return {.id = id,
          .name = name,
          .standard = standard,
          .meaning = meaning,
          .type = KnobType::integer,
          .least = least,
          .most = most};
}

constexpr Knob with_alias(Knob knob, std::string_view alias, std::span<const KnobTranslation> translations = {}) {
  knob.alias = alias;
  knob.translations = translations;
  return knob;
}

constexpr Knob or_instead(Knob knob, std::string_view word) {
  knob.instead = word;
  return knob;
}

constexpr std::array<Knob, kKnobCount> kKnobs = {
    seconds(KnobId::start_timeout, "TUTTI_START_TIMEOUT", "60s",
            "How long a start waits for all ranks before it names those that are missing."),
    seconds(KnobId::timeout, "TUTTI_TIMEOUT", "300s", "The longest that a call waits for another rank."),
    seconds(KnobId::silence, "TUTTI_SILENCE", "10s",
            "How long a rank may be silent before the others take it for cut off."),
    or_instead(seconds(KnobId::late_warning, "TUTTI_LATE_WARNING", "30s",
                       "After how long a rank that lives but keeps others waiting is named in a warning."),
               "off"),
    with_alias(text(KnobId::socket_ifname, "TUTTI_SOCKET_IFNAME",
                    "Which network interfaces to use: prefixes such as eth,ib, exact names after =, all but those "
                    "after ^."),
               "NCCL_SOCKET_IFNAME"),
    with_alias(choice(KnobId::socket_family, "TUTTI_SOCKET_FAMILY", "Which addresses to use.", kFamilies, "any"),
               "NCCL_SOCKET_FAMILY", kFamilyTranslations),
    integer(KnobId::rails_max, "TUTTI_RAILS_MAX", "4",
            "How many interfaces to use together between two hosts; rank 0's setting counts.", 1, 16),
    integer(KnobId::sockets_per_peer, "TUTTI_SOCKETS_PER_PEER", "1",
            "How many connections carry data between two ranks over one rail; rank 0's setting counts.", 1, 64),
    or_instead({.id = KnobId::congestion,
                .name = "TUTTI_CONGESTION",
                .standard = "auto",
                .meaning = "The congestion control of TCP, as the kernel names it (cubic, bbr, dctcp)."},
               "auto"),
    choice(KnobId::transport, "TUTTI_TRANSPORT", "What carries data between hosts.", kTransports, "auto"),
    choice(KnobId::measure, "TUTTI_MEASURE",
           "Whether a start over several hosts measures the network, in less than 100 ms; rank 0's setting counts.",
           kMeasurements, "auto"),
    {.id = KnobId::encrypt,
     .name = "TUTTI_ENCRYPT",
     .standard = "off",
     .meaning = "Whether everything between hosts is encrypted (TLS 1.3).",
     .type = KnobType::boolean},
    choice(KnobId::compress, "TUTTI_COMPRESS", "What float32 sums become between hosts; they are no longer exact then.",
           kCompressions, "off"),
    integer(KnobId::virtual_devices, "TUTTI_VIRTUAL_DEVICES", "8",
            "How many devices a machine without GPUs seems to have.", 1, 1024),
    {.id = KnobId::cudart_trace,
     .name = "TUTTI_CUDART_TRACE",
     .standard = "off",
     .meaning = "Whether calls of the CUDA runtime for virtual devices that fail are logged, with the reason.",
     .type = KnobType::boolean},
    text(KnobId::dump_dir, "TUTTI_DUMP_DIR", "The folder that flight recorders are written to; none unless given."),
    choice(KnobId::dump_signal, "TUTTI_DUMP_SIGNAL", "The signal on which a process writes its flight recorder.",
           kSignals, "off"),
    with_alias(choice(KnobId::log, "TUTTI_LOG", "How much the log tells.", kLevels, "warning"), "NCCL_DEBUG",
               kLevelTranslations),
    with_alias(text(KnobId::log_file, "TUTTI_LOG_FILE",
                    "The file of the log instead of stderr; %h becomes the host, %p the process id."),
               "NCCL_DEBUG_FILE"),
    with_alias(text(KnobId::log_areas, "TUTTI_LOG_AREAS",
                    "What info and debug lines may be about: start, network, calls, plans, memory, settings; all but "
                    "those after ^."),
               "NCCL_DEBUG_SUBSYS"),
    with_alias(text(KnobId::log_time, "TUTTI_LOG_TIME",
                    "The time before each line of the log, as 'date' takes it, such as [%F_%T.%3f]_: 3 digits of a "
                    "second, _ is a blank."),
               "NCCL_DEBUG_TIMESTAMP_FORMAT"),
    {.id = KnobId::job_secret,
     .name = "TUTTI_JOB_SECRET",
     .meaning = "What lets ranks in that meet at an address they were told (NCCL_COMM_ID): 16 characters or more.",
     .is_secret = true},
    or_instead({.id = KnobId::memory_limit,
                .name = "TUTTI_MEMORY_LIMIT",
                .standard = "off",
                .meaning = "The most memory that a communicator takes on each rank; the same on all ranks.",
                .type = KnobType::bytes,
                .least = 1,
                .most = kLargestBytes},
               "off"),
};

constexpr bool is_in_order() {
  for (std::size_t index = 0; index < kKnobCount; ++index) {
    if (static_cast<std::size_t>(kKnobs[index].id) != index) return false;
  }
  return true;
}
static_assert(is_in_order(), "rows stand in the order of KnobId");

}  // namespace

std::span<const Knob> all_knobs() { return kKnobs; }

}  // namespace tutti
