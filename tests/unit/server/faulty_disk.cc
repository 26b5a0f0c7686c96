#include "faulty_disk.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include <fmt/format.h>

namespace muster::server {
namespace {

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

void put(std::string& content, std::uint64_t at, std::string_view bytes) {
  if (content.size() < at + bytes.size()) content.resize(at + bytes.size(), '\0');
  std::memcpy(content.data() + at, bytes.data(), bytes.size());
}

}  // namespace

FaultyDisk::FaultyDisk(DiskImage image, Mistake mistake)
    : mistake_(mistake), first_(std::move(image)), vfs_(std::make_unique<sqlite3_vfs>()) {
  static std::atomic<int> number = 0;
  name_ = fmt::format("faulty-{}", ++number);
  for (const auto& [name, content] : first_.files) {
    names_[name] = contents_.size();
    contents_.push_back(content);
  }
  first_names_ = names_;
  *vfs_ = vfs_of(*this, name_);
  sqlite3_vfs_register(vfs_.get(), 0);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(vfs_.get());
}

Result<void> FaultyDisk::make_file(const std::string& path) {
  open(last_part(path), true);
  return {};
}

Result<void> FaultyDisk::sync_folder(const std::string&) {
  const std::lock_guard lock(mutex_);
  if (mistake_ != Mistake::NoFolderSync) steps_.push_back({.what = DiskStep::What::SyncFolder});
  return {};
}

std::uint64_t FaultyDisk::size(const std::string&) const {
  const std::lock_guard lock(mutex_);
  // The log of writes is kept small, as a crash is asked for after every step of it.
  return limit_ == 0 ? std::uint64_t{1} << 20U : limit_;
}

void FaultyDisk::mark(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  steps_.push_back({.what = DiskStep::What::Mark, .at = number});
}

void FaultyDisk::limit(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

std::uint64_t FaultyDisk::used() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const std::string& each : contents_) sum += each.size();
  return sum;
}

void FaultyDisk::break_down() {
  const std::lock_guard lock(mutex_);
  broken_ = true;
}

std::size_t FaultyDisk::open(const std::string& name, bool create) {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  if (!create) return kNone;
  const std::size_t file = contents_.size();
  contents_.emplace_back();
  names_[name] = file;
  steps_.push_back({.what = DiskStep::What::Create, .file = file, .name = name});
  return file;
}

bool FaultyDisk::exists(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return names_.contains(name);
}

int FaultyDisk::remove(const std::string& name, bool sync) {
  const std::lock_guard lock(mutex_);
  if (names_.erase(name) == 0) return SQLITE_IOERR_DELETE_NOENT;
  steps_.push_back({.what = DiskStep::What::Remove, .name = name});
  if (sync) steps_.push_back({.what = DiskStep::What::SyncFolder});
  return SQLITE_OK;
}

int FaultyDisk::read(std::size_t file, char* to, std::size_t count, std::uint64_t at) const {
  const std::lock_guard lock(mutex_);
  const std::string& content = contents_[file];
  const std::size_t there =
      at < content.size() ? std::min<std::size_t>(count, content.size() - at) : 0;
  if (there > 0) std::copy_n(content.data() + at, there, to);
  if (there == count) return SQLITE_OK;
  std::memset(to + there, 0, count - there);
  return SQLITE_IOERR_SHORT_READ;
}

bool FaultyDisk::grows(std::size_t file, std::uint64_t end) const {
  if (limit_ == 0 || end <= contents_[file].size()) return false;
  std::uint64_t sum = end - contents_[file].size();
  for (const std::string& each : contents_) sum += each.size();
  return sum > limit_;
}

int FaultyDisk::write(std::size_t file, std::string bytes, std::uint64_t at) {
  const std::lock_guard lock(mutex_);
  if (broken_) return SQLITE_IOERR_WRITE;
  if (grows(file, at + bytes.size())) return SQLITE_FULL;
  put(contents_[file], at, bytes);
  steps_.push_back(
      {.what = DiskStep::What::Write, .file = file, .at = at, .bytes = std::move(bytes)});
  return SQLITE_OK;
}

int FaultyDisk::resize(std::size_t file, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  if (broken_) return SQLITE_IOERR_TRUNCATE;
  if (grows(file, size)) return SQLITE_FULL;
  if (contents_[file].size() == size) return SQLITE_OK;
  contents_[file].resize(size, '\0');
  steps_.push_back({.what = DiskStep::What::Resize, .file = file, .at = size});
  return SQLITE_OK;
}

int FaultyDisk::sync(std::size_t file) {
  const std::lock_guard lock(mutex_);
  if (broken_) return SQLITE_IOERR_FSYNC;
  steps_.push_back({.what = DiskStep::What::Sync, .file = file});
  for (const auto& [name, number] : names_)
    if (number == file && name.contains('-'))
      steps_.push_back({.what = DiskStep::What::SyncName, .name = name});
  return SQLITE_OK;
}

std::uint64_t FaultyDisk::file_size(std::size_t file) const {
  const std::lock_guard lock(mutex_);
  return contents_[file].size();
}

DiskImage FaultyDisk::now() const {
  const std::lock_guard lock(mutex_);
  DiskImage image;
  for (const auto& [name, file] : names_) image.files[name] = contents_[file];
  return image;
}

// --- the crash

namespace {

// Applies to `content` what a crash leaves of the steps that were not synced.
class Remains {
 public:
  Remains(Loss loss, Rng& rng) : loss_(loss), rng_(rng) {}

  void apply(std::string& content, const std::vector<const DiskStep*>& unsynced) {
    if (loss_ == Loss::Everything) return;
    std::size_t kept = unsynced.size();
    if (loss_ == Loss::Tail && kept > 0) kept = rng_.below(kept + 1);
    for (std::size_t i = 0; i < kept; ++i) {
      const bool torn = loss_ == Loss::Tail && i + 1 == kept;
      one(content, *unsynced[i], torn);
    }
  }
  // Whether a change of a directory is there.
  bool keeps() {
    return loss_ == Loss::Nothing || (loss_ != Loss::Everything && rng_.below(2) == 0);
  }

 private:
  void one(std::string& content, const DiskStep& step, bool torn) {
    if (step.what == DiskStep::What::Resize) {
      if (loss_ == Loss::Nothing || loss_ == Loss::Tail || rng_.below(2) == 0)
        content.resize(step.at, '\0');
      return;
    }
    if (loss_ == Loss::Nothing || (loss_ == Loss::Tail && !torn))
      return put(content, step.at, step.bytes);
    if (torn) {
      const std::size_t sectors = step.bytes.size() / 512;
      return put(content, step.at,
                 std::string_view(step.bytes).substr(0, 512 * rng_.below(sectors + 1)));
    }
    // Whole writes are lost, too, not only parts of all of them.
    if (rng_.below(3) == 0) return;
    const bool all = rng_.below(2) == 0;
    const std::uint64_t unit = loss_ == Loss::Sectors512 ? 512 : 64;
    for (std::uint64_t at = 0; at < step.bytes.size();) {
      const std::uint64_t next =
          std::min<std::uint64_t>(step.bytes.size(), ((step.at + at) / unit + 1) * unit - step.at);
      if (all || rng_.below(2) == 0)
        put(content, step.at + at, std::string_view(step.bytes).substr(at, next - at));
      at = next;
    }
  }

  Loss loss_;
  Rng& rng_;
};

}  // namespace

DiskImage FaultyDisk::crash(std::size_t step, Loss loss, Rng& rng) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> durable(contents_.size());
  for (const auto& [name, file] : first_names_) durable[file] = first_.files.at(name);
  std::vector<std::vector<const DiskStep*>> unsynced(contents_.size());
  std::map<std::string, std::size_t> names = first_names_;
  std::vector<const DiskStep*> entries;
  const auto enter = [&names](const DiskStep& each) {
    if (each.what == DiskStep::What::Create)
      names[each.name] = each.file;
    else
      names.erase(each.name);
  };
  for (std::size_t i = 0; i < step && i < steps_.size(); ++i) {
    const DiskStep& each = steps_[i];
    switch (each.what) {
      case DiskStep::What::Write:
      case DiskStep::What::Resize:
        unsynced[each.file].push_back(&each);
        break;
      case DiskStep::What::Sync:
        Remains(Loss::Nothing, rng).apply(durable[each.file], unsynced[each.file]);
        unsynced[each.file].clear();
        break;
      case DiskStep::What::Create:
      case DiskStep::What::Remove:
        entries.push_back(&each);
        break;
      case DiskStep::What::SyncName:
        for (const DiskStep* entry : entries)
          if (entry->name == each.name) enter(*entry);
        std::erase_if(entries, [&](const DiskStep* entry) { return entry->name == each.name; });
        break;
      case DiskStep::What::SyncFolder:
        for (const DiskStep* entry : entries) enter(*entry);
        entries.clear();
        break;
      case DiskStep::What::Mark:
        break;
    }
  }
  Remains remains(loss, rng);
  for (std::size_t file = 0; file < durable.size(); ++file)
    remains.apply(durable[file], unsynced[file]);
  for (const DiskStep* entry : entries)
    if (remains.keeps()) enter(*entry);
  DiskImage image;
  for (const auto& [name, file] : names) image.files[name] = durable[file];
  return image;
}

}  // namespace muster::server
