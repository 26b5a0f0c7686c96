#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace muster::json {

// What one Value after the other was copied from is kept once, until one of them is about to change
// it: to copy a pod costs the same however large it is. Copies may be in different threads, as
// copies of anything may. Empty takes no memory.
template <class T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T value)
      : block_(value.empty() ? nullptr : new Block{.value = std::move(value)}) {}
  Shared(const Shared& other) : block_(other.block_) {
    if (block_ != nullptr) block_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  Shared(Shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() {
    if (block_ == nullptr) return;
    if (block_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block_;
  }

  // Nothing: it is empty.
  [[nodiscard]] const T* get() const { return block_ == nullptr ? nullptr : &block_->value; }

  // To be changed; ours alone from now on, and as long as nobody copies us.
  T& own() {
    if (T* value = only()) return *value;
    Shared fresh;
    fresh.block_ = new Block{.value = block_ == nullptr ? T() : block_->value};
    std::swap(block_, fresh.block_);
    return block_->value;
  }

  // Nothing while others have it too, or when it is empty.
  [[nodiscard]] T* only() {
    // Acquire: whoever had it too has read its last of it.
    const bool alone = block_ != nullptr && block_->holders.load(std::memory_order_acquire) == 1;
    return alone ? &block_->value : nullptr;
  }

  friend bool operator==(const Shared& a, const Shared& b) {
    if (a.block_ == b.block_) return true;
    const T empty;
    return (a.block_ == nullptr ? empty : a.block_->value) ==
           (b.block_ == nullptr ? empty : b.block_->value);
  }

 private:
  struct Block {
    std::atomic<std::uint32_t> holders = 1;
    T value;
  };
  Block* block_ = nullptr;
};

}  // namespace muster::json
