#include "cluster/kube/access/credentials.h"

#include <utility>

#include "base/strings.h"

namespace muster::cluster::kube {
namespace {

constexpr Duration kReadAgainAfter = std::chrono::seconds(10);
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
      ca_pem_(config.ca_pem),
      watched_{.token = config.token_file,
               .certificate = config.client_certificate_file,
               .key = config.client_key_file,
               .ca = config.ca_file},
      scope_(loop) {
  CHECK(!plugin_ || runner_ != nullptr);
}

Task<Result<void>> Credentials::refresh() {
  look_at_files_in_time();
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
  if (!credential.identity.certificate_pem.empty()) use_identity(std::move(credential.identity));
}

bool Credentials::answer_is_good() const {
  return answered_ && (!expires_ || loop_.now() < *expires_);
}

bool Credentials::refused(std::uint64_t version) {
  if (version != version_) return true;
  look_at_files();
  if (version != version_) return true;
  const bool asked_before =
      refused_version_ == version && loop_.monotonic() - asked_at_ < kAskAgainAfter;
  if (!plugin_ || asked_before) return false;
  refused_version_ = version;
  answered_ = false;
  return true;
}

void Credentials::look_at_files_in_time() {
  if (read_at_ && loop_.monotonic() - *read_at_ < kReadAgainAfter) return;
  look_at_files();
}

void Credentials::look_at_files() {
  read_at_ = loop_.monotonic();
  read_token();
  read_identity();
  read_ca();
}

void Credentials::read_token() {
  if (watched_.token.empty()) return;
  const auto text = files_.read(watched_.token);
  if (!text) return;
  const auto fresh = trim(*text);
  if (fresh.empty() || !is_token(fresh) || fresh == token_.reveal()) return;
  use_token(Secret(std::string(fresh)));
}

// Two files are not written in one moment: a certificate is taken with the key that belongs to it.
void Credentials::read_identity() {
  if (watched_.certificate.empty() && watched_.key.empty()) return;
  net::Identity fresh = identity_;
  if (!watched_.certificate.empty()) {
    auto certificate = files_.read(watched_.certificate);
    if (!certificate) return;
    fresh.certificate_pem = std::move(*certificate);
  }
  if (!watched_.key.empty()) {
    auto key = files_.read(watched_.key);
    if (!key) return;
    fresh.key_pem = Secret(std::move(*key));
  }
  if (same(fresh, identity_) || !net::TlsContext::client({.identity = fresh})) return;
  use_identity(std::move(fresh));
}

void Credentials::read_ca() {
  if (watched_.ca.empty()) return;
  auto fresh = files_.read(watched_.ca);
  if (!fresh || *fresh == ca_pem_ || !net::parse_certificates(*fresh)) return;
  ca_pem_ = std::move(*fresh);
  ++connection_version_;
}

void Credentials::use_identity(net::Identity identity) {
  if (same(identity, identity_)) return;
  identity_ = std::move(identity);
  // Files that the plugin's word replaced are of no interest any more.
  if (plugin_) watched_.certificate.clear();
  if (plugin_) watched_.key.clear();
  ++version_;
  ++connection_version_;
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
