#include "bench/comparison/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::bench {

Words joined(std::initializer_list<Words> lists) {
  Words all;
  for (const Words& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Words parameter(const char* name, const std::string& value) { return {"--mca", name, value}; }

Words all_reduce_algorithm(const char* number) {
  return joined({parameter("coll_tuned_use_dynamic_rules", "1"), parameter("coll_tuned_allreduce_algorithm", number)});
}

Words ucx_words() {
  return joined({parameter("pml", "ucx"), parameter("osc", "ucx"), parameter("pml_ucx_tls", "any"),
                 parameter("pml_ucx_devices", "any")});
}

const std::map<std::string, std::string>& keep_memory() {
  static const std::map<std::string, std::string> kTunables = {
      {"GLIBC_TUNABLES",
       "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296:glibc.malloc.hugetlb=1"}};
  return kTunables;
}

Words words_of(const Request& request) {
  return {fmt::format("collective={}", plan::name_of(request.collective)),
          fmt::format("sizes={}", fmt::join(request.sizes, ",")), fmt::format("seconds={}", request.seconds)};
}

}  // namespace tutti::bench
