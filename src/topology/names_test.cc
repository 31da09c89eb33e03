#include "topology/names.h"

#include <gtest/gtest.h>

namespace tutti::topology {

namespace {

using Names = std::vector<std::string>;

std::string error_of(std::string_view list, std::size_t limit = 100) {
  const auto names = expand(list, limit);
  return names ? "no error" : std::string(names.status().text());
}

TEST(Names, ListsAreExpandedInOrder) {
  EXPECT_EQ(*expand("gpu[0-2,7],cpu", 100), (Names{"gpu0", "gpu1", "gpu2", "gpu7", "cpu"}));
  EXPECT_EQ(*expand("gpu[3,1]", 100), (Names{"gpu3", "gpu1"}));
}

TEST(Names, LeadingZerosAreKept) { EXPECT_EQ(*expand("n[08-10]", 100), (Names{"n08", "n09", "n10"})); }

TEST(Names, FoldIsTheReverseOfExpand) {
  for (const char* list : {"gpu[0-3,8]", "gpu0", "cpu", "n[08-10]", "n[8-10]", "a[0-1],b[0-1],c", "g[0,0,1,1]",
                           "x[5-7,0]", "x999999999", "x[999999998-999999999],x1000000000", "a1b[0-2]"}) {
    const auto names = expand(list, 100);
    ASSERT_TRUE(names) << list;
    EXPECT_EQ(*expand(fold(*names), 100), *names) << list << " became " << fold(*names);
  }
  EXPECT_EQ(fold(*expand("gpu[0-3,8],n[08-10]", 100)), "gpu[0-3,8],n[08-10]");
}

TEST(Names, SlipsAreExplained) {
  EXPECT_EQ(error_of("7up"),
            "'7up' is not a name; a name begins with a letter and goes on with letters, digits, '_' and '-'");
  EXPECT_EQ(error_of("gpu[0-3"),
            "the list 'gpu[0-3' does not end with ']'; write it without blanks, such as gpu[0-3,8]");
  EXPECT_NE(error_of("gpu[3-0]").find("'3-0' in the list 'gpu[3-0]' is not a number or an ascending range"),
            std::string::npos);
  EXPECT_EQ(error_of("gpu[0-100]"), "the list 'gpu[0-100]' makes more than 100 names");
  EXPECT_EQ(error_of("a,b,c", 2), "the list 'c' makes more than 2 names");
  EXPECT_NE(error_of(std::string(65, 'a')).find("has 65 characters; at most 64 are allowed"), std::string::npos);
}

TEST(Names, HostileListsAreRefused) {
  for (const char* list : {"",
                           ",",
                           "a,",
                           "[",
                           "]",
                           "[]",
                           "a[]",
                           "a[,]",
                           "a[-]",
                           "a[1-]",
                           "a[-1]",
                           "a[1]]",
                           "a[1][2]",
                           "a[[1]",
                           "a[99999999999]",
                           "a[0-4294967295]",
                           "a[0-999999999]",
                           "a.b",
                           "a b",
                           "a[1]b",
                           "\xff"}) {
    EXPECT_FALSE(expand(list, 1000)) << list;
  }
}

TEST(Names, QuotesClipAndHideControlCharacters) {
  EXPECT_EQ(in_quotes("a\x01z"), "'a?z'");
  EXPECT_LT(in_quotes(std::string(1000, 'x')).size(), 60u);
}

}  // namespace

}  // namespace tutti::topology
