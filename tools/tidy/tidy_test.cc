#include "tools/tidy/tidy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tools/tidy/functions.h"

namespace tutti::tidy {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLayers = R"(
[folders]
base:
os: base
plan: base
transport: base os
[public]
os: facade.h
base: status.h
plan: plan.h
[separate]
transport
[words]
steady_clock::now: os
)";

// A tree of files in a folder of its own, removed at the end.
class Tree {
 public:
  Tree() {
    std::string pattern = (fs::temp_directory_path() / "tutti-tidy-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    write("layers.txt", std::string(kLayers));
  }
  ~Tree() { fs::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Tree& write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
    return *this;
  }
  Tree& header(const std::string& path, const std::string& body) {
    return write(path, "// What this is for.\n#pragma once\n" + body);
  }
  // The faults, one a line.
  std::string faults() const {
    std::string text;
    for (const Fault& fault : check_tree(root_).faults) text += fault.text() + "\n";
    return text;
  }

 private:
  fs::path root_;
};

std::string repeated(std::string_view line, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += line;
  return text;
}

TEST(Tidy, AcceptsATreeThatObeys) {
  Tree tree;
  tree.header("include/tutti/status.h", "#include <string>\n");
  tree.header("include/tutti/plan.h", "#include \"tutti/status.h\"\n");
  tree.write("src/plan/ring.cc", "#include \"base/text.h\"\n#include \"plan/ring.h\"\n#include \"tutti/plan.h\"\n");
  tree.write("src/transport/tcp/pipe.cc", "#include \"transport/transport.h\"\n#include \"transport/tcp/pipe.h\"\n");
  tree.write("src/tutti.cc", "#include \"plan/ring.h\"\n#include \"transport/tcp/pipe.h\"\n");
  EXPECT_EQ(tree.faults(), "");
}

TEST(Tidy, NeedsLayersAtTheRoot) {
  const auto report = check_tree("/proc/self/fdinfo");
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].file, "layers.txt");
}

TEST(Tidy, RefusesAnEdgeThatLayersDoNotHave) {
  Tree tree;
  tree.write("src/plan/ring.cc", "#include \"base/text.h\"\n#include \"os/loop.h\"\n");
  EXPECT_EQ(tree.faults(), "src/plan/ring.cc:2: plan may not include 'os/loop.h' of os; see layers.txt\n");
}

TEST(Tidy, CountsAPublicHeaderToItsFolder) {
  Tree tree;
  tree.write("src/os/loop.cc", "#include \"tutti/status.h\"\n#include \"tutti/plan.h\"\n");
  tree.header("include/tutti/status.h", "#include \"tutti/plan.h\"\n");
  EXPECT_EQ(tree.faults(),
            "include/tutti/status.h:3: base may not include 'tutti/plan.h' of plan; see layers.txt\n"
            "src/os/loop.cc:2: os may not include 'tutti/plan.h' of plan; see layers.txt\n");
}

TEST(Tidy, RefusesAPublicHeaderThatIncludesAPrivateOne) {
  Tree tree;
  tree.header("include/tutti/plan.h", "#include \"plan/ring.h\"\n");
  EXPECT_EQ(tree.faults(), "include/tutti/plan.h:3: a public header includes 'plan/ring.h', which is not installed\n");
}

TEST(Tidy, RefusesAPublicHeaderOfNoFolder) {
  Tree tree;
  tree.header("include/tutti/novel.h", "");
  EXPECT_EQ(tree.faults(),
            "include/tutti/novel.h:0: the public header belongs to no folder; add it to [public] of layers.txt\n");
}

TEST(Tidy, RefusesAFolderThatLayersDoNotKnow) {
  Tree tree;
  tree.write("src/novel/a.cc", "#include \"base/text.h\"\n");
  EXPECT_EQ(tree.faults(), "src/novel/a.cc:0: folder 'novel' is not in layers.txt\n");
}

TEST(Tidy, RefusesAPathThatDoesNotStartAtSrc) {
  Tree tree;
  tree.write("src/plan/ring.cc", "#include \"ring.h\"\n");
  EXPECT_EQ(tree.faults(),
            "src/plan/ring.cc:1: 'ring.h' names no folder of src; write the path from src, such as \"base/text.h\"\n");
}

TEST(Tidy, KeepsImplementationsOfOneInterfaceApart) {
  Tree tree;
  tree.write("src/transport/tcp/pipe.cc", "#include \"transport/shm/segment.h\"\n");
  tree.write("src/transport/open.cc", "#include \"transport/shm/segment.h\"\n");
  tree.write("src/plan/check/a.cc", "#include \"plan/simulate/b.h\"\n");
  EXPECT_EQ(tree.faults(),
            "src/transport/tcp/pipe.cc:1: transport/tcp may not include 'transport/shm/segment.h': implementations of "
            "one interface stay apart\n");
}

TEST(Tidy, KeepsCudaInItsFolders) {
  Tree tree;
  tree.write("src/os/cuda/a.cc", "#include <cuda_runtime.h>\n");
  tree.write("src/os/a.cc", "#include <cuda_runtime.h>\n");
  tree.write("tools/perf/a.cc", "#include <cuda_runtime.h>\n");
  tree.write("tools/tutti/a.cc", "#include <cuda_runtime.h>\n");
  tree.header("include/facade.h", "#include <cuda_runtime.h>\n");
  tree.write("src/os/kernel.cu", "\n");
  EXPECT_EQ(tree.faults(),
            "src/os/a.cc:1: <cuda_runtime.h> outside a folder named cuda*\n"
            "src/os/kernel.cu:0: CUDA source outside a folder named cuda*\n"
            "tools/tutti/a.cc:1: <cuda_runtime.h> outside a folder named cuda*\n");
}

TEST(Tidy, LetsExamplesSeeOnlyWhatIsPublic) {
  Tree tree;
  tree.write("examples/a.cc", "#include \"tutti/plan.h\"\n#include \"base/text.h\"\n");
  EXPECT_EQ(tree.faults(), "examples/a.cc:2: an example includes 'base/text.h', which is not public\n");
}

TEST(Tidy, LetsExamplesSeeCudaAndTheirNeighbours) {
  Tree tree;
  tree.write("examples/nccl/part.h", "// A part.\n#pragma once\n#include <cuda_runtime.h>\n#include <nccl.h>\n");
  tree.write("examples/nccl/a.cc", "#include \"part.h\"\n");
  EXPECT_EQ(tree.faults(), "");
}

TEST(Tidy, KeepsEffectsAtTheEdges) {
  Tree tree;
  const std::string now = "auto now() { return std::chrono::steady_clock::now(); }\n";
  tree.write("src/os/clock.cc", now).write("src/plan/clock.cc", now).write("src/plan/clock_test.cc", now);
  EXPECT_EQ(tree.faults(), "src/plan/clock.cc:1: 'steady_clock::now' may not stand in plan; see layers.txt\n");
}

TEST(Tidy, LimitsTheLengthOfAFile) {
  Tree tree;
  tree.write("src/plan/a.cc", repeated("int;\n", 600)).write("src/plan/b.cc", repeated("int;\n", 601));
  tree.write("src/plan/c_test.cc", repeated("int;\n", 1000)).write("tests/d.cc", repeated("int;\n", 1001));
  EXPECT_EQ(tree.faults(),
            "src/plan/b.cc:601: the file has 601 lines, at most 600 are allowed\n"
            "tests/d.cc:1001: the file has 1001 lines, at most 1000 are allowed\n");
}

TEST(Tidy, CountsColumnsInCharactersNotBytes) {
  Tree tree;
  tree.write("src/plan/a.cc", "//" + repeated("é", 118) + "\n//" + repeated("e", 119) + "\n");
  EXPECT_EQ(tree.faults(), "src/plan/a.cc:2: the line has 121 columns, at most 120 are allowed\n");
}

TEST(Tidy, LimitsTheLengthOfAFunctionButNotOfATest) {
  Tree tree;
  const std::string longest = "void f() {\n" + repeated("  g();\n", 58) + "}\n";
  const std::string longer = "void f() {\n" + repeated("  g();\n", 59) + "}\n";
  tree.write("src/plan/a.cc", longest).write("src/plan/b.cc", longer).write("src/plan/c_test.cc", longer);
  EXPECT_EQ(tree.faults(), "src/plan/b.cc:1: the function has 61 lines, at most 60 are allowed\n");
}

TEST(Tidy, RefusesNamesThatSayNothing) {
  Tree tree;
  tree.write("src/plan/string_utils.cc", "").write("src/plan/helper/a.cc", "").write("docs/common.md", "");
  tree.write("src/plan/ring_v2.cc", "").write("src/plan/commonplace.cc", "");
  EXPECT_EQ(tree.faults(),
            "docs/common.md:0: 'common' says nothing as a name; find the noun\n"
            "src/plan/helper/a.cc:0: 'helper' says nothing as a name; find the noun\n"
            "src/plan/ring_v2.cc:0: 'v2' says nothing as a name; find the noun\n"
            "src/plan/string_utils.cc:0: 'utils' says nothing as a name; find the noun\n");
}

TEST(Tidy, WantsANumberWhereWorkIsLeft) {
  Tree tree;
  tree.write("src/plan/a.cc", "// TODO(#12): fast\n/* a\n TODO: b */\nauto s = \"TODO\";\n");
  EXPECT_EQ(tree.faults(), "src/plan/a.cc:3: work to do without an issue number; write TODO(#12)\n");
}

TEST(Tidy, WantsASentenceAndPragmaOnceInHeaders) {
  Tree tree;
  tree.write("src/plan/a.h", "#pragma once\n").write("src/plan/b.h", "// What this is for.\n// #pragma once\n");
  EXPECT_EQ(tree.faults(),
            "src/plan/a.h:1: a header starts with one sentence: what this is for\n"
            "src/plan/b.h:1: the header has no #pragma once\n");
}

TEST(Tidy, LetsOnlyMissingPartsDecideWhatIsCompiled) {
  Tree tree;
  tree.write(
      "src/plan/a.cc",
      "#ifdef NDEBUG\n#elif __has_include(<ucp/api/ucp.h>) && TUTTI_HAS_UCX\n#endif\n#ifdef __linux__\n#endif\n");
  EXPECT_EQ(tree.faults(),
            "src/plan/a.cc:4: #if on '__linux__'; only NDEBUG, __has_include and TUTTI_HAS_* may decide\n");
}

TEST(Tidy, ReportsSlipsInLayersThemselves) {
  Tree tree;
  tree.write("layers.txt", "[folders]\nbase:\nplan: bose\n[pubic]\n[public]\npaln: plan.h\n");
  EXPECT_EQ(tree.faults(),
            "layers.txt:0: plan uses 'bose', which is no folder\n"
            "layers.txt:0: plan.h belongs to 'paln', which is no folder\n"
            "layers.txt:4: unknown section 'pubic'\n");
}

std::string lengths_of(const std::string& code) {
  std::string text;
  for (const Function& function : functions_of(source_of("a.cc", code))) {
    text += fmt::format("{}-{} ", function.first_line, function.last_line);
  }
  return text;
}

TEST(Functions, AreFoundInNamespacesAndClasses) {
  EXPECT_EQ(lengths_of("namespace a {\nvoid f() {\n  if (x) {\n  }\n}\n\nclass B : C {\n public:\n  int g() const {\n"
                       "    return 1;\n  }\n};\n}\n"),
            "2-5 9-11 ");
}

TEST(Functions, MayHaveTemplatesInitialisersAndDefaults) {
  EXPECT_EQ(lengths_of("template <class T, class U = A<B>>\nT f(T t = {}) {\n}\n"), "2-3 ");
  EXPECT_EQ(lengths_of("A::A(int x)\n    : b_{x}, c_(x) {\n  d();\n}\n"), "2-4 ");
  EXPECT_EQ(lengths_of("A& operator=(const A& a) {\n}\nbool operator==(A a, A b) {\n}\n"), "1-2 3-4 ");
}

TEST(Functions, AreNotInitialisersEnumsOrText) {
  EXPECT_EQ(
      lengths_of("constexpr std::array<int, f(1)> kA = {\n1,\n};\nenum class B {\n a,\n};\nauto c = g({\n1,\n});\n"),
      "");
  EXPECT_EQ(lengths_of("const char* a = \"f() {\";\n// f() {\nauto b = R\"(f() {)\";\n#define C() {\nint d;\n"), "");
}

}  // namespace
}  // namespace tutti::tidy
