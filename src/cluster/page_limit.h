#pragma once

#include <algorithm>

namespace muster::cluster {

// How many objects of one list are asked for at once. A page that is larger than we read is asked
// for again in halves, down to one object; later lists try twice as many each.
class PageLimit {
 public:
  explicit PageLimit(int most) : most_(most), now_(most) {}

  [[nodiscard]] int now() const { return now_; }
  // False when it cannot get smaller.
  bool halve() {
    if (now_ == 1) return false;
    now_ /= 2;
    return true;
  }
  void grow() { now_ = std::min(most_, now_ * 2); }

 private:
  int most_;
  int now_;
};

}  // namespace muster::cluster
