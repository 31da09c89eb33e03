// Calls that run while the program does something else: two ranks in one thread, each with a stream.
#include <cstdio>
#include <string>
#include <vector>

#include "tutti/communicator.h"

tutti::Status run() {
  TUTTI_ASSIGN(auto ranks, tutti::Communicator::create_local(2));
  TUTTI_ASSIGN(auto first, tutti::Stream::create());
  TUTTI_ASSIGN(auto second, tutti::Stream::create());
  std::vector<double> a(100, 1);
  std::vector<double> b(100, 2);

  // Buffers stay untouched until the work is done.
  const auto in_place = [](std::vector<double>& data) {
    return tutti::Call{.in = data.data(), .out = data.data(), .count = data.size(), .type = tutti::DataType::float64};
  };
  const tutti::Work one = ranks[0].submit(in_place(a), first);
  const tutti::Work two = ranks[1].submit(in_place(b), second);
  // Here the thread is free for other things.
  TUTTI_TRY(one.wait());
  TUTTI_TRY(two.wait());
  std::printf("%g %g\n", a[99], b[99]);

  // Several calls: the streams keep their order. Waiting for all of them says nothing about how each ended.
  std::vector<tutti::Work> works;
  for (int i = 0; i < 3; ++i) {
    works.push_back(ranks[0].submit(in_place(a), first));
    works.push_back(ranks[1].submit(in_place(b), second));
  }
  TUTTI_TRY(first.synchronize(std::chrono::seconds(10)));
  TUTTI_TRY(second.synchronize(std::chrono::seconds(10)));
  for (const auto& work : works) TUTTI_TRY(work.wait());
  std::printf("%g %g\n", a[99], b[99]);
  return {};
}

int main() {
  const auto status = run();
  if (!status) std::fprintf(stderr, "%s\n", std::string(status.text()).c_str());
  return status ? 0 : 1;
}
