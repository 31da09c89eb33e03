// Every setting that the environment can change: one table, how its values are read, and where each came from.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/log.h"
#include "tutti/status.h"

namespace tutti {

enum class KnobType : std::uint8_t { seconds, bytes, boolean, integer, choice, text };
enum class KnobMoment : std::uint8_t { start, call };  // when it is looked at: by a communicator's start, by every call

// The place of a knob in the table.
enum class KnobId : std::uint8_t {
  start_timeout,
  timeout,
  silence,
  late_warning,
  socket_ifname,
  socket_family,
  rails_max,
  sockets_per_peer,
  congestion,
  transport,
  measure,
  encrypt,
  compress,
  virtual_devices,
  cudart_trace,
  dump_dir,
  dump_signal,
  log,
  log_file,
  log_areas,
  log_time,
  job_secret,
  memory_limit,
};
inline constexpr std::size_t kKnobCount = static_cast<std::size_t>(KnobId::memory_limit) + 1;

// The values of choices, in the order of the words in the table.
enum class SocketFamily : std::uint8_t { any, ipv4, ipv6 };
enum class WireCompression : std::uint8_t { off, bf16, fp16 };
enum class TransportChoice : std::uint8_t { automatic, tcp, ucx };
enum class MeasureChoice : std::uint8_t { automatic, off };
enum class DumpSignal : std::uint8_t { off, user1, user2 };

// What a word of another library means in ours. Upper and lower case are the same there.
struct KnobTranslation {
  std::string_view theirs;
  std::string_view ours;
};

struct Knob {
  KnobId id = {};
  std::string_view name = {};      // TUTTI_...
  std::string_view standard = {};  // the default, as a user would write it; empty: nothing
  std::string_view meaning = {};   // one sentence
  KnobType type = KnobType::text;
  KnobMoment moment = KnobMoment::start;
  double least = 0;                                    // of numbers
  double most = 0;                                     // of numbers
  std::string_view instead = {};                       // a word that may stand for the number or text: auto, off
  std::span<const std::string_view> choices = {};      // of a choice
  std::string_view alias = {};                         // the name that another library has for it; empty: none
  std::span<const KnobTranslation> translations = {};  // of the alias; empty: it takes the same values
  bool is_secret = false;                              // its value is shown to nobody: a reading's text is "set"
};

// In the order of KnobId.
std::span<const Knob> all_knobs();

struct KnobInstead {  // the word `instead` was given
  bool operator==(const KnobInstead&) const = default;
};
// Integers, bytes, and the position of a choice are std::int64_t.
using KnobValue = std::variant<KnobInstead, bool, std::int64_t, std::chrono::nanoseconds, std::string>;

// What a text means for a knob. The failure says what is allowed, without the name: "'soon' is not a time; ...".
Result<KnobValue> parse_knob(const Knob& knob, std::string_view text);
// What a knob takes, for people: "off, bf16 or fp16".
std::string allowed_text(const Knob& knob);

// The value of a variable of the environment. An empty value counts as none, as shells write `NAME= command`.
using KnobLookup = std::function<std::optional<std::string>(std::string_view name)>;

// One knob as it was found.
struct KnobReading {
  const Knob* knob = nullptr;
  KnobValue value = {};
  std::string text = {};           // the value in our words
  std::string_view variable = {};  // where it came from; empty: the default
  std::string error = {};          // names variable, value and what is allowed; the value is then the default
  std::string note = {};           // both names are set and differ: which one counts
};

std::vector<KnobReading> read_knobs(const KnobLookup& lookup);

// A sentence for each name that begins like ours and is none, with the nearest that is one.
std::vector<std::string> unknown_knobs(std::span<const std::string> names);

// The settings of a process at one moment, all of them good.
class Knobs {
 public:
  // Fails with every bad value in one line.
  static Result<Knobs> read(const KnobLookup& lookup);
  static Knobs standard();  // all defaults

  std::chrono::nanoseconds start_timeout() const { return seconds(KnobId::start_timeout); }
  std::chrono::nanoseconds timeout() const { return seconds(KnobId::timeout); }
  std::chrono::nanoseconds silence() const { return seconds(KnobId::silence); }
  std::optional<std::chrono::nanoseconds> late_warning() const;  // nullopt: off
  std::string_view socket_ifname() const { return text(KnobId::socket_ifname); }
  SocketFamily socket_family() const { return choice<SocketFamily>(KnobId::socket_family); }
  int rails_max() const { return static_cast<int>(number(KnobId::rails_max)); }
  int sockets_per_peer() const { return static_cast<int>(number(KnobId::sockets_per_peer)); }
  std::optional<std::string_view> congestion() const;  // as the kernel names it; nullopt: the machine's own
  TransportChoice transport() const { return choice<TransportChoice>(KnobId::transport); }
  MeasureChoice measure() const { return choice<MeasureChoice>(KnobId::measure); }
  bool encrypt() const;
  WireCompression compress() const { return choice<WireCompression>(KnobId::compress); }
  int virtual_devices() const { return static_cast<int>(number(KnobId::virtual_devices)); }
  bool cudart_trace() const;
  std::string_view dump_dir() const { return text(KnobId::dump_dir); }  // empty: no dumps
  DumpSignal dump_signal() const { return choice<DumpSignal>(KnobId::dump_signal); }
  LogLevel log_level() const { return choice<LogLevel>(KnobId::log); }
  std::string_view log_file() const { return text(KnobId::log_file); }  // empty: stderr

  std::string_view log_areas() const { return text(KnobId::log_areas); }  // see log_area.h; empty: all
  std::string_view log_time() const { return text(KnobId::log_time); }    // as strftime takes it; empty: no time
  std::string_view job_secret() const { return text(KnobId::job_secret); }
  std::size_t memory_limit() const;  // of a communicator on each rank, in bytes; 0: none

  // The variable that a value came from, for messages: TUTTI_SOCKET_IFNAME or its alias.
  std::string_view variable_of(KnobId id) const;
  std::span<const KnobReading> readings() const { return readings_; }
  std::vector<std::string> notes() const;  // for the log

 private:
  explicit Knobs(std::vector<KnobReading> readings) : readings_(std::move(readings)) {}
  const KnobValue& value(KnobId id) const { return readings_[static_cast<std::size_t>(id)].value; }
  std::chrono::nanoseconds seconds(KnobId id) const { return std::get<std::chrono::nanoseconds>(value(id)); }
  std::int64_t number(KnobId id) const { return std::get<std::int64_t>(value(id)); }
  std::string_view text(KnobId id) const { return std::get<std::string>(value(id)); }
  template <class Enum>
  Enum choice(KnobId id) const {
    return static_cast<Enum>(number(id));
  }

  std::vector<KnobReading> readings_;
};

}  // namespace tutti
