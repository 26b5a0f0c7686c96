#include "cli/logs/trouble.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli {
namespace {

// Requests that a server made on our behalf, as Go's client tells of them: Get "URL": why.
std::string without_url(const std::string& text) {
  const auto begin = text.find("Get \"");
  if (begin == std::string::npos) return text;
  const auto end = text.find("\": ", begin);
  return end == std::string::npos ? text : text.substr(0, begin) + text.substr(end + 3);
}

void replace_all(std::string& text, const std::string& what, std::string_view with) {
  if (what.empty()) return;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

std::string some_of(const std::vector<std::string>& whose) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, whose.size()); ++i)
    text += (i == 0 ? "" : ", ") + whose[i];
  if (whose.size() > kNamed) text += fmt::format(" and {} more", whose.size() - kNamed);
  return text;
}

std::string remedy(const Error& error, bool on_a_cluster) {
  const std::string& text = error.message;
  const auto says = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (error.code == ErrorCode::Forbidden) return "reading logs needs the right \"get\" on pods/log";
  if (on_a_cluster && (says("connection refused") || says("no route to host") || says("10250") ||
                       says("i/o timeout"))) {
    return "the node does not serve logs: a muster node does when it is started with --client-ca "
           "FILE, the CA of the API server's kubelet client certificate";
  }
  return "";
}

}  // namespace

std::string name_of(const LogOrigin& origin) {
  if (origin.role.empty()) return origin.pod;
  return fmt::format("{} {}", origin.role, origin.index);
}

std::string reason_of(const Error& error, const LogOrigin& origin) {
  std::string reason = without_url(error.message);
  replace_all(reason, origin.pod, "POD");
  return reason;
}

std::string sentence_about(const std::string& reason, const Error& error,
                           const std::vector<std::string>& whose, bool on_a_cluster) {
  std::string text =
      fmt::format("error: the logs of {} cannot be read: {}", some_of(whose), printable(reason));
  if (const std::string help = remedy(error, on_a_cluster); !help.empty()) text += "\n  " + help;
  return text;
}

}  // namespace muster::cli
