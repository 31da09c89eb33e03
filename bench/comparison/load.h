// How much of the machine others used while something of ours ran: what to distrust a measurement for.
#pragma once

namespace tutti::bench {

// Starts to count when it is made.
class LoadMeter {
 public:
  LoadMeter();
  // In cores, since the beginning. What children of this process used counts as ours once they have been waited for.
  double foreign_cores() const;

 private:
  double begin_s_;
  double busy_s_;
  double own_s_;
};

}  // namespace tutti::bench
