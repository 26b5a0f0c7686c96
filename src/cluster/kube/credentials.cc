#include "cluster/kube/credentials.h"

#include "base/strings.h"

namespace muster::cluster::kube {
namespace {

constexpr Duration kReadAgainAfter = std::chrono::minutes(1);

bool is_one_word(std::string_view token) {
  for (const char c : token) {
    if (c <= ' ' || c > '~') return false;
  }
  return !token.empty();
}

void replace_all(std::string& text, const std::string& what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

const Secret& Credentials::token(Monotonic now) {
  if (token_file_.empty()) return token_;
  if (read_at_ && now - *read_at_ < kReadAgainAfter) return token_;
  read_at_ = now;
  const auto text = files_.read(token_file_);
  if (!text) return token_;
  const auto fresh = trim(*text);
  if (!is_one_word(fresh) || fresh == token_.reveal()) return token_;
  previous_ = std::move(token_);
  token_ = Secret(std::string(fresh));
  return token_;
}

std::string Credentials::redacted(std::string text) const {
  for (const Secret* secret : {&token_, &previous_}) {
    if (!secret->empty()) replace_all(text, secret->reveal(), "[token]");
  }
  return text;
}

}  // namespace muster::cluster::kube
