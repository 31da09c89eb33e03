#include "launch/agent/rank_process.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

#include "os/clock.h"
#include "os/core_file.h"

namespace tutti::launch {
namespace {

// How long the output of a rank that has ended is waited for: a process that it left behind may hold it open for ever.
constexpr std::chrono::milliseconds kRestTime(1000);

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string own_folder() {
  std::array<char, 4096> path{};
  return ::getcwd(path.data(), path.size()) != nullptr ? path.data() : "";
}

}  // namespace

Result<std::unique_ptr<RankProcess>> RankProcess::start(os::EventLoop& loop, Rank rank, os::ChildSettings settings,
                                                        Reads reads, Owner& owner) {
  std::unique_ptr<RankProcess> process(new RankProcess(loop, rank, std::move(settings), owner));
  TUTTI_TRY(process->open(reads));
  TUTTI_ASSIGN(auto child, os::ChildProcess::start(process->settings_));
  process->child_ = std::move(child);
  if (const Status watching = process->watch(); !watching) {
    process->child_->signal_group(SIGKILL);
    return watching;
  }
  return process;
}

Status RankProcess::open(Reads reads) {
  const auto create = [this](Stream stream) {
    return OutputPipe::create(
        loop_, [this, stream](Bytes bytes) { owner_.rank_wrote(rank_, stream, std::move(bytes)); },
        [this] { settle(); });
  };
  TUTTI_ASSIGN(out_, create(Stream::out));
  TUTTI_ASSIGN(err_, create(Stream::err));
  settings_.output = out_->write_end();
  settings_.error = err_->write_end();
  if (reads == Reads::nothing) return {};
  TUTTI_ASSIGN(in_, InputPipe::create(loop_, [this](std::uint32_t bytes) { owner_.rank_took(rank_, bytes); }));
  settings_.input = in_->read_end();
  return {};
}

Status RankProcess::watch() {
  TUTTI_TRY(out_->start());
  TUTTI_TRY(err_->start());
  if (in_ != nullptr) in_->start();
  TUTTI_ASSIGN(watch_, loop_.watch(child_->descriptor(), os::kReadable, [this] { exited(); }));
  return {};
}

RankProcess::~RankProcess() {
  loop_.unwatch(watch_);
  loop_.cancel(timer_);
}

void RankProcess::take_input(const Input& input) {
  if (in_ == nullptr) return owner_.rank_took(rank_, static_cast<std::uint32_t>(input.bytes.size()));
  in_->give(input.bytes);
  if (input.is_end) in_->end();
}

void RankProcess::set_reading(bool is_reading) {
  is_reading_ = is_reading;
  out_->set_reading(is_reading);
  err_->set_reading(is_reading);
}

void RankProcess::signal_group(int signal, bool is_end) {
  if (has_exited()) return;
  was_stopped_ = was_stopped_ || is_end;
  child_->signal_group(signal);
}

void RankProcess::exited() {
  end_ = child_->try_wait();
  if (!end_) return;
  loop_.unwatch(watch_);
  timer_ = loop_.call_at(Deadline::after(os::now(), kRestTime).at, [this] { cut_streams(); });
  settle();
}

void RankProcess::cut_streams() {
  timer_ = {};
  if (!is_reading_) {  // nobody could take it until now: wait again
    timer_ = loop_.call_at(Deadline::after(os::now(), kRestTime).at, [this] { cut_streams(); });
    return;
  }
  if (!out_->has_ended()) out_->cut();
  if (!err_->has_ended()) err_->cut();
}

void RankProcess::settle() {
  if (!end_ || !out_->has_ended() || !err_->has_ended() || is_told_) return;
  is_told_ = true;
  loop_.cancel(timer_);
  owner_.rank_ended(rank_);
}

Ended RankProcess::ended() const {
  Ended ended{.rank = rank_,
              .code = end_->code,
              .signal = end_->signal,
              .has_core = end_->has_core,
              .was_stopped = was_stopped_,
              .core = {}};
  if (end_->has_core)
    ended.core = os::core_file_text({.pid = pid(),
                                     .program = settings_.words.front(),
                                     .folder = settings_.folder.empty() ? own_folder() : settings_.folder,
                                     .signal = end_->signal,
                                     .host = host_name()});
  return ended;
}

}  // namespace tutti::launch
