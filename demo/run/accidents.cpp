#include "demo/run/accidents.h"

#include <csignal>

namespace reseq::demo {
bool Accidents::over() const {
  return next_ == plan_.size();
}

Result<> Accidents::happen(std::chrono::milliseconds since) {
  for (; !over() && plan_[next_].at <= since; ++next_) {
    const Launch launch = launch_of_(plan_[next_].process % processes_);
    switch (plan_[next_].what) {
      case Accident::kKill:
        fleet_.kill(launch.name);
        ++killed_;
        break;
      case Accident::kStartAgain:
        if (Result<> started = fleet_.start(launch); !started) return started;
        break;
      case Accident::kStandStill:
        fleet_.tell(launch.name, SIGSTOP);
        ++stood_still_;
        break;
      case Accident::kGoOn:
        fleet_.tell(launch.name, SIGCONT);
        break;
    }
  }
  return Done{};
}

}  // namespace reseq::demo
