#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"
#include "server/store/store_disk.h"

namespace muster::server {

// What a disk was told to do, in order. Files are numbered; a name is an entry of the directory.
struct DiskStep {
  enum class What { Write, Resize, Sync, Create, Remove, SyncName, SyncFolder, Mark };
  What what = What::Write;
  std::size_t file = 0;
  std::string name;      // Create, Remove, SyncName
  std::uint64_t at = 0;  // Write: where; Resize: to; Mark: the caller's number
  std::string bytes;     // Write
};

// What is there after the power came back.
struct DiskImage {
  std::map<std::string, std::string> files;
};

// What a crash does with what was not synced.
enum class Loss {
  Everything,  // nothing of it is there
  Nothing,     // all of it is there
  Tail,        // a beginning of it in the order of writing, the last write torn at 512 bytes
  Sectors512,  // any of its sectors, whatever their order
  Sectors64,   // as before, in smaller pieces
};

// A disk in memory that notes every step: what it would hold after a crash between any two of them
// can be asked for later. SQLite uses it through a VFS of its own, without locks (one connection)
// and without shared memory. Names last when the directory was synced, whatever was synced of the
// files; but SQLite sees to the names of its own journals, as its unix VFS does. A full one refuses
// to grow files, a broken one fails what it is told. Lives on any thread.
class FaultyDisk final : public StoreDisk {
 public:
  explicit FaultyDisk(DiskImage image = {}, Mistake mistake = Mistake::None);
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;
  ~FaultyDisk() override;

  [[nodiscard]] const char* vfs() const override { return name_.c_str(); }
  Result<void> make_file(const std::string& path) override;
  Result<void> sync_folder(const std::string& folder) override;
  [[nodiscard]] std::uint64_t size(const std::string& folder) const override;
  [[nodiscard]] Mistake mistake() const override { return mistake_; }

  // A number in the order of steps: something was promised to somebody here.
  void mark(std::uint64_t number);
  // No file can grow beyond this many bytes of all of them together; 0: any.
  void limit(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t used() const;
  // Everything that writes fails from now on, as a disk does that is dying.
  void break_down();

  [[nodiscard]] const std::vector<DiskStep>& steps() const { return steps_; }
  // After a crash before the step.
  [[nodiscard]] DiskImage crash(std::size_t step, Loss loss, Rng& rng) const;
  [[nodiscard]] DiskImage now() const;

  // --- for the VFS
  std::size_t open(const std::string& name, bool create);
  bool exists(const std::string& name) const;
  int remove(const std::string& name, bool sync);
  int read(std::size_t file, char* to, std::size_t count, std::uint64_t at) const;
  int write(std::size_t file, std::string bytes, std::uint64_t at);
  int resize(std::size_t file, std::uint64_t size);
  int sync(std::size_t file);
  [[nodiscard]] std::uint64_t file_size(std::size_t file) const;

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

 private:
  bool grows(std::size_t file, std::uint64_t end) const;

  std::string name_;
  Mistake mistake_;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> names_;
  std::vector<std::string> contents_;
  DiskImage first_;
  std::map<std::string, std::size_t> first_names_;
  std::vector<DiskStep> steps_;
  std::uint64_t limit_ = 0;
  bool broken_ = false;
  std::unique_ptr<sqlite3_vfs> vfs_;
};

// How SQLite uses it; both outlive that.
sqlite3_vfs vfs_of(FaultyDisk& disk, const std::string& name);

}  // namespace muster::server
