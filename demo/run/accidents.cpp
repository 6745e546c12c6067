#include "demo/run/accidents.h"

#include <array>
#include <csignal>

namespace reseq::demo {
namespace {

enum class Accident : unsigned char { kKill, kStartAgain, kStandStill, kGoOn };

struct Planned {
  std::chrono::seconds at;
  Accident what;
  std::size_t process;
};

// Each is over before the next one begins, and who died comes back when its session is over: a group that gets a member
// waits for all that it has. Who stands still does so for longer than a lease.
constexpr std::array kPlan{
    Planned{std::chrono::seconds(12), Accident::kKill, 0},
    Planned{std::chrono::seconds(20), Accident::kStartAgain, 0},
    Planned{std::chrono::seconds(26), Accident::kStandStill, 1},
    Planned{std::chrono::seconds(36), Accident::kGoOn, 1},
    Planned{std::chrono::seconds(42), Accident::kKill, 2},
    Planned{std::chrono::seconds(50), Accident::kStartAgain, 2},
};

}  // namespace

bool Accidents::over() const {
  return next_ == kPlan.size();
}

Result<> Accidents::happen(std::chrono::milliseconds since) {
  for (; !over() && kPlan[next_].at <= since; ++next_) {
    const Launch launch = launch_of_(kPlan[next_].process % processes_);
    switch (kPlan[next_].what) {
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
