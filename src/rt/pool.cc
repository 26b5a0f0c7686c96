#include "rt/pool.h"

namespace muster::rt {

Pool::Pool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

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
  }
  ready_.notify_one();
}

void Pool::serve() {
  while (true) {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Callback work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
  }
}

}  // namespace muster::rt
