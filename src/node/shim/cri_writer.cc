#include "node/shim/cri_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "node/linux/files.h"

namespace muster::node::shim {

namespace {

// Collected before one write(2); bounds the memory of a container that floods its log.
constexpr std::size_t kBatchBytes = std::size_t{256} << 10U;

}  // namespace

std::string format_nano_time(Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  char text[40];
  const int size = std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%09dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()), static_cast<int>((time - seconds).count()));
  return {text, static_cast<std::size_t>(size)};
}

Result<CriWriter> CriWriter::create(std::string path, std::uint64_t quota) {
  TRY(linux::make_directories(path.substr(0, path.rfind('/')), 0700));
  CriWriter writer(std::move(path), quota);
  TRY(writer.open());
  return writer;
}

Result<void> CriWriter::open() {
  fd_ = Fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd_.valid()) return fail_errno("open the log " + path_);
  struct stat status{};
  size_ = ::fstat(fd_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  return {};
}

void CriWriter::append(Stream stream, std::string_view bytes, Time now) {
  auto& held = held_[static_cast<std::size_t>(stream)];
  while (!bytes.empty()) {
    const auto room = kMaxPieceBytes - held.size();
    const auto newline = bytes.substr(0, room + 1).find('\n');
    if (newline != std::string_view::npos) {
      held.append(bytes.substr(0, newline));
      bytes.remove_prefix(newline + 1);
      piece(stream, true, held, now);
      held.clear();
      continue;
    }
    const auto take = std::min(room, bytes.size());
    held.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    if (held.size() == kMaxPieceBytes && !bytes.empty()) {
      piece(stream, false, held, now);
      held.clear();
    }
  }
  write_out();
}

void CriWriter::flush(Time now) {
  for (const auto stream : {Stream::Stdout, Stream::Stderr}) {
    auto& held = held_[static_cast<std::size_t>(stream)];
    if (!held.empty()) piece(stream, false, held, now);
    held.clear();
  }
  write_out();
}

void CriWriter::piece(Stream stream, bool full, std::string_view text, Time now) {
  out_ += format_nano_time(now);
  out_ += stream == Stream::Stdout ? " stdout " : " stderr ";
  out_ += full ? "F " : "P ";
  out_ += text;
  out_ += '\n';
  if (out_.size() >= kBatchBytes) write_out();
}

void CriWriter::write_out() {
  if (out_.empty()) return;
  if (size_ > 0 && size_ + out_.size() > quota_ / 2) rotate();
  if (torn_) out_.insert(0, 1, '\n');
  torn_ = false;
  std::string_view rest = out_;
  while (!rest.empty()) {
    const auto written = ::write(fd_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      lost_ += rest.size();
      torn_ = rest.size() < out_.size();
      break;
    }
    size_ += static_cast<std::uint64_t>(written);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  out_.clear();
}

void CriWriter::rotate() {
  if (::rename(path_.c_str(), (path_ + ".1").c_str()) != 0) return;
  // Without a new file we go on in the old one: a little over the quota is better than nothing.
  Fd old(fd_.release());
  if (!open()) fd_ = std::move(old);
}

}  // namespace muster::node::shim
