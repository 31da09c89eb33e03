// What failures look like: a wrong span, calls that differ, a rank that does not come, an abort.
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tutti/communicator.h"

using Part = std::function<tutti::Status(tutti::Communicator&)>;

// What rank 0 gets when the two ranks do their parts; shown with what has to be rebuilt.
void show(const char* title, const Part& first, const Part& second, std::chrono::nanoseconds timeout) {
  auto ranks = tutti::Communicator::create_local(2, {.timeout = timeout});
  if (!ranks) return;
  tutti::Status status;
  std::thread one([&] { status = first((*ranks)[0]); });
  std::thread two([&] { (void)second((*ranks)[1]); });
  one.join();
  two.join();
  const bool is_over = status.scope() == tutti::Scope::communicator;
  std::printf("%s: %s\n  %s\n", title, is_over ? "the communicator has ended" : "the communicator goes on",
              std::string(status.text()).c_str());
}

int main() {
  using std::chrono::seconds;
  std::vector<float> a(8, 1);
  std::vector<float> b(8, 1);
  const Part nothing = [](auto&) { return tutti::Status(); };

  show(
      "a span that is too short", [&](auto& c) { return c.all_gather(std::span<const float>(a), std::span(b)); },
      nothing, seconds(10));

  show(
      "counts that differ", [&](auto& c) { return c.all_reduce(std::span(a)); },
      [&](auto& c) { return c.all_reduce(std::span(b).first(4)); }, seconds(10));

  show(
      "a rank that does not come", [&](auto& c) { return c.all_reduce(std::span(a)); }, nothing,
      std::chrono::milliseconds(200));

  show(
      "an abort", [&](auto& c) { return c.all_reduce(std::span(a)); },
      [](auto& c) {
        c.abort(tutti::Status(tutti::Code::aborted, "the loss is not a number"));
        return c.health();
      },
      seconds(10));
  return 0;
}
