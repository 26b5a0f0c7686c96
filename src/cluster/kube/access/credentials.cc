#include "cluster/kube/access/credentials.h"

#include <utility>

#include "base/strings.h"

namespace muster::cluster::kube {
namespace {

constexpr Duration kReadAgainAfter = std::chrono::minutes(1);
// A plugin that gives what was refused already is asked again, but not by every request.
constexpr Duration kAskAgainAfter = std::chrono::minutes(1);

void replace_all(std::string& text, const std::string& what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

bool same(const net::Identity& a, const net::Identity& b) {
  return a.certificate_pem == b.certificate_pem && a.key_pem.reveal() == b.key_pem.reveal();
}

}  // namespace

// One run of the plugin, and those who wait for it.
struct Credentials::Asking {
  explicit Asking(rt::Loop& loop) : done(loop) {}
  rt::Event done;
  std::optional<Error> error;
};

Credentials::Credentials(rt::Loop& loop, const ClientConfig& config, const FileReader& files,
                         std::unique_ptr<ExecRunner> runner)
    : loop_(loop),
      files_(files),
      runner_(std::move(runner)),
      plugin_(config.exec),
      token_(config.token),
      identity_{.certificate_pem = config.client_certificate_pem, .key_pem = config.client_key_pem},
      token_file_(config.token_file),
      scope_(loop) {
  CHECK(!plugin_ || runner_ != nullptr);
}

Task<Result<void>> Credentials::refresh() {
  read_token_file();
  if (!plugin_ || answer_is_good()) co_return Result<void>{};
  if (!asking_) {
    asking_ = std::make_shared<Asking>(loop_);
    scope_.spawn(ask(asking_));
  }
  // The run is not ours: who gives up waiting takes nothing from the others.
  const auto asking = asking_;
  CO_TRY(co_await asking->done.wait());
  if (asking->error) co_return fail(*asking->error);
  co_return Result<void>{};
}

Task<void> Credentials::ask(std::shared_ptr<Asking> asking) {
  asked_at_ = loop_.monotonic();
  auto answer = co_await ask_plugin(loop_, *runner_, *plugin_);
  asking_.reset();
  if (answer) {
    take(std::move(*answer));
  } else {
    asking->error = answer.error();
  }
  asking->done.set();
}

void Credentials::take(ExecCredential credential) {
  answered_ = true;
  expires_ = credential.expires;
  if (credential.token.reveal() != token_.reveal()) use_token(std::move(credential.token));
  if (credential.identity.certificate_pem.empty() || same(credential.identity, identity_)) return;
  identity_ = std::move(credential.identity);
  ++version_;
  ++connection_version_;
}

bool Credentials::answer_is_good() const {
  return answered_ && (!expires_ || loop_.now() < *expires_);
}

bool Credentials::refused(std::uint64_t version) {
  if (version != version_) return true;
  read_at_.reset();
  read_token_file();
  if (version != version_) return true;
  const bool asked_before =
      refused_version_ == version && loop_.monotonic() - asked_at_ < kAskAgainAfter;
  if (!plugin_ || asked_before) return false;
  refused_version_ = version;
  answered_ = false;
  return true;
}

void Credentials::read_token_file() {
  if (token_file_.empty()) return;
  if (read_at_ && loop_.monotonic() - *read_at_ < kReadAgainAfter) return;
  read_at_ = loop_.monotonic();
  const auto text = files_.read(token_file_);
  if (!text) return;
  const auto fresh = trim(*text);
  if (fresh.empty() || !is_token(fresh) || fresh == token_.reveal()) return;
  use_token(Secret(std::string(fresh)));
}

void Credentials::use_token(Secret token) {
  previous_ = std::exchange(token_, std::move(token));
  ++version_;
}

std::string Credentials::redacted(std::string text) const {
  for (const Secret* secret : {&token_, &previous_}) {
    if (!secret->empty()) replace_all(text, secret->reveal(), "[token]");
  }
  return text;
}

}  // namespace muster::cluster::kube
