#include "comm/watch/recorder.h"

#include "comm/watch/dump.h"
#include "comm/watch/dump_signal.h"
#include "comm/watch/logbook.h"

namespace tutti::comm::watch {

std::unique_ptr<Recorder> Recorder::create(const SideFacts& facts) {
  answer_dump_signal();
  Logbook& logbook = Logbook::of_process();
  return std::make_unique<Recorder>(logbook, logbook.take(facts));
}

Recorder::Recorder(Logbook& logbook, SidePage& page) : logbook_(logbook), page_(page), source_(logbook.source()) {}

Recorder::~Recorder() { logbook_.give_back(page_); }

void Recorder::end(Code code, std::string_view reason) noexcept {
  if (has_ended_.exchange(true, std::memory_order_relaxed)) return;
  logbook_.set_ended(page_, code, reason);
  dump_after_end(logbook_.read(page_));
}

}  // namespace tutti::comm::watch
