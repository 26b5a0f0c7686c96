#include "server/access/credentials.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/fd.h"
#include "json/read.h"
#include "json/value.h"
#include "json/write.h"
#include "net/tls/signing.h"

namespace muster::server {
namespace {

constexpr std::chrono::hours kAuthorityLife{24 * 365 * 10};
constexpr std::chrono::hours kServerLife{24 * 365};
// A plane may run for months: what ends within this is made anew at its start.
constexpr std::chrono::hours kTooSoon{24 * 120};
constexpr std::int64_t kLastSecond = 9'000'000'000;  // nanoseconds end in 2262
constexpr std::size_t kMaxFileBytes = std::size_t{64} << 10U;

// Empty when there is none.
Result<std::string> read_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid() && errno == ENOENT) return std::string();
  if (!file.valid()) return fail_errno("open " + path);
  std::string text(kMaxFileBytes, '\0');
  const auto size = ::read(file.get(), text.data(), text.size());
  if (size < 0) return fail_errno("read " + path);
  text.resize(static_cast<std::size_t>(size));
  return text;
}

enum class Over { Nothing, Anything };

// As a whole or not at all, and never readable for others. False: somebody else's is there.
Result<bool> write_file(const std::string& path, std::string_view text, Over over) {
  const std::string beside = fmt::format("{}.{}", path, ::getpid());
  ::unlink(beside.c_str());
  const Fd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return fail_errno("create " + beside);
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(file.get()) != 0) {
    return fail_errno("write " + beside);
  }
  if (over == Over::Anything) {
    if (::rename(beside.c_str(), path.c_str()) != 0) return fail_errno("rename " + beside);
    return true;
  }
  const int linked = ::link(beside.c_str(), path.c_str());
  const int error = errno;
  ::unlink(beside.c_str());
  if (linked != 0 && error != EEXIST) return fail_errno("create " + path, error);
  return linked == 0;
}

// The ends of its certificates and the names in them are beside them in the file.
Time end_of(const net::Identity& identity) {
  const auto infos = net::parse_certificates(identity.certificate_pem);
  return infos ? infos->front().not_after : Time{};
}

// The file's members; whatever is empty is to be made.
struct Kept {
  bool found = false;
  net::Identity authority;
  Time authority_ends{};
  net::Identity server;
  Time server_ends{};
  std::vector<std::string> names;  // of the server
  Secret token_key;
  Secret admin_token;
};

Result<Kept> read_kept(const std::string& path) {
  const std::string text = TRY(read_file(path));
  if (text.empty()) return Kept{};
  const auto read = json::read(text);
  if (!read || !read->is_object()) {
    return fail(ErrorCode::Parse,
                fmt::format("{} is damaged; without it a new one is made, and every "
                            "token given out so far is void",
                            path));
  }
  const json::Value& kept = *read;
  const auto identity = [](const json::Value& value) {
    return net::Identity{.certificate_pem = value["certificate"].as_string(),
                         .key_pem = Secret(value["key"].as_string())};
  };
  const auto end = [](const json::Value& value) {
    return Time(
        std::chrono::seconds(std::clamp<std::int64_t>(value["ends"].as_int(), 0, kLastSecond)));
  };
  std::vector<std::string> names;
  for (const json::Value& name : kept["names"].as_array()) names.push_back(name.as_string());
  return Kept{.found = true,
              .authority = identity(kept["authority"]),
              .authority_ends = end(kept["authority"]),
              .server = identity(kept["server"]),
              .server_ends = end(kept["server"]),
              .names = std::move(names),
              .token_key = Secret(kept["tokenKey"].as_string()),
              .admin_token = Secret(kept["adminToken"].as_string())};
}

Result<bool> write_kept(const std::string& path, const Kept& kept) {
  const auto identity = [](const net::Identity& value, Time end) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(end.time_since_epoch());
    return json::Object{{"certificate", value.certificate_pem},
                        {"key", value.key_pem.reveal()},
                        {"ends", std::int64_t{seconds.count()}}};
  };
  json::Array names;
  for (const std::string& name : kept.names) names.emplace_back(name);
  return write_file(
      path,
      json::write(json::Object{{"authority", identity(kept.authority, kept.authority_ends)},
                               {"server", identity(kept.server, kept.server_ends)},
                               {"names", std::move(names)},
                               {"tokenKey", kept.token_key.reveal()},
                               {"adminToken", kept.admin_token.reveal()}}),
      kept.found ? Over::Anything : Over::Nothing);
}

Secret random_token(Rng& rng) {
  std::string text;
  for (int word = 0; word < 4; ++word) text += fmt::format("{:016x}", rng.next());
  return Secret(std::move(text));
}

}  // namespace

Result<Credentials> load_credentials(const CredentialOptions& options, Rng& rng, Time now) {
  Kept kept = TRY(read_kept(options.path));
  bool changed = false;
  if (kept.authority_ends <= now + kTooSoon) {
    kept.authority = TRY(net::make_self_signed({.common_name = "muster-ca",
                                                .use = net::CertificateUse::Authority,
                                                .valid_for = kAuthorityLife},
                                               now));
    kept.authority_ends = end_of(kept.authority);
    kept.server_ends = Time{};
  }
  std::vector<std::string> names = options.dns_names;
  names.insert(names.end(), options.ip_addresses.begin(), options.ip_addresses.end());
  if (kept.server_ends <= now + kTooSoon || kept.names != names) {
    kept.server = TRY(net::make_signed({.common_name = "kubernetes",
                                        .dns_names = options.dns_names,
                                        .ip_addresses = options.ip_addresses,
                                        .valid_for = kServerLife},
                                       kept.authority, now));
    kept.server_ends = end_of(kept.server);
    kept.names = std::move(names);
    changed = true;
  }
  if (kept.token_key.empty()) {
    kept.token_key = TRY(net::SigningKey::generate()).pem();
    changed = true;
  }
  if (kept.admin_token.empty()) {
    kept.admin_token = random_token(rng);
    changed = true;
  }
  // Two that begin in the same new home must not each have their own.
  if (changed && !TRY(write_kept(options.path, kept))) return load_credentials(options, rng, now);
  return Credentials{.ca_pem = std::move(kept.authority.certificate_pem),
                     .server = std::move(kept.server),
                     .token_key = std::move(kept.token_key),
                     .admin_token = std::move(kept.admin_token)};
}

}  // namespace muster::server
