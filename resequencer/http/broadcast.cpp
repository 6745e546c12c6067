#include "http/broadcast.h"

#include <utility>

namespace reseq::http {

class Broadcast::Ear : public Listener {
 public:
  explicit Ear(std::shared_ptr<State> state) : state_(std::move(state)) {
    const std::lock_guard lock(state_->mutex);
    if (state_->listeners++ == 0) state_->newest.reset();
    state_->came.notify_all();
  }
  ~Ear() override {
    const std::lock_guard lock(state_->mutex);
    --state_->listeners;
  }
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;

  std::shared_ptr<const std::string> next(std::chrono::milliseconds limit) override {
    std::unique_lock lock(state_->mutex);
    const auto is_new = [&] { return state_->newest != nullptr && state_->number != heard_; };
    if (!state_->sent.wait_for(lock, limit, is_new)) return nullptr;
    heard_ = state_->number;
    return state_->newest;
  }

 private:
  std::shared_ptr<State> state_;
  std::uint64_t heard_ = 0;
};

void Broadcast::send(std::string event) {
  auto made = std::make_shared<const std::string>(std::move(event));
  const std::lock_guard lock(state_->mutex);
  state_->newest = std::move(made);
  ++state_->number;
  state_->sent.notify_all();
}

bool Broadcast::wait_for_listener(std::chrono::milliseconds limit) {
  std::unique_lock lock(state_->mutex);
  return state_->came.wait_for(lock, limit, [&] { return state_->listeners > 0; });
}

std::size_t Broadcast::listeners() const {
  const std::lock_guard lock(state_->mutex);
  return state_->listeners;
}

std::unique_ptr<Listener> Broadcast::listen() {
  return std::make_unique<Ear>(state_);
}

}  // namespace reseq::http
