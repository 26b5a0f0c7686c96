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
  write_out(now);
}

void CriWriter::flush(Time now) {
  for (const auto stream : {Stream::Stdout, Stream::Stderr}) {
    auto& held = held_[static_cast<std::size_t>(stream)];
    if (!held.empty()) piece(stream, false, held, now);
    held.clear();
  }
  write_out(now);
}

void CriWriter::piece(Stream stream, bool full, std::string_view text, Time now) {
  if (out_.size() >= kBatchBytes) write_out(now);
  // Once something is lost, all is until a line has said so: what follows would seem to belong to
  // what was before.
  if (lost_ > 0 || out_.size() + text.size() > kMostKeptBytes) {
    lost_ += text.size() + (full ? 1 : 0);
    return;
  }
  format(stream, full, text, now);
}

void CriWriter::format(Stream stream, bool full, std::string_view text, Time now) {
  out_ += format_nano_time(now);
  out_ += stream == Stream::Stdout ? " stdout " : " stderr ";
  out_ += full ? "F " : "P ";
  out_ += text;
  out_ += '\n';
  within_line_[static_cast<std::size_t>(stream)] = !full;
}

void CriWriter::write_out(Time now) {
  if (!write_kept() || lost_ == 0) return;
  say_what_was_lost(now);
  write_kept();
}

void CriWriter::say_what_was_lost(Time now) {
  for (const auto stream : {Stream::Stdout, Stream::Stderr}) {
    if (within_line_[static_cast<std::size_t>(stream)]) format(stream, true, "", now);
  }
  format(Stream::Stderr, true,
         "muster: " + std::to_string(lost_) + " bytes of this log were lost: the disk was full",
         now);
  lost_ = 0;
}

bool CriWriter::write_kept() {
  if (out_.empty()) return true;
  if (size_ > 0 && size_ + out_.size() > quota_ / 2) rotate();
  std::size_t done = 0;
  while (done < out_.size()) {
    const auto written = ::write(fd_.get(), out_.data() + done, out_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    size_ += static_cast<std::uint64_t>(written);
    done += static_cast<std::size_t>(written);
  }
  // What is left begins within a line where the disk took only a part of it, and goes on there.
  out_.erase(0, done);
  within_record_ = !out_.empty() && (done > 0 || within_record_);
  return out_.empty();
}

void CriWriter::rotate() {
  if (within_record_) return;  // its beginning is in this file
  if (::rename(path_.c_str(), (path_ + ".1").c_str()) != 0) return;
  // Without a new file we go on in the old one: a little over the quota is better than nothing.
  Fd old(fd_.release());
  if (open()) return;
  fd_ = std::move(old);
  static_cast<void>(::rename((path_ + ".1").c_str(), path_.c_str()));
}

}  // namespace muster::node::shim
