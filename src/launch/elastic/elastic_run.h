// One elastic job from the start of its first agent to the end of its last: does what the policy decides.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/crew.h"
#include "launch/elastic/discovery.h"
#include "launch/elastic/policy.h"
#include "launch/elastic/worker_order.h"
#include "launch/elastic/world_board.h"
#include "launch/job_view.h"
#include "launch/output/printer.h"
#include "launch/sample_round.h"
#include "launch/settings.h"

namespace tutti::launch {

PolicySettings policy_settings_of(const Settings& settings);

// On the thread of the loop, whose other guests may look at the job as a JobView. Messages name workers where those of
// other jobs name ranks.
class ElasticRun final : public JobView, private Crew::Listener {
 public:
  ElasticRun(os::EventLoop& loop, const Settings& settings);
  ~ElasticRun() override;

  Result<int> run();
  void take_signal(int signal);

  JobStatus status() const override;
  void stop() override;
  void kill() override;
  Status signal(int signal, Rank worker) override;
  void ask_samples(std::function<void()> done) override;

 private:
  enum class Phase : std::uint8_t { running, stopping, closing, over };
  struct Agent {
    std::string name;
    std::optional<Hello> hello = {};
  };
  struct Worker {
    StartWorker start;
    HostIndex host = 0;
    Rank label = 0;           // whose lines its lines are, for people
    bool has_begun = false;   // its agent was told
    bool has_joined = false;  // it was in a world
    std::int32_t pid = 0;     // 0: not started
    std::optional<Sample> sample = {};
    os::EventLoop::Timer kill_timer = {};
  };

  void heard(HostIndex host, Message message) override;
  void lost(HostIndex root, const std::vector<HostIndex>& hosts, const std::string& why) override;
  void ended() override { look(); }

  void hear(HostIndex host, const Hello& hello);
  void hear(HostIndex host, const Started& started);
  void hear(HostIndex host, const CannotStart& failure);
  void hear(HostIndex host, const Output& output);
  void hear(HostIndex host, const Ended& ended);
  void hear(HostIndex host, const Samples& samples);
  void hear(HostIndex host, const Note& note);
  template <class Other>
  void hear(HostIndex, const Other&) {}  // a Beat, or what only launchers say

  void take(const Actions& actions);
  void carry_out(const StartWorker& start);
  void carry_out(const StopWorker& stop);
  void carry_out(const PublishWorld& world);
  void carry_out(const Finish& finish);
  void carry_out(const GiveUp& up);
  void carry_out(const WaitUntil& wait);

  HostIndex agent_on(const std::string& host);
  Status start_agent(HostIndex host);
  void begin_worker(Worker& worker);
  PlannedWorld planned() const;
  int slots_of(const std::string& host) const;
  Rank free_label() const;
  void find_hosts(const std::vector<Host>& hosts);
  void lose(HostIndex host, const std::string& why);
  void drop(WorkerId worker);

  void end_job(int code, const std::string& why, std::chrono::milliseconds grace);
  void close();
  void look();
  void finish();
  void beat();
  void look_at_reports();
  void tell_of_waiting();
  void say(const std::string& sentence) { printer_->say("tutti run: " + sentence); }

  os::EventLoop& loop_;
  const Settings& settings_;
  const Time started_;
  std::unique_ptr<Printer> printer_;
  std::unique_ptr<WorldBoard> board_;
  ElasticPolicy policy_;
  Crew crew_;
  SampleRound samples_;
  std::unique_ptr<HostDiscovery> discovery_;
  std::vector<Host> hosts_;                          // as last found
  std::vector<Agent> agents_;                        // by HostIndex; a host that comes back gets a new one
  std::map<std::string, HostIndex> agents_by_name_;  // those that are there or on their way
  std::map<WorkerId, Worker> workers_;               // those that have not ended
  std::vector<WorldMember> world_;
  Phase phase_ = Phase::running;
  int code_ = 0;
  int last_failure_code_ = 1;
  bool is_killing_ = false;
  bool has_found_hosts_ = false;  // perhaps none
  bool has_told_of_waiting_ = false;
  bool has_told_of_printer_ = false;
  os::EventLoop::Timer wake_timer_ = {};
  os::EventLoop::Timer beat_timer_ = {};
  os::EventLoop::Timer report_timer_ = {};
  os::EventLoop::Timer end_timer_ = {};
  os::EventLoop::Timer timeout_timer_ = {};
};

}  // namespace tutti::launch
