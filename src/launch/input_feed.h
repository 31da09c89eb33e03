// Brings what the launcher is given to read to the ranks that read it, with a limit to what is on its way.
#pragma once

#include <map>

#include "launch/crew.h"
#include "launch/input_pump.h"
#include "launch/layout.h"

namespace tutti::launch {

class InputFeed {
 public:
  InputFeed(os::EventLoop& loop, Crew& crew, InputPolicy policy, int fd);

  void begin(const Layout& layout);  // a world has begun: its ranks get what was not read yet
  void took(const Took& took);
  void left(Rank rank);  // it has ended, and reads nothing any more
  void resume() { pump_.resume(); }

 private:
  struct Reader {
    HostIndex host = 0;
    std::size_t bytes_on_way = 0;
  };
  std::size_t room() const;
  void give(std::span<const std::byte> bytes);
  void end();

  Crew& crew_;
  InputPolicy policy_;
  InputPump pump_;
  std::map<Rank, Reader> readers_;
};

}  // namespace tutti::launch
