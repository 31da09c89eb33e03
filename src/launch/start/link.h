// The way to the first agent behind a program: a local agent itself, or ssh.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launch/channel.h"
#include "launch/start/explanation.h"
#include "launch/start/program.h"

namespace tutti::launch {

struct Link {
  std::unique_ptr<Duct> duct;
  std::unique_ptr<Program> program;  // null: it is reached over a network and lives with somebody else
  Greets greets = Greets::expects;
  Way way = Way::local;
};

// A program that speaks the messages of an agent on its standard input and output.
Result<Link> start_link(os::EventLoop& loop, Way way, const std::vector<std::string>& words);

// The path of the running program, for agents of this machine: the same version, whatever was installed meanwhile.
std::string own_program();

}  // namespace tutti::launch
