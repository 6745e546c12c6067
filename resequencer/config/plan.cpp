// A step that must not be done twice (potent):
//   it passes on what it made of its input            that is nowhere else, so nobody can go on from there
//   a step with an effect comes behind it             when that fails, both would be done again
//   a target that is not potent comes behind it       its retry would do the step again
//   no target comes behind it                         nobody would know that it was done
//   two targets come behind it                        one may be sent without the other, and the step is done for each
#include "config/plan.h"

#include <algorithm>
#include <set>

#include "config/nearest.h"
#include "config/values.h"

namespace reseq::config {
namespace {

class Plan {
 public:
  explicit Plan(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] Result<> check() {
    for (const auto& checked : {check_names(), check_cycles()})
      if (!checked) return checked;
    for (const Step& step : settings_.steps)
      if (step.effect == "potent")
        if (auto checked = check_potent(step); !checked) return checked;
    return Done{};
  }

 private:
  [[nodiscard]] const Step* step_of(const std::string& name) const {
    const auto found =
        std::find_if(settings_.steps.begin(), settings_.steps.end(), [&](const Step& one) { return one.name == name; });
    return found == settings_.steps.end() ? nullptr : &*found;
  }

  [[nodiscard]] Result<> check_names() const {
    std::vector<std::string> names;
    for (const Target& target : settings_.targets) names.push_back(target.name);
    for (const Step& step : settings_.steps) {
      if (step.name.empty()) return invalid("[[step]] without a name");
      if (std::find(names.begin(), names.end(), step.name) != names.end())
        return invalid("step " + step.name + " is named twice, or as a target");
      names.push_back(step.name);
    }
    for (const Step& step : settings_.steps)
      for (const std::string& next : step.next)
        if (std::find(names.begin(), names.end(), next) == names.end())
          return invalid("step " + step.name + " goes on to " + next +
                         ", which no [[step]] and no [[target]] is; the " + "nearest one is " +
                         nearest(next, names).word);
    return Done{};
  }

  [[nodiscard]] Result<> check_cycles() const {
    for (const Step& step : settings_.steps)
      if (behind(step).contains(step.name)) return invalid("step " + step.name + " comes behind itself");
    return Done{};
  }

  // All steps and targets that get something from it.
  [[nodiscard]] std::set<std::string> behind(const Step& step) const {
    std::set<std::string> found;
    std::vector<std::string> left = step.next;
    while (!left.empty()) {
      const std::string name = left.back();
      left.pop_back();
      if (!found.insert(name).second) continue;
      if (const Step* next = step_of(name)) left.insert(left.end(), next->next.begin(), next->next.end());
    }
    return found;
  }

  [[nodiscard]] Result<> check_potent(const Step& step) const {
    if (step.mutating && !step.next.empty())
      return invalid("step " + step.name + " is potent and mutating, and goes on to " + step.next.front() +
                     ": what it made cannot be made again; let a step before it make that, or nothing come behind it");
    const std::set<std::string> later = behind(step);
    for (const Step& one : settings_.steps)
      if (later.contains(one.name) && one.effect != "safe")
        return invalid("step " + one.name + " is " + one.effect + " and comes behind " + step.name +
                       ", which is potent: when it fails, both would be done again; let it come before");
    const Target* reached = nullptr;
    for (const Target& target : settings_.targets) {
      if (!later.contains(target.name)) continue;
      if (reached != nullptr)
        return invalid("step " + step.name + " is potent, and both " + reached->name + " and " + target.name +
                       " come behind it: one may be sent without the other, which would do it again; let one target " +
                       "come behind it");
      reached = &target;
      if (target.effect != "potent")
        return invalid("target " + target.name + " is " + target.effect + " and comes behind step " + step.name +
                       ", which is potent: a retry would do that again; set effect = \"potent\" for the target");
    }
    if (reached == nullptr)
      return invalid("step " + step.name +
                     " is potent, and no target comes behind it: nobody would know whether it was " +
                     "done; name a [[target]] with effect = \"potent\" in its next");
    return Done{};
  }

  const Settings& settings_;
};

}  // namespace

Result<> check_plan(const Settings& settings) {
  return Plan(settings).check();
}

}  // namespace reseq::config
