// One job from the start of its first agent to the end of its last.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bootstrap/meeting_point.h"
#include "launch/crew.h"
#include "launch/input_feed.h"
#include "launch/job_view.h"
#include "launch/launcher.h"
#include "launch/output/printer.h"
#include "launch/roll.h"
#include "launch/sample_round.h"
#include "launch/start/muster.h"
#include "launch/verdict.h"

namespace tutti::launch {

// On the thread of the loop, whose other guests may look at the job as a JobView.
class JobRun final : public JobView, private Crew::Listener {
 public:
  JobRun(os::EventLoop& loop, const Settings& settings);
  ~JobRun() override;

  Result<int> run();
  void take_signal(int signal);

  JobStatus status() const override { return roll_.status(); }
  void stop() override;
  void kill() override;
  Status signal(int signal, Rank rank) override;
  void ask_samples(std::function<void()> done) override;

 private:
  enum class Phase : std::uint8_t {
    mustering,
    running,
    clearing,  // between two worlds: what is left of the first is ended
    closing,   // agents end
    over,
  };

  void heard(HostIndex host, Message message) override;
  void lost(HostIndex root, const std::vector<HostIndex>& hosts, const std::string& why) override;
  void ended() override { look(); }

  void hear(HostIndex host, const Hello& hello) { muster_.hello(host, hello); }
  void hear(HostIndex host, const Started& started);
  void hear(HostIndex host, const CannotStart& failure);
  void hear(HostIndex host, const Output& output);
  void hear(HostIndex host, const Ended& ended);
  void hear(HostIndex host, const Lost& lost);
  void hear(HostIndex host, const Samples& samples);
  void hear(HostIndex host, const Note& note);
  void hear(HostIndex host, const Gone&) { gone_.insert(host); }
  void hear(HostIndex, const Took& took) { feed_.took(took); }
  template <class Other>
  void hear(HostIndex, const Other&) {}  // a Beat, or what only launchers say

  void mustered(const Status& status);
  Status form_world(const Layout& layout, int generation);
  void judge(Measure measure);  // what the verdict says, and what follows
  void apply(Measure measure);
  void report();
  void lose(const std::vector<HostIndex>& hosts, const std::string& why);
  void look();  // whether the next phase has come
  void end_world();
  bool may_restart() const;
  void clear();
  void restart();
  void close();
  void finish();
  void interrupt(int signal);
  void halt();
  void halt_once_sent(Deadline deadline);
  void beat();
  void await_answers(std::chrono::milliseconds grace);
  void give_up_waiting();
  void say(const std::string& sentence) { printer_->say("tutti run: " + sentence); }
  const std::string& name_of_host(HostIndex host) const { return settings_.layout.hosts[host].name; }

  os::EventLoop& loop_;
  const Settings& settings_;
  std::unique_ptr<Printer> printer_;
  Roll roll_;
  Crew crew_;
  Muster muster_;
  InputFeed feed_;
  SampleRound samples_;
  Phase phase_ = Phase::mustering;
  Layout layout_;  // of the present world
  std::optional<Verdict> verdict_;
  std::unique_ptr<bootstrap::MeetingPoint> meeting_;
  int restart_ = 0;
  bool is_end_wanted_ = false;  // by the user or a limit: no restart
  bool has_told_of_printer_ = false;
  std::optional<int> early_signal_;  // which ended it before the first world
  int late_signals_ = 0;             // since it ends anyway
  Status failure_;                   // why there was no world at all
  std::set<HostIndex> gone_;         // hosts where nothing runs
  std::set<HostIndex> lost_;
  os::EventLoop::Timer beat_timer_ = {};
  os::EventLoop::Timer answer_timer_ = {};
  os::EventLoop::Timer timeout_timer_ = {};
  os::EventLoop::Timer halt_timer_ = {};
};

}  // namespace tutti::launch
