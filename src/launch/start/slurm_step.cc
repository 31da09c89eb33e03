#include "launch/start/slurm_step.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/knobs.h"
#include "bootstrap/network/place.h"
#include "launch/conduit_duct.h"
#include "launch/start/slurm_ticket.h"
#include "launch/start/slurm_words.h"
#include "launch/start/ssh_words.h"
#include "os/environment.h"
#include "os/error_text.h"

namespace tutti::launch {

namespace {

// The line as a file that has no name: srun reads it however long it is, and nobody else can.
Result<os::FileDescriptor> file_of(const std::string& text) {
  os::FileDescriptor file(::memfd_create("tutti-ticket", MFD_CLOEXEC));
  if (!file.is_open() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::lseek(file.get(), 0, SEEK_SET) != 0) {
    return Status(Code::out_of_memory, fmt::format("cannot keep the ticket of the step: {}; look at 'ulimit -n' and "
                                                   "free memory",
                                                   os::error_text(errno)));
  }
  return file;
}

std::string end_text(Program& srun) {
  const std::string said = last_line(srun.complaints());
  const auto& end = *srun.end();
  const std::string how =
      end.signal != 0 ? fmt::format("was ended by signal {}", end.signal) : fmt::format("ended with code {}", end.code);
  if (said.empty()) return fmt::format("srun {} before all agents had answered", how);
  return fmt::format("srun {} before all agents had answered, and said: {}", how, said);
}

}  // namespace

Result<std::unique_ptr<SlurmStep>> SlurmStep::start(os::EventLoop& loop, const Settings& settings,
                                                    const std::vector<std::string>& agent_words, Listener listener) {
  std::unique_ptr<SlurmStep> step(new SlurmStep(loop, std::move(listener)));  // NOLINT: private
  TUTTI_TRY(step->open(settings, agent_words));
  return step;
}

SlurmStep::~SlurmStep() {
  if (courier_) courier_->on_data({});
}

void SlurmStep::cancel() const { srun_->signal(SIGTERM); }

Status SlurmStep::open(const Settings& settings, const std::vector<std::string>& agent_words) {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  TUTTI_ASSIGN(const bootstrap::Place place, bootstrap::find_place(knobs));
  TUTTI_ASSIGN(const rpc::Secret secret, rpc::Secret::create());
  TUTTI_ASSIGN(courier_,
               rpc::Courier::start({.secret = secret,
                                    .encryption = knobs.encrypt() ? rpc::Encryption::on : rpc::Encryption::off,
                                    .listen = place.listen}));
  const std::size_t host_count = settings.layout.hosts.size();
  courier_->on_data([this, host_count, life = std::weak_ptr(life_)](ActorId, Bytes announcement, rpc::Conduit conduit) {
    // Shared because functions of the loop can be copied.
    auto held = std::make_shared<rpc::Conduit>(std::move(conduit));
    loop_.post([this, host_count, life, announcement = std::move(announcement), held] {
      if (!life.expired()) take(announcement, std::move(*held), host_count);
    });
  });
  SlurmTicket ticket{.launcher = courier_->contact(), .secret = secret, .is_encrypted = knobs.encrypt(), .nodes = {}};
  for (const Host& host : settings.layout.hosts) ticket.nodes.emplace_back(bare_name(host.name));
  TUTTI_ASSIGN(srun_, start_srun(settings, agent_words, text_of(ticket)));
  srun_->on_end([this] { listener_.ended(end_text(*srun_)); });
  return {};
}

Result<std::unique_ptr<Program>> SlurmStep::start_srun(const Settings& settings,
                                                       const std::vector<std::string>& agent_words,
                                                       const std::string& ticket) {
  TUTTI_ASSIGN(const os::FileDescriptor file, file_of(ticket));
  return Program::start(loop_, {.words = srun_words(settings.slurm, settings.layout.hosts, agent_words),
                                .environment = srun_environment(os::whole_environment()),
                                .input = file.get(),
                                .keeps_output = true});
}

void SlurmStep::take(const Bytes& announcement, rpc::Conduit conduit, std::size_t host_count) {
  const auto host = parse_announcement(tutti::text_of(announcement));
  if (!host || *host >= host_count) return;  // it knows the secret, and yet is no agent of this job: closed
  listener_.arrived(*host, Link{.duct = create_conduit_duct(std::move(conduit)),
                                .program = nullptr,
                                .greets = Greets::no,
                                .way = Way::slurm});
}

}  // namespace tutti::launch
