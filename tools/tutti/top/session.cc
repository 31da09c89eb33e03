#include "tools/tutti/top/session.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "os/clock.h"

namespace tutti::tool::top {

namespace {

constexpr std::chrono::seconds kSendPatience{1};
constexpr std::chrono::seconds kSilence{3};  // after which a missing answer is mentioned
constexpr std::chrono::seconds kSilenceLook{1};

}  // namespace

Result<SessionEnd> Session::run() {
  TUTTI_ASSIGN(signals_, SignalReader::create());
  TUTTI_ASSIGN(terminal_, Terminal::create());
  TUTTI_ASSIGN(loop_, os::EventLoop::create());
  const Status watching = watch();
  if (!watching) return watching;
  ask();
  watch_silence();
  loop_->run_until([this] { return has_ended_; }, Deadline::never());
  terminal_->leave();
  TUTTI_TRY(failure_);
  return end_;
}

Status Session::watch() {
  const auto answers = loop_->watch(client_.descriptor(), os::kReadable, [this] { take_answer(); });
  TUTTI_TRY(answers.status());
  const auto typed = loop_->watch(STDIN_FILENO, os::kReadable, [this] { take_typed(); });
  TUTTI_TRY(typed.status());
  const auto signals = loop_->watch(signals_->descriptor(), os::kReadable, [this] { take_signal(); });
  return signals.status();
}

void Session::ask() {
  const Time now = os::now();
  asked_at_ = now;
  is_waiting_ = true;
  const auto sent = client_.send({.ask = launch::control::Ask::samples}, Deadline::after(now, kSendPatience));
  if (sent) return;
  if (sent.code() == Code::peer_lost) return end({.by = EndedBy::job});
  fail(sent);
}

void Session::take_answer() {
  auto answer = client_.try_receive();
  if (!answer) {
    if (answer.status().code() == Code::peer_lost) return end({.by = EndedBy::job});
    return fail(answer.status());
  }
  if (!answer->has_value()) return;
  if (!(*answer)->failure) return fail((*answer)->failure);
  if (!(*answer)->job) return;
  job_ = *std::move((*answer)->job);
  has_job_ = true;
  is_waiting_ = false;
  draw();
  // From question to question, so that a slow host does not slow the rhythm.
  const Time next = std::max(os::now(), Deadline::after(asked_at_, interval_).at);
  loop_->call_at(next, [this] { ask(); });
}

void Session::take_typed() {
  std::array<char, 256> space;
  const ssize_t count = ::read(STDIN_FILENO, space.data(), space.size());
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) return end({});  // the terminal is gone
  if (count < 0) return;
  typed_.append(space.data(), static_cast<std::size_t>(count));
  for (const Key key : take_keys(typed_)) follow(key);
  if (!has_ended_) draw();
}

void Session::take_signal() {
  const int signal = signals_->take();
  if (signal == 0) return;
  if (signal == SIGWINCH) return draw();
  if (signal == SIGTSTP) return pause();
  if (signal == SIGINT) return end({});
  end({.by = EndedBy::signal, .signal = signal});
}

void Session::follow(Key key) {
  const auto page = static_cast<std::ptrdiff_t>(page_rows(terminal_->size(), true));
  switch (key) {
    case Key::quit: return end({});
    case Key::by_rank: view_.order = Order::rank; return;
    case Key::by_cpu: view_.order = Order::cpu; return;
    case Key::by_memory: view_.order = Order::memory; return;
    case Key::by_waiting: view_.order = Order::waiting; return;
    case Key::up: return scroll(-1);
    case Key::down: return scroll(1);
    case Key::page_up: return scroll(-page);
    case Key::page_down: return scroll(page);
    case Key::first: return scroll(-static_cast<std::ptrdiff_t>(job_.ranks.size()));
    case Key::last: return scroll(static_cast<std::ptrdiff_t>(job_.ranks.size()));
  }
}

void Session::scroll(std::ptrdiff_t rows) {
  const auto last = static_cast<std::ptrdiff_t>(first_max(job_, terminal_->size()));
  view_.first =
      static_cast<std::size_t>(std::clamp(static_cast<std::ptrdiff_t>(view_.first) + rows, std::ptrdiff_t{0}, last));
}

void Session::draw() {
  if (!has_job_) return;
  view_.size = terminal_->size();
  const Time now = os::now();
  view_.silent_s.reset();
  if (is_waiting_ && Deadline::after(asked_at_, kSilence).has_passed(now)) {
    view_.silent_s = static_cast<double>(now.ns - asked_at_.ns) / 1e9;
  }
  const Status written = terminal_->write(screen_.draw(frame_of(job_, view_, now), view_.size));
  if (!written) end({});  // nobody looks any more
}

void Session::watch_silence() {
  loop_->call_at(Deadline::after(os::now(), kSilenceLook).at, [this] {
    if (is_waiting_) draw();
    watch_silence();
  });
}

// Ctrl-Z: the shell gets its terminal as it was, and this one again when it goes on.
void Session::pause() {
  terminal_->leave();
  raise(SIGSTOP);
  terminal_->enter();
  screen_.forget();
  draw();
}

void Session::end(SessionEnd how) {
  if (has_ended_) return;
  has_ended_ = true;
  end_ = how;
}

void Session::fail(const Status& why) {
  failure_ = why;
  end({});
}

}  // namespace tutti::tool::top
