#include "tools/perf/options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "tools/tutti/usage.h"

namespace tutti::perf {
namespace {

struct Parsed {
  Options options;
  std::string error;  // empty: none
};

Parsed parsed(const std::vector<std::string>& words) {
  Parsed result;
  CLI::App app("test", "all_reduce_perf");
  add_options(app, result.options);
  if (const auto slip = tool::find_slip(app, words)) result.error = *slip;
  if (!result.error.empty()) return result;
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    result.error = tool::sentence_of(app, error);
  }
  return result;
}

std::string fault_of(const std::vector<std::string>& words) {
  const Parsed result = parsed(words);
  if (!result.error.empty()) return "not parsed: " + result.error;
  const Status status = validate(result.options);
  return status ? "" : std::string(status.text());
}

TEST(Options, HaveTheDefaultsOfNcclTests) {
  const Options options = parsed({}).options;
  EXPECT_EQ(options.threads, 1);
  EXPECT_EQ(options.devices, 1);
  EXPECT_FALSE(options.has_devices);
  EXPECT_EQ(options.min_bytes, 32u << 20);
  EXPECT_EQ(options.max_bytes, 32u << 20);
  EXPECT_EQ(options.step_bytes, 1u << 20);
  EXPECT_EQ(options.step_factor, 1u);
  EXPECT_EQ(options.operation, "sum");
  EXPECT_EQ(options.type, "float");
  EXPECT_EQ(options.root, 0);
  EXPECT_EQ(options.iterations, 20);
  EXPECT_EQ(options.warmup_iterations, 1);
  EXPECT_EQ(options.aggregated_iterations, 1);
  EXPECT_EQ(options.cycles, 1);
  EXPECT_EQ(options.average, 1);
  EXPECT_EQ(options.checks, 1);
  EXPECT_EQ(options.device_cta_count, 16);
  EXPECT_EQ(options.cta_policy, -1);
  for (const int off :
       {options.parallel_start, options.blocking, options.null_stream, options.timeout_s, options.graph_launches,
        options.report_cpu_time, options.report_timestamps, options.local_register, options.device_implementation,
        options.report_memory, options.unalign, options.per_iteration, options.per_iteration_skip})
    EXPECT_EQ(off, 0);
  EXPECT_EQ(options.repeats_of_each(), 1);
  EXPECT_TRUE(validate(options));
}

// Each flag, its long name and the field that shows it.
struct FlagFact {
  const char* flag;
  const char* name;
  const char* value;
  std::function<std::string(const Options&)> shown;
};

template <class Field>
FlagFact fact(const char* flag, const char* name, const char* value, Field Options::*field) {
  return {flag, name, value, [field](const Options& options) { return fmt::format("{}", options.*field); }};
}

std::vector<FlagFact> flag_facts() {
  return {fact("-t", "--nthreads", "3", &Options::threads),
          fact("-g", "--ngpus", "5", &Options::devices),
          fact("-b", "--minbytes", "17", &Options::min_bytes),
          fact("-e", "--maxbytes", "99", &Options::max_bytes),
          fact("-i", "--stepbytes", "13", &Options::step_bytes),
          fact("-f", "--stepfactor", "4", &Options::step_factor),
          fact("-o", "--op", "prod", &Options::operation),
          fact("-d", "--datatype", "half", &Options::type),
          fact("-r", "--root", "6", &Options::root),
          fact("-n", "--iters", "7", &Options::iterations),
          fact("-w", "--warmup_iters", "8", &Options::warmup_iterations),
          fact("-m", "--agg_iters", "9", &Options::aggregated_iterations),
          fact("-N", "--run_cycles", "10", &Options::cycles),
          fact("-a", "--average", "3", &Options::average),
          fact("-p", "--parallel_init", "1", &Options::parallel_start),
          fact("-c", "--check", "2", &Options::checks),
          fact("-z", "--blocking", "2", &Options::blocking),
          fact("-y", "--stream_null", "1", &Options::null_stream),
          fact("-T", "--timeout", "11", &Options::timeout_s),
          fact("-G", "--cudagraph", "12", &Options::graph_launches),
          fact("-C", "--report_cputime", "1", &Options::report_cpu_time),
          fact("-S", "--report_timestamps", "1", &Options::report_timestamps),
          fact("-J", "--output_file", "x.json", &Options::output_file),
          fact("-R", "--local_register", "2", &Options::local_register),
          fact("-x", "--cta_policy", "2", &Options::cta_policy),
          fact("-D", "--device_implementation", "1", &Options::device_implementation),
          fact("-V", "--device_cta_count", "32", &Options::device_cta_count),
          fact("-M", "--memory", "1", &Options::report_memory),
          fact("-u", "--unalign", "3", &Options::unalign),
          fact("-I", "--per_iter_timing", "1", &Options::per_iteration),
          fact("-K", "--per_iter_skip", "4", &Options::per_iteration_skip)};
}

TEST(Options, EveryFlagOfNcclTestsIsReadShortAndLong) {
  for (const FlagFact& flag : flag_facts()) {
    for (const char* word : {flag.flag, flag.name}) {
      const Parsed result = parsed({word, flag.value});
      EXPECT_EQ(result.error, "") << word;
      EXPECT_EQ(flag.shown(result.options), flag.value) << word;
    }
    EXPECT_EQ(flag.shown(parsed({std::string(flag.flag) + flag.value}).options), flag.value) << flag.flag;
  }
}

TEST(Options, AllStandsForEveryOperationTypeAndRoot) {
  const Parsed result = parsed({"-o", "all", "-d", "all", "-r", "all"});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.options.operation, "all");
  EXPECT_EQ(result.options.type, "all");
  EXPECT_EQ(result.options.root, kAllRoots);
}

TEST(Options, GivenDevicesAreNotReplaced) {
  EXPECT_TRUE(parsed({"-g", "1"}).options.has_devices);
  EXPECT_TRUE(parsed({"-t", "1"}).options.has_devices);
}

TEST(Options, ComparingMeasuresTenTimesUnlessToldOtherwise) {
  EXPECT_EQ(parsed({"--compare", "x"}).options.repeats_of_each(), 10);
  EXPECT_EQ(parsed({"--compare", "x", "--repeat", "3"}).options.repeats_of_each(), 3);
}

TEST(Options, WhatIsWrongWithAWordIsSaid) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> errors = {
      {{"-o", "summ"}, "'summ' is not known, did you mean 'sum'?"},
      {{"-d", "floot"}, "'floot' is not known, did you mean 'float'?"},
      {{"-d", "complex"}, "'complex' is not one of int8"},
      {{"--itres", "4"}, "has no option '--itres', did you mean '--iters'?"},
      {{"-q"}, "has no option '-q'"},
      {{"-b"}, "needs a value"},
      {{"extra"}, "takes no argument, but 'extra' was given"},
      {{"-b", "12Q"}, "'12Q' is not a size; write it as 64K, 1M or 10G, up to 8 EiB"},
      {{"-e", "99999999999G"}, "'99999999999G' is not a size"},
      {{"-n", "0"}, "'0' is no whole number from 1 to 2147483647"},
      {{"-n", "1.5"}, "'1.5' is no whole number from 1"},
      {{"-w", "-1"}, "'-1' is no whole number from 0"},
      {{"-t", "0"}, "'0' is no whole number from 1 to 4096"},
      {{"-g", "many"}, "'many' is no whole number from 1 to 4096"},
      {{"-f", "0"}, "'0' is no whole number from 1 to"},
      {{"-a", "4"}, "'4' is no whole number from 0 to 3"},
      {{"-z", "4"}, "'4' is no whole number from 0 to 3"},
      {{"-p", "2"}, "'2' is no whole number from 0 to 1"},
      {{"-R", "3"}, "'3' is no whole number from 0 to 2"},
      {{"-x", "3"}, "'3' is no whole number from 0 to 2"},
      {{"-r", "first"}, "'first' is neither a rank nor 'all'"},
      {{"--confidence", "10"}, "'10' is no number from 50 to 99.99"},
      {{"--min-effect", "-1"}, "'-1' is no number from 0 to 1000"},
  };
  for (const auto& [words, part] : errors)
    EXPECT_NE(parsed(words).error.find(part), std::string::npos) << words.back() << ": " << parsed(words).error;
}

TEST(Options, WhatDoesNotGoTogetherIsSaid) {
  EXPECT_EQ(fault_of({"-b", "2M", "-e", "1M"}),
            "the smallest size, 2097152 bytes (-b), is above the largest, 1048576 bytes (-e)");
  EXPECT_EQ(fault_of({"-i", "0"}), "sizes cannot go up by 0 bytes (-i); give a step, or a factor with -f");
  EXPECT_EQ(fault_of({"-i", "0", "-f", "2"}), "");
  EXPECT_EQ(fault_of({"-D", "1"}), "-D needs symmetric buffers, -R 2");
  EXPECT_EQ(fault_of({"-D", "1", "-R", "2"}),
            "-D: the kernels of the device interface are not part of this tool; leave it at 0");
  EXPECT_EQ(fault_of({"-I", "1", "-G", "1"}),
            "-I times single iterations, which a graph (-G) does not show; leave one of them out");
  EXPECT_EQ(fault_of({"-z", "3", "-G", "1"}),
            "-z 3 waits after each iteration, which a graph (-G) cannot do; leave one of them out");
  EXPECT_EQ(fault_of({"-I", "1", "-K", "20"}), "-K 20 leaves none of 20 iterations (-n)");
  EXPECT_EQ(fault_of({"-K", "2"}), "-K leaves out iterations of -I 1, which is not given");
  EXPECT_EQ(fault_of({"--overlay", "x"}), "--overlay is drawn into a report; give --report FILE.html too");
}

TEST(Sizes, AreWrittenWithTheUnitsOfNcclTests) {
  EXPECT_EQ(size_of("100"), 100u);
  EXPECT_EQ(size_of("8k"), 8192u);
  EXPECT_EQ(size_of("8K"), 8192u);
  EXPECT_EQ(size_of("1.5M"), 1572864u);
  EXPECT_EQ(size_of("2g"), std::uint64_t{2} << 30);
  EXPECT_EQ(size_of("0"), 0u);
  for (const char* wrong : {"", "K", "-1", "1KK", "x", "1 2", "nan", "inf", "9e30", "0x10"})
    EXPECT_EQ(size_of(wrong), std::nullopt) << wrong;
}

Sizes sizes(const std::vector<std::string>& words) { return *sizes_of(parsed(words).options); }

TEST(Sizes, GoFromTheSmallestToTheLargest) {
  EXPECT_EQ(sizes({"-b", "8", "-e", "128", "-f", "2"}).bytes, (std::vector<std::uint64_t>{8, 16, 32, 64, 128}));
  EXPECT_EQ(sizes({"-b", "8", "-e", "24", "-i", "8"}).bytes, (std::vector<std::uint64_t>{8, 16, 24}));
  EXPECT_EQ(sizes({}).bytes, (std::vector<std::uint64_t>{std::uint64_t{32} << 20}));
  EXPECT_EQ(sizes({"-b", "0", "-e", "0", "-f", "2"}).bytes, (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(sizes({"-b", "8", "-e", "128", "-f", "2"}).remark, "");
}

TEST(Sizes, ThatAreNeverReachedAreSaid) {
  EXPECT_EQ(sizes({"-b", "8", "-e", "100", "-f", "2"}).remark,
            "the last size is 64 bytes: a factor of 2 from 8 never reaches 100 (-e)");
  EXPECT_EQ(sizes({"-b", "10", "-e", "25", "-i", "10"}).remark,
            "the last size is 20 bytes: steps of 10 bytes from 10 never reaches 25 (-e)");
  EXPECT_EQ(sizes({"-b", "0", "-e", "8", "-f", "2"}).remark,
            "the last size is 0 bytes: a factor of 2 from 0 never reaches 8 (-e)");
}

TEST(Sizes, EndWhereTheNextWouldOverflow) {
  Options options;
  options.min_bytes = std::uint64_t{1} << 62;
  options.max_bytes = ~std::uint64_t{0};
  options.step_factor = 8;
  EXPECT_EQ(sizes_of(options)->bytes.size(), 1u);
  options.step_factor = 1;
  options.step_bytes = std::uint64_t{1} << 63;
  EXPECT_EQ(sizes_of(options)->bytes.size(), 2u);
}

TEST(Sizes, TooManyOfThemAreRefused) {
  const auto many = sizes_of(parsed({"-b", "1", "-e", "1G", "-i", "1"}).options);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.status().text(), "these are more than 1000000 sizes; take a larger step (-i) or a factor (-f)");
}

}  // namespace
}  // namespace tutti::perf
