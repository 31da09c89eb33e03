#include "bootstrap/membership/notices.h"

namespace tutti::bootstrap {
namespace {

constexpr std::size_t kRecent = 64;
constexpr std::uint64_t kWindow = 64;

}  // namespace

bool Notices::add(const Notice& notice) {
  Seen& seen = seen_[notice.origin];
  if (notice.sequence == seen.newest) return false;
  if (notice.sequence > seen.newest) {
    const std::uint64_t step = notice.sequence - seen.newest;
    seen.before = step >= kWindow ? 0 : seen.before << step;
    if (seen.newest != 0 && step <= kWindow) seen.before |= std::uint64_t{1} << (step - 1);
    seen.newest = notice.sequence;
  } else {
    const std::uint64_t behind = seen.newest - notice.sequence;
    if (behind > kWindow) return false;
    const std::uint64_t bit = std::uint64_t{1} << (behind - 1);
    if ((seen.before & bit) != 0) return false;
    seen.before |= bit;
  }
  recent_.push_back(notice);
  if (recent_.size() > kRecent) recent_.pop_front();
  return true;
}

}  // namespace tutti::bootstrap
