#include "bench/comparison/samples.h"

#include <algorithm>

#include "base/text.h"
#include "bench/comparison/contenders.h"

namespace tutti::bench {

namespace {

bool is_peer(const std::string& contender) {
  return contender != kTuttiMalloc && contender != kTuttiAllocated && contender != kBound;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double spread(const std::vector<double>& values) {
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  return (*largest - *smallest) / median(values);
}

void Samples::add_output(std::string_view output, const std::string& contender) {
  for (const std::string_view line : text::split(output, '\n')) {
    const auto fields = text::split(line, '\t');
    if (fields.size() != 5) continue;
    const auto collective = plan::collective_of(fields[0]);
    const auto bytes = text::integer_of<std::uint64_t>(fields[1]);
    const auto ranks = text::integer_of<Rank>(fields[2]);
    const auto seconds = text::real_of(fields[3]);
    const auto wrong = text::integer_of<std::uint64_t>(fields[4]);
    if (!collective || !bytes || !ranks || !seconds || !wrong) continue;
    const Case what{*collective, *ranks, *bytes};
    if (*wrong == 0) {
      add(what, contender, *seconds);
    } else {
      add_wrong(what, contender);
    }
  }
}

std::vector<Case> Samples::cases() const {
  std::vector<Case> cases;
  for (const auto& [what, contenders] : times_) cases.push_back(what);
  return cases;
}

std::vector<std::string> Samples::contenders(const Case& what) const {
  std::vector<std::string> names;
  const auto found = times_.find(what);
  if (found == times_.end()) return names;
  for (const auto& [name, times] : found->second) names.push_back(name);
  return names;
}

std::vector<double> Samples::times(const Case& what, const std::string& contender) const {
  const auto found = times_.find(what);
  if (found == times_.end()) return {};
  const auto times = found->second.find(contender);
  return times == found->second.end() ? std::vector<double>() : times->second;
}

std::optional<Best> Samples::of(const Case& what, std::string_view contender) const {
  const std::vector<double> all = times(what, std::string(contender));
  if (all.empty()) return std::nullopt;
  return Best{std::string(contender), median(all), spread(all)};
}

std::optional<Best> Samples::best_peer(const Case& what) const {
  std::optional<Best> best;
  for (const std::string& name : contenders(what)) {
    if (!is_peer(name)) continue;
    const auto candidate = of(what, name);
    if (!best || candidate->median_s < best->median_s) best = candidate;
  }
  return best;
}

int Samples::wrong_count(const Case& what, const std::string& contender) const {
  const auto found = wrong_.find(what);
  if (found == wrong_.end()) return 0;
  const auto count = found->second.find(contender);
  return count == found->second.end() ? 0 : count->second;
}

int Samples::wrong_count(std::string_view contender) const {
  int total = 0;
  for (const auto& [what, contenders] : wrong_) total += wrong_count(what, std::string(contender));
  return total;
}

}  // namespace tutti::bench
