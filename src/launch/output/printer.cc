#include "launch/output/printer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"
#include "launch/output/lines.h"
#include "launch/output/tags.h"
#include "launch/output/tail.h"
#include "launch/output/target.h"
#include "launch/output/writer.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/log_sink.h"

namespace tutti::launch {

namespace {

constexpr std::size_t kRestBytesMax = std::size_t{16} << 20;  // of lines without an end, all ranks together
constexpr std::size_t kLineBytesMin = 4096;                   // that are never cut
constexpr const char* kStampFormat = "%H:%M:%S.%3f ";

std::size_t index_of(Stream stream) { return stream == Stream::err ? 1 : 0; }

bool has_colour(Colour colour, int fd) {
  return wants_colour(colour, {.is_terminal = ::isatty(fd) == 1,
                               .no_colour = os::environment_variable("NO_COLOR").value_or(""),
                               .terminal = os::environment_variable("TERM").value_or("")});
}

// One stream of one rank on the console.
struct PrintedStream {
  Lines lines;
  std::string tag;
};

class ConsolePrinter final : public Printer {
 public:
  ConsolePrinter(const OutputSettings& settings, Rank size) : settings_(settings), size_(size) {}

  Status open(os::EventLoop& loop, std::function<void()> on_room, const Console& console);
  void print(Rank rank, Stream stream, std::span<const std::byte> bytes) override;
  void end(Rank rank) override;
  void say(std::string_view sentence) override;

  bool is_full() const override {
    return std::ranges::any_of(writers_, [](const auto& writer) { return writer->is_full(); });
  }
  bool is_written() const override {
    bool is_all = true;
    for (const auto& writer : writers_) is_all = writer->is_written() && is_all;  // each is to tell when it is done
    return is_all;
  }
  Status failure() const override {
    for (const auto& writer : writers_)
      if (Status failure = writer->failure(); !failure) return failure;
    return {};
  }
  std::vector<std::string> last_lines(Rank rank) const override {
    return has(rank) ? tails_[static_cast<std::size_t>(rank)].lines() : std::vector<std::string>{};
  }

 private:
  // What the writers' threads hold on to, so that news that come late meet nobody.
  struct Listener {
    std::function<void()> on_room;
    const ConsolePrinter* printer;
  };

  bool has(Rank rank) const { return rank >= 0 && rank < size_; }
  bool prints(Rank rank) const {
    return (settings_.folder.empty() || settings_.also_prints) &&
           (settings_.only.empty() || std::ranges::find(settings_.only, rank) != settings_.only.end());
  }
  Result<Writer*> create_writer(std::unique_ptr<Target> target, std::function<void()> notify);
  void create_streams(const Console& console);
  PrintedStream* printed_of(Rank rank, Stream stream);
  Lines* file_lines_of(Rank rank, Stream stream);
  std::string_view stamp();
  void end_open_line(const PrintedStream* but);

  OutputSettings settings_;
  Rank size_;
  std::shared_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Writer>> writers_;
  std::array<Writer*, 2> console_ = {};  // by stream; the same where both end up in the same place
  Writer* files_ = nullptr;
  std::vector<PrintedStream> printed_;  // by file_of(); empty tags and no use where a rank is not printed
  std::vector<bool> is_printed_;
  Rank alone_ = kNoRank;           // the only one that is printed, where there is only one
  std::vector<Lines> file_lines_;  // by file_of(), for timestamps
  std::vector<Tail> tails_;
  std::string mark_;  // space for the stamp and the tag of the lines at hand
};

Result<Writer*> ConsolePrinter::create_writer(std::unique_ptr<Target> target, std::function<void()> notify) {
  TUTTI_ASSIGN(auto writer, Writer::create(std::move(target), std::move(notify)));
  writers_.push_back(std::move(writer));
  return writers_.back().get();
}

Status ConsolePrinter::open(os::EventLoop& loop, std::function<void()> on_room, const Console& console) {
  listener_ = std::make_shared<Listener>(Listener{std::move(on_room), this});
  const auto notify = [&loop, weak = std::weak_ptr<Listener>(listener_)] {
    loop.post([weak] {
      const std::shared_ptr<Listener> listener = weak.lock();
      if (listener && listener->on_room && !listener->printer->is_full()) listener->on_room();
    });
  };
  if (!settings_.folder.empty()) {
    TUTTI_ASSIGN(auto target, create_folder_target(settings_.folder, settings_.file_names, size_));
    TUTTI_ASSIGN(files_, create_writer(std::move(target), notify));
  }
  TUTTI_ASSIGN(console_[1], create_writer(create_console_target(console.err, "stderr"), notify));
  console_[0] = console_[1];
  if (!is_same_file(console.out, console.err)) {
    TUTTI_ASSIGN(console_[0], create_writer(create_console_target(console.out, "stdout"), notify));
  }
  create_streams(console);
  return {};
}

void ConsolePrinter::create_streams(const Console& console) {
  for (Rank rank = 0; rank < size_; ++rank) is_printed_.push_back(prints(rank));
  if (std::ranges::count(is_printed_, true) == 1)
    alone_ = static_cast<Rank>(std::ranges::find(is_printed_, true) - is_printed_.begin());
  const Company company = alone_ == kNoRank ? Company::shared : Company::alone;
  const std::size_t line_bytes_max =
      std::clamp(kRestBytesMax / static_cast<std::size_t>(std::max(size_, 1)), kLineBytesMin, kOutputBytesMax);
  const std::array<bool, 2> is_coloured = {has_colour(settings_.colour, console.out),
                                           has_colour(settings_.colour, console.err)};
  for (Rank rank = 0; rank < size_; ++rank) {
    for (const Stream stream : {Stream::out, Stream::err}) {
      printed_.push_back({Lines(company, line_bytes_max),
                          tag_text(settings_.tag, is_coloured[index_of(stream)], rank, size_, stream)});
      if (files_ != nullptr && settings_.has_timestamps) file_lines_.emplace_back(Company::alone, line_bytes_max);
    }
  }
  tails_.resize(static_cast<std::size_t>(size_));
}

PrintedStream* ConsolePrinter::printed_of(Rank rank, Stream stream) {
  return is_printed_[static_cast<std::size_t>(rank)] ? &printed_[file_of(rank, stream)] : nullptr;
}

Lines* ConsolePrinter::file_lines_of(Rank rank, Stream stream) {
  return file_lines_.empty() ? nullptr : &file_lines_[file_of(rank, stream)];
}

// One time for all lines that come together.
std::string_view ConsolePrinter::stamp() {
  mark_.clear();
  if (settings_.has_timestamps) mark_ = os::log_time_text(kStampFormat, os::wall_now());
  return mark_;
}

void ConsolePrinter::print(Rank rank, Stream stream, std::span<const std::byte> bytes) {
  if (!has(rank)) return;
  const std::string_view text = text_of(bytes);
  tails_[static_cast<std::size_t>(rank)].take(stream, text);
  stamp();
  const Time now = os::now();
  if (files_ != nullptr) {
    if (Lines* lines = file_lines_of(rank, stream)) {
      lines->take(text, mark_, now, files_->space());
    } else {
      files_->space().append(text);
    }
    files_->commit(file_of(rank, stream));
  }
  if (PrintedStream* printed = printed_of(rank, stream)) {
    mark_ += printed->tag;
    if (!mark_.empty()) end_open_line(printed);
    Writer& writer = *console_[index_of(stream)];
    printed->lines.take(text, mark_, now, writer.space());
    writer.commit(0);
  }
}

// Of a rank that is alone on the console: whatever else comes there begins on a line of its own.
void ConsolePrinter::end_open_line(const PrintedStream* but) {
  if (alone_ == kNoRank || console_[0] != console_[1]) return;
  for (const Stream stream : {Stream::out, Stream::err})
    if (PrintedStream* printed = printed_of(alone_, stream); printed != but)
      printed->lines.end({}, console_[0]->space());
}

void ConsolePrinter::end(Rank rank) {
  if (!has(rank)) return;
  for (const Stream stream : {Stream::out, Stream::err}) {
    stamp();
    if (Lines* lines = file_lines_of(rank, stream)) {
      lines->end(mark_, files_->space());
      files_->commit(file_of(rank, stream));
    }
    if (PrintedStream* printed = printed_of(rank, stream)) {
      mark_ += printed->tag;
      printed->lines.end(mark_, console_[index_of(stream)]->space());
      console_[index_of(stream)]->commit(0);
    }
  }
}

void ConsolePrinter::say(std::string_view sentence) {
  end_open_line(nullptr);
  std::string& space = console_[1]->space();
  space.append(stamp());
  space.append(sentence);
  if (!sentence.ends_with('\n')) space += '\n';
  console_[1]->commit(0);
}

}  // namespace

Result<std::unique_ptr<Printer>> Printer::create(os::EventLoop& loop, const OutputSettings& settings, Rank size,
                                                 std::function<void()> on_room, Console console) {
  auto printer = std::make_unique<ConsolePrinter>(settings, size);
  TUTTI_TRY(printer->open(loop, std::move(on_room), console));
  return std::unique_ptr<Printer>(std::move(printer));
}

}  // namespace tutti::launch
