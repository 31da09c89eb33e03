#include "tools/perf/judge/remarks.h"

#include <gtest/gtest.h>

#include "tools/perf/judge/made_run.h"

namespace tutti::perf {
namespace {

using Sentences = std::vector<std::string>;

Row estimated(std::uint64_t bytes, double time_us, double estimate_us) {
  Row row = row_of(bytes, {time_us});
  row.estimate_us = estimate_us;
  return row;
}

Row with_stragglers(std::uint64_t bytes, std::vector<std::uint32_t> slowest, std::vector<double> mean_us) {
  Row row = row_of(bytes, {100});
  Stragglers stragglers{.mean_us = std::move(mean_us), .slowest = std::move(slowest), .iterations = 0};
  for (const std::uint32_t count : stragglers.slowest) stragglers.iterations += count;
  row.out_of_place->stragglers = stragglers;
  return row;
}

TEST(Remarks, AreNoneForARunAsItShouldBe) {
  EXPECT_TRUE(remarks_of(run_of({})).empty());
  EXPECT_TRUE(remarks_of(run_of({estimated(8, 10, 9), estimated(16, 10, 19), estimated(32, 19, 10)})).empty());
}

TEST(Remarks, GroupSizesThatDisagreeWithTheEstimate) {
  EXPECT_EQ(remarks_of(run_of({estimated(512, 10, 10), estimated(1024, 31, 10), estimated(2048, 40, 10),
                               estimated(4096, 35, 10), estimated(8192, 20, 10), estimated(16384, 3, 10)})),
            (Sentences{"at 1 KiB to 4 KiB out of place measured 3.1 to 4.0 times the estimate",
                       "at 16 KiB out of place measured 0.30 times the estimate"}));
}

TEST(Remarks, PutWrongDataFirst) {
  perf::Run run = run_of({estimated(1024, 31, 10), row_of(2048, {10})});
  run.rows[1].out_of_place->wrong = 12;
  EXPECT_EQ(remarks_of(run),
            (Sentences{"12 elements are wrong at 2 KiB out of place: times of wrong results mean nothing",
                       "at 1 KiB out of place measured 3.1 times the estimate"}));
  run.rows[1].out_of_place->wrong = 0;
  run.out_of_bounds = 3;
  EXPECT_EQ(remarks_of(run)[0],
            "3 values are wrong or were written out of bounds: times of wrong results mean nothing");
}

TEST(Remarks, NameARankThatIsTheSlowestTooOften) {
  const perf::Run run =
      run_of({with_stragglers(1048576, {0, 1, 0, 18, 0, 1, 0, 0}, {100, 100, 101, 140, 99, 100, 100, 100})});
  EXPECT_EQ(remarks_of(run), (Sentences{"rank 3 (device 3 of here) was the slowest in 18 of 20 iterations at 1 MiB out "
                                        "of place, by 40 % on average"}));
}

TEST(Remarks, GroupTheSizesAtWhichARankIsTheSlowest) {
  const perf::Run run = run_of({with_stragglers(1024, {0, 0, 20, 0}, {100, 100, 150, 100}),
                                with_stragglers(2048, {1, 0, 18, 1}, {100, 100, 180, 100})});
  EXPECT_EQ(remarks_of(run), (Sentences{"rank 2 (device 2 of here) was the slowest in 90 % of the iterations or more "
                                        "at 1 KiB to 2 KiB out of place, by up to 80 % on average"}));
}

TEST(Remarks, DoNotBlameARankForWhatChanceDoes) {
  const std::vector<double> delayed = {150, 100, 100, 100, 100, 100, 100, 100};
  EXPECT_TRUE(remarks_of(run_of({with_stragglers(8, {6, 2, 2, 2, 2, 2, 2, 2}, delayed)})).empty());
}

TEST(Remarks, DoNotBlameARankForALittle) {
  EXPECT_TRUE(remarks_of(run_of({with_stragglers(8, {20, 0, 0, 0}, {102, 100, 100, 100})})).empty());
}

TEST(Remarks, SayWhichTypeTheyAreAboutWhereThereAreSeveral) {
  perf::Run run = run_of({estimated(1024, 10, 10), estimated(1024, 50, 10)});
  run.rows[1].type = "half";
  EXPECT_EQ(remarks_of(run), (Sentences{"half sum: at 1 KiB out of place measured 5.0 times the estimate"}));
}

}  // namespace
}  // namespace tutti::perf
