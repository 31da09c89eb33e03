#include "tools/perf/options.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "base/text.h"
#include "tools/perf/element.h"
#include "tools/tutti/command.h"

namespace tutti::perf {

namespace {

constexpr std::size_t kSizesMax = 1000000;

CLI::Option* add_size(CLI::App& app, const std::string& flags, std::uint64_t& bytes, const std::string& help) {
  const auto read = [&bytes](const std::string& value) { bytes = size_of(value).value_or(bytes); };
  const auto check = [](std::string& value) -> std::string {
    if (size_of(value)) return "";
    return fmt::format("'{}' is not a size; write it as 64K, 1M or 10G, up to 8 EiB", value);
  };
  CLI::Option* option = app.add_option_function<std::string>(flags, read, help);
  return option->type_name("SIZE")->check(CLI::Validator(check, ""));
}

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  if constexpr (std::is_integral_v<Number>) {
    return text::integer_of<Number>(text);
  } else {
    return text::real_of(text);
  }
}

// What a number may be, without a word in the help, which says it better.
template <class Number>
CLI::Validator within(Number low, Number high) {
  const auto check = [low, high](std::string& value) -> std::string {
    const auto number = number_in<Number>(value);
    if (number && *number >= low && *number <= high) return "";
    return fmt::format("'{}' is no {} from {} to {}", value, std::is_integral_v<Number> ? "whole number" : "number",
                       low, high);
  };
  return CLI::Validator(check, "");
}

CLI::Option* add_number(CLI::App& app, const std::string& flags, int& value, const std::string& help, int low,
                        int high) {
  return app.add_option(flags, value, help)->type_name("N")->check(within(low, high));
}

CLI::Option* add_switch(CLI::App& app, const std::string& flags, int& value, const std::string& help, int high = 1) {
  return app.add_option(flags, value, help)->type_name(high == 1 ? "0/1" : "N")->check(within(0, high));
}

CLI::Option* add_word(CLI::App& app, const std::string& flags, std::string& value, std::vector<std::string> words,
                      const std::string& help) {
  words.emplace_back("all");
  return app.add_option(flags, value, help)->type_name("NAME")->check(tool::one_of(std::move(words)));
}

constexpr int kMany = std::numeric_limits<int>::max();

void add_sizes(CLI::App& app, Options& options) {
  add_size(app, "-b,--minbytes", options.min_bytes, "Smallest size [32M]");
  add_size(app, "-e,--maxbytes", options.max_bytes, "Largest size [32M]");
  add_size(app, "-i,--stepbytes", options.step_bytes, "From size to size by so many bytes [1M]");
  app.add_option("-f,--stepfactor", options.step_factor, "From size to size by this factor instead")
      ->type_name("N")
      ->check(within(std::uint64_t{1}, std::uint64_t{1} << 40));
}

void add_ranks(CLI::App& app, Options& options) {
  const auto note = [&options](const std::string&) { options.has_devices = true; };
  add_number(app, "-t,--nthreads", options.threads, "Threads of this process [1]", 1, 4096)->each(note);
  add_number(app, "-g,--ngpus", options.devices, "Devices of each thread [1; alone on virtual devices: all of them]", 1,
             4096)
      ->each(note);
  add_switch(app, "-p,--parallel_init", options.parallel_start, "Each thread starts its own communicators [0]");
}

void add_calls(CLI::App& app, Options& options) {
  add_word(app, "-o,--op", options.operation, operation_names(), "Reduction [sum]");
  add_word(app, "-d,--datatype", options.type, type_names(), "Element type [float]");
  const auto check = [](std::string& value) -> std::string {
    if (value == "all") value = "-1";
    return text::integer_of<int>(value) ? "" : fmt::format("'{}' is neither a rank nor 'all'", value);
  };
  app.add_option("-r,--root", options.root, "Root, or all [0]")
      ->type_name("RANK")
      ->transform(CLI::Validator(check, "", "root"));
  add_switch(app, "-R,--local_register", options.local_register, "Register buffers: 1 local, 2 symmetric [0]", 2);
  app.add_option("-x,--cta_policy", options.cta_policy, "CTA policy of the communicators: 0, 1 or 2")
      ->type_name("N")
      ->check(within(0, 2));
  add_number(app, "-D,--device_implementation", options.device_implementation,
             "Kernels of the device interface [0: none]; those of nccl-tests are not here", 0, 100);
  add_number(app, "-V,--device_cta_count", options.device_cta_count, "CTAs of such kernels [16]", 1, 127);
  add_number(app, "-u,--unalign", options.unalign, "Buffers begin at this element, to misalign them [0]", 0, 4096);
  add_switch(app, "-y,--stream_null", options.null_stream, "Use the null stream [0]");
}

void add_timing(CLI::App& app, Options& options) {
  add_number(app, "-n,--iters", options.iterations, "Timed iterations [20]", 1, kMany);
  add_number(app, "-w,--warmup_iters", options.warmup_iterations, "Iterations before that [1]", 0, kMany);
  add_number(app, "-m,--agg_iters", options.aggregated_iterations, "Calls in each iteration, as one group [1]", 1,
             100000);
  add_number(app, "-N,--run_cycles", options.cycles, "How often to go over all sizes; 0: without end [1]", 0, kMany);
  add_switch(app, "-a,--average", options.average, "Time of: 0 rank 0, 1 the mean, 2 the fastest, 3 the slowest [1]",
             3);
  add_switch(app, "-z,--blocking", options.blocking,
             "Wait: 1 after each call, with a barrier; 2 without; 3 after each iteration, barrier not timed [0]", 3);
  add_number(app, "-G,--cudagraph", options.graph_launches, "Capture the iterations, replay them so often [0]", 0,
             100000);
  add_number(app, "-T,--timeout", options.timeout_s, "Seconds that a measurement may take [0: any]", 0, kMany);
  add_switch(app, "-I,--per_iter_timing", options.per_iteration, "Also time single iterations [0]");
  add_number(app, "-K,--per_iter_skip", options.per_iteration_skip, "First iterations that -I leaves out [0]", 0,
             kMany);
}

void add_outputs(CLI::App& app, Options& options) {
  add_number(app, "-c,--check", options.checks, "How often results are checked; 0: not at all [1]", 0, kMany);
  add_switch(app, "-C,--report_cputime", options.report_cpu_time, "Time until the calls return instead [0]");
  add_switch(app, "-S,--report_timestamps", options.report_timestamps, "A column with the time of day [0]");
  add_switch(app, "-M,--memory", options.report_memory, "Report what memory was used [0]");
  app.add_option("-J,--output_file", options.output_file, "Write all results as JSON; nothing is overwritten")
      ->type_name("FILE.json");
}

void add_ours(CLI::App& app, Options& options) {
  const std::string group = "Beyond nccl-tests";
  app.add_flag("--explain", options.explains, "How the library runs each size, and what it expects it to take")
      ->group(group);
  app.add_flag("--stragglers", options.reports_stragglers, "Which rank was the slowest how often")->group(group);
  add_number(app, "--repeat", options.repeats, "Measure each size so often, take the median [1; 10 with --compare]", 1,
             1000)
      ->group(group);
  app.add_option("--compare", options.baseline, "Judge each size against an earlier run: its JSON, or a table")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--min-effect", options.least_effect_percent, "Changes below so many percent do not count [5]")
      ->type_name("PERCENT")
      ->check(within(0.0, 1000.0))
      ->group(group);
  app.add_option("--confidence", options.confidence_percent, "How sure a verdict has to be, in percent [95]")
      ->type_name("PERCENT")
      ->check(within(50.0, 99.99))
      ->group(group);
  app.add_option("--expect", options.topology, "Say which part of that machine's limit was reached, and why not all")
      ->type_name("TOPOLOGY")
      ->group(group);
  app.add_option("--report", options.report, "Write a page with pictures, for a browser")
      ->type_name("FILE.html")
      ->group(group);
  app.add_option("--overlay", options.overlays, "Another run to draw there: LABEL=FILE, JSON or a table; repeatable")
      ->type_name("FILE")
      ->take_all()
      ->group(group);
  app.add_option("--csv", options.csv, "Write all results as comma-separated values")->type_name("FILE")->group(group);
  app.add_option("--markdown", options.markdown, "Write the table as Markdown")->type_name("FILE")->group(group);
}

}  // namespace

void add_options(CLI::App& app, Options& options) {
  add_ranks(app, options);
  add_sizes(app, options);
  add_calls(app, options);
  add_timing(app, options);
  add_outputs(app, options);
  add_ours(app, options);
}

Status validate(const Options& options) {
  if (options.min_bytes > options.max_bytes)
    return invalid_argument(fmt::format("the smallest size, {} bytes (-b), is above the largest, {} bytes (-e)",
                                        options.min_bytes, options.max_bytes));
  if (options.step_factor == 1 && options.step_bytes == 0)
    return invalid_argument("sizes cannot go up by 0 bytes (-i); give a step, or a factor with -f");
  if (options.device_implementation > 0 && options.local_register != 2)
    return invalid_argument("-D needs symmetric buffers, -R 2");
  if (options.device_implementation > 0)
    return {Code::unsupported, "-D: the kernels of the device interface are not part of this tool; leave it at 0"};
  if (options.per_iteration != 0 && options.graph_launches > 0)
    return invalid_argument("-I times single iterations, which a graph (-G) does not show; leave one of them out");
  if (options.blocking == 3 && options.graph_launches > 0)
    return invalid_argument("-z 3 waits after each iteration, which a graph (-G) cannot do; leave one of them out");
  if (options.per_iteration_skip >= options.iterations)
    return invalid_argument(
        fmt::format("-K {} leaves none of {} iterations (-n)", options.per_iteration_skip, options.iterations));
  if (options.per_iteration_skip > 0 && options.per_iteration == 0)
    return invalid_argument("-K leaves out iterations of -I 1, which is not given");
  if (!options.overlays.empty() && options.report.empty())
    return invalid_argument("--overlay is drawn into a report; give --report FILE.html too");
  return {};
}

std::optional<std::uint64_t> size_of(const std::string& text) {
  if (const auto bytes = text::bytes_of(text)) return bytes;
  if (text.empty()) return std::nullopt;
  double unit = 1;
  std::string_view digits = text;
  const char last = digits.back();
  if (last == 'k' || last == 'K') unit = 1024;
  if (last == 'm' || last == 'M') unit = 1024.0 * 1024;
  if (last == 'g' || last == 'G') unit = 1024.0 * 1024 * 1024;
  if (unit > 1) digits.remove_suffix(1);
  const auto value = text::real_of(text::trim(digits));
  if (!value || !(*value >= 0) || *value * unit >= std::ldexp(1, 63)) return std::nullopt;
  return static_cast<std::uint64_t>(*value * unit);
}

Result<Sizes> sizes_of(const Options& options) {
  Sizes sizes;
  const bool by_factor = options.step_factor > 1;
  for (std::uint64_t bytes = options.min_bytes; bytes <= options.max_bytes;) {
    sizes.bytes.push_back(bytes);
    if (sizes.bytes.size() > kSizesMax)
      return invalid_argument(
          fmt::format("these are more than {} sizes; take a larger step (-i) or a factor (-f)", kSizesMax));
    const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
    if (by_factor && bytes > limit / options.step_factor) break;
    if (!by_factor && bytes > limit - options.step_bytes) break;
    const std::uint64_t next = by_factor ? bytes * options.step_factor : bytes + options.step_bytes;
    if (next == bytes) break;  // 0 by any factor
    bytes = next;
  }
  if (sizes.bytes.back() != options.max_bytes) {
    const std::string step = by_factor ? fmt::format("a factor of {}", options.step_factor)
                                       : fmt::format("steps of {} bytes", options.step_bytes);
    sizes.remark = fmt::format("the last size is {} bytes: {} from {} never reaches {} (-e)", sizes.bytes.back(), step,
                               options.min_bytes, options.max_bytes);
  }
  return sizes;
}

}  // namespace tutti::perf
