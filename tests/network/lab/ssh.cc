#include "tests/network/lab/ssh.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/small_file.h"

namespace tutti::lab {

namespace {

constexpr std::chrono::seconds kToolLimit(20);
constexpr useconds_t kPollUs = 2000;
constexpr const char* kDaemon = "/usr/sbin/sshd";  // starts itself again for every connection, by its whole path

// What ssh reads on every host, in the place of /etc/ssh. It asks nothing, and knows the keys of all hosts.
constexpr const char* kClient = R"(Host *
  BatchMode yes
  IdentityFile /etc/ssh/user_key
  IdentitiesOnly yes
  UserKnownHostsFile /dev/null
  GlobalKnownHostsFile /etc/ssh/known_hosts
  StrictHostKeyChecking yes
  LogLevel ERROR
)";

// Many hosts may be reached at once from one: none of them is turned away.
constexpr const char* kServer = R"(Port 22
HostKey /etc/ssh/host_key
AuthorizedKeysFile /etc/ssh/authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
UseDNS no
PidFile none
PrintMotd no
MaxStartups 100
MaxSessions 100
)";

// Files of the machine that the host must not see, and /run, where sshd wants a folder of its own. An account whose
// password starts with '!', as root's often does, would not be let in.
constexpr const char* kSetUp = R"(set -e
mount -t tmpfs tmpfs /run
mkdir -m 755 /run/sshd
mount --bind "$FOLDER/etc" /etc/ssh
mount --bind "$FOLDER/shadow" /etc/shadow
)";

}  // namespace

Status SshLab::is_possible() {
  TUTTI_TRY(Lab::is_possible());
  for (const char* program : {"sshd", "ssh", "ssh-keygen"}) {
    if (has_program(program)) continue;
    return {Code::unsupported, fmt::format("there is no {} (Debian: openssh-server openssh-client)", program)};
  }
  return {};
}

Result<std::unique_ptr<SshLab>> SshLab::create(int host_count) {
  TUTTI_ASSIGN(Lab lab, Lab::create({.host_count = host_count}));
  TUTTI_ASSIGN(Folder folder, Folder::create());
  std::unique_ptr<SshLab> ssh(new SshLab(std::move(lab), std::move(folder)));
  TUTTI_TRY(ssh->write_files());
  ssh->daemons_.resize(static_cast<std::size_t>(host_count));
  for (int host = 0; host < host_count; ++host) {
    TUTTI_TRY(ssh->set_up_host(host));
    TUTTI_TRY(ssh->start_daemon(host));
  }
  return ssh;
}

SshLab::~SshLab() {
  daemons_.clear();
  lab_.clear(std::chrono::seconds(0));
}

Ending SshLab::run(const Words& words, const Environment& environment) const {
  return launch(words, {.keeper = lab_.keeper(0), .environment = environment, .folder = folder_.path()});
}

Result<Process> SshLab::start(int host, const Words& words, const Environment& environment) const {
  return lab_.start(host, {.words = words, .environment = environment, .input = "", .folder = folder_.path()});
}

Status SshLab::make_key(const std::string& name) const {
  const Program program{.words = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder_.file(name)}};
  return run_program(kThisMachine, program, kToolLimit).status().while_doing("making the key " + name);
}

Status SshLab::write_files() const {
  if (::mkdir(folder_.file("etc").c_str(), 0755) != 0) return {Code::internal, "making a folder in " + folder_.path()};
  for (const char* key : {"etc/host_key", "etc/user_key", "foreign_key"}) TUTTI_TRY(make_key(key));
  std::string known;  // all hosts have the same key
  for (int host = 0; host < lab_.host_count(); ++host) {
    known += fmt::format("{},{} {}", Lab::host_name(host), Lab::address(host, 0),
                         read_file(folder_.file("etc/host_key.pub")));
  }
  TUTTI_TRY(write_file(folder_.file("etc/known_hosts"), known));
  TUTTI_TRY(write_file(folder_.file("etc/authorized_keys"), read_file(folder_.file("etc/user_key.pub"))));
  TUTTI_TRY(write_file(folder_.file("etc/ssh_config"), kClient));
  TUTTI_TRY(write_file(folder_.file("etc/sshd_config"), kServer));
  return write_file(folder_.file("shadow"), "root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n");
}

Status SshLab::set_up_host(int host) const {
  const Program program{.words = {"sh", "-c", kSetUp}, .environment = {{"FOLDER", folder_.path()}}};
  return lab_.run(host, program, kToolLimit).status().while_doing("setting up " + Lab::host_name(host));
}

Status SshLab::start_daemon(int host) {
  TUTTI_ASSIGN(auto process, lab_.start(host, {.words = {kDaemon, "-D", "-e"}}));
  daemons_[static_cast<std::size_t>(host)] = std::make_unique<Process>(std::move(process));
  return await_daemon(host);
}

// It says so on its standard error.
Status SshLab::await_daemon(int host) const {
  Process& daemon = *daemons_[static_cast<std::size_t>(host)];
  const Deadline deadline = Deadline::after(os::now(), kToolLimit);
  while (daemon.output().find("Server listening on 0.0.0.0") == std::string::npos) {
    const auto code = daemon.wait(std::chrono::microseconds(kPollUs));
    if (!code && !deadline.has_passed(os::now())) continue;
    return {Code::timed_out, fmt::format("the sshd of {} does not listen: {}", Lab::host_name(host), daemon.output())};
  }
  return {};
}

// The group of the daemon is killed with it: its sessions have left it.
void SshLab::stop_daemon(int host) { daemons_[static_cast<std::size_t>(host)].reset(); }

Status SshLab::set_welcome(int host, bool is_welcome) const {
  const Words words = is_welcome
                          ? Words{"umount", "/etc/ssh/authorized_keys"}
                          : Words{"mount", "--bind", folder_.file("foreign_key.pub"), "/etc/ssh/authorized_keys"};
  return lab_.run(host, {.words = words}, kToolLimit).status();
}

Status SshLab::power_off(int host) {
  TUTTI_TRY(lab_.cut(host));
  lab_.kill_processes(host);
  stop_daemon(host);
  return {};
}

Status SshLab::power_on(int host) {
  TUTTI_TRY(lab_.heal(host));
  return start_daemon(host);
}

std::vector<pid_t> SshLab::user_processes() const {
  std::vector<pid_t> found = lab_.processes();
  std::erase_if(found, [](pid_t pid) {
    const auto name = os::read_small_file(fmt::format("/proc/{}/comm", pid));
    return !name || *name == "sshd";
  });
  return found;
}

bool SshLab::is_quiet(std::chrono::nanoseconds limit) const {
  const Deadline deadline = Deadline::after(os::now(), limit);
  while (!user_processes().empty()) {
    if (deadline.has_passed(os::now())) return false;
    ::usleep(kPollUs);
  }
  return true;
}

std::string SshLab::daemon_output(int host) const {
  const auto& daemon = daemons_[static_cast<std::size_t>(host)];
  return daemon ? daemon->output() : "";
}

}  // namespace tutti::lab
