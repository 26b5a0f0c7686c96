#include "rt/pool.h"

namespace muster::rt {

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  ready_.notify_all();
  threads_.clear();  // jthread joins
}

void Pool::submit(Callback work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    if (queue_.size() > idle_ && threads_.size() < most_threads_)
      threads_.emplace_back([this] { serve(); });
  }
  ready_.notify_one();
}

void Pool::serve() {
  while (true) {
    std::unique_lock lock(mutex_);
    ++idle_;
    ready_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) return;
    Callback work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
  }
}

}  // namespace muster::rt
