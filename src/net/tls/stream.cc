#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "net/socket_internal.h"
#include "net/tls/internal.h"
#include "net/tls/peer_certificate.h"

namespace muster::net {

namespace {

struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
struct MethodDeleter {
  void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
};

// What the BIO knows of the socket. OpenSSL's own socket BIO uses write(), which raises SIGPIPE.
struct Wire {
  int fd = -1;
  bool ended = false;
};

int wire_read(BIO* bio, char* into, int size) {
  auto& wire = *static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const long count = receive_some(wire.fd, into, static_cast<std::size_t>(size));
  if (count < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
  if (count == 0) wire.ended = true;
  return static_cast<int>(count);
}

int wire_write(BIO* bio, const char* bytes, int size) {
  const auto& wire = *static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const long count = send_some(wire.fd, bytes, static_cast<std::size_t>(size));
  if (count < 0 && errno == EAGAIN) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

long wire_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return static_cast<Wire*>(BIO_get_data(bio))->ended ? 1 : 0;
  return 0;
}

std::unique_ptr<BIO_METHOD, MethodDeleter> wire_method() {
  std::unique_ptr<BIO_METHOD, MethodDeleter> method(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "muster"));
  BIO_meth_set_read(method.get(), wire_read);
  BIO_meth_set_write(method.get(), wire_write);
  BIO_meth_set_ctrl(method.get(), wire_control);
  return method;
}

// All calls come from the loop's thread, so reader and writer interleave only where they wait. Each
// waits for what OpenSSL asked for; without renegotiation a read never leaves half a record to be
// written.
class TlsStream final : public Stream {
 public:
  TlsStream(rt::RealLoop& loop, Fd socket, TlsContext context)
      : context_(std::move(context)),
        method_(wire_method()),
        wire_{.fd = socket.get()},
        socket_(loop, socket.release()),
        ssl_(SSL_new(context_.impl()->context.get())) {
    CHECK(ssl_ != nullptr);
    BIO* bio = BIO_new(method_.get());
    BIO_set_data(bio, &wire_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
  }
  ~TlsStream() override { TlsStream::close(); }

  // Whose certificate is expected; an IP address is compared with the IP names of the certificate.
  Result<void> expect(const std::string& host) {
    name_ = context_.impl()->server_name.empty() ? host : context_.impl()->server_name;
    auto* parameters = SSL_get0_param(ssl_.get());
    if (X509_VERIFY_PARAM_set1_ip_asc(parameters, name_.c_str()) == 1) return {};
    ERR_clear_error();
    SSL_set_hostflags(ssl_.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (SSL_set1_host(ssl_.get(), name_.c_str()) != 1 ||
        SSL_set_tlsext_host_name(ssl_.get(), name_.c_str()) != 1) {
      return fail(ErrorCode::Invalid, fmt::format("\"{}\" is not a host name", name_));
    }
    return {};
  }

  void accept_state() {
    SSL_set_accept_state(ssl_.get());
    has_spoken_ = false;
  }

  Task<Result<void>> handshake() {
    SSL_set_connect_state(ssl_.get());
    while (true) {
      if (closed_) co_return fail(ErrorCode::Unavailable, "the connection was closed");
      ERR_clear_error();
      const int result = SSL_do_handshake(ssl_.get());
      if (result == 1) co_return proven();
      CO_TRY(co_await wait_for(result, "TLS handshake"));
    }
  }

  Task<Result<std::size_t>> read(std::span<char> into) override {
    // A client that never says anything shall cost no more than its socket: OpenSSL takes some
    // 40 KiB as soon as it is asked.
    if (!std::exchange(has_spoken_, true)) CO_TRY(co_await ready(socket_.readable()));
    while (true) {
      if (closed_) co_return fail(ErrorCode::Unavailable, "the connection was closed");
      ERR_clear_error();
      std::size_t count = 0;
      const int result = SSL_read_ex(ssl_.get(), into.data(), into.size(), &count);
      if (result == 1) co_return count;
      if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_ZERO_RETURN) co_return std::size_t{0};
      CO_TRY(co_await wait_for(result, "reading"));
    }
  }

  Task<Result<void>> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      if (closed_) co_return fail(ErrorCode::Unavailable, "the connection was closed");
      ERR_clear_error();
      std::size_t count = 0;
      const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count);
      if (result == 1) {
        bytes.remove_prefix(count);
        continue;
      }
      CO_TRY(co_await wait_for(result, "writing"));
    }
    co_return Result<void>{};
  }

  Task<Result<void>> shutdown() override {
    if (!closed_) say_goodbye();
    co_return Result<void>{};
  }

  void close() override {
    if (std::exchange(closed_, true)) return;
    say_goodbye();
    socket_.close();
  }

  bool quiet() override {
    if (closed_ || broken_) return false;
    ERR_clear_error();
    char byte = 0;
    const int result = SSL_peek(ssl_.get(), &byte, 1);
    return result <= 0 && SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ;
  }

  std::string protocol() const override {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return size == 0 ? std::string() : std::string(reinterpret_cast<const char*>(name), size);
  }

  Peer peer() const override {
    X509* certificate = SSL_get0_peer_certificate(ssl_.get());
    const bool verified = SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE &&
                          SSL_get_verify_result(ssl_.get()) == X509_V_OK;
    if (certificate == nullptr || !verified) return {.client = client()};
    auto info = describe_certificate(certificate);
    return {.client = client(),
            .common_name = std::move(info.common_name),
            .organizations = std::move(info.organizations)};
  }
  std::string client() const override { return closed_ ? "" : client_of(wire_.fd); }

  std::optional<CertificateInfo> shown_certificate() const {
    X509* certificate = SSL_get0_peer_certificate(ssl_.get());
    if (certificate == nullptr) return std::nullopt;
    return describe_certificate(certificate);
  }

 private:
  // With a shared key nothing else may have convinced us.
  Result<void> proven() const {
    if (context_.impl()->shared_key == nullptr || SSL_session_reused(ssl_.get()) == 1) return {};
    return fail(ErrorCode::Unauthorized, "the peer did not use the shared key");
  }

  // After a failed call: waits until it can be repeated, or says why it cannot.
  Task<Result<void>> wait_for(int result, std::string_view doing) {
    const int system_error = errno;
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        return ready(socket_.readable());
      case SSL_ERROR_WANT_WRITE:
        return ready(socket_.writable());
      default:
        break;
    }
    broken_ = true;
    return failed(explain(doing, system_error));
  }
  static Task<Result<void>> ready(Task<Result<void>> wait) {
    auto waited = co_await std::move(wait);
    if (!waited) co_return fail(as_stream_error(waited.error()));
    co_return waited;
  }
  static Task<Result<void>> failed(Error error) { co_return fail(std::move(error)); }

  Error explain(std::string_view doing, int system_error) {
    const long verdict = SSL_get_verify_result(ssl_.get());
    if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED &&
        verdict != X509_V_OK) {
      ERR_clear_error();
      const std::string whose = name_.empty() ? "the peer" : "\"" + name_ + "\"";
      return {.code = ErrorCode::Unauthorized,
              .message = fmt::format("the certificate of {} is refused: {}", whose,
                                     X509_verify_cert_error_string(verdict))};
    }
    if (context_.impl()->shared_key != nullptr &&
        ERR_GET_REASON(ERR_peek_error()) > SSL_AD_REASON_OFFSET) {
      return {.code = ErrorCode::Unauthorized,
              .message = fmt::format("the peer refuses the shared key ({})", take_tls_error())};
    }
    if (wire_.ended) {
      ERR_clear_error();
      return {.code = ErrorCode::Unavailable,
              .message = fmt::format("{}: the peer closed the connection", doing)};
    }
    const auto queued = ERR_peek_error() != 0;
    return {.code = ErrorCode::Unavailable,
            .message = fmt::format("{}: {}", doing,
                                   queued ? take_tls_error() : std::strerror(system_error))};
  }

  // Best effort: close_notify goes out if the socket takes it now.
  void say_goodbye() {
    if (broken_ || SSL_is_init_finished(ssl_.get()) != 1 ||
        (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) != 0) {
      return;
    }
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
  }

  TlsContext context_;
  std::unique_ptr<BIO_METHOD, MethodDeleter> method_;
  Wire wire_;
  rt::Descriptor socket_;
  std::unique_ptr<SSL, SslDeleter> ssl_;
  std::string name_;
  bool closed_ = false;
  bool broken_ = false;
  bool has_spoken_ = true;  // the peer, or it is not waited for
};

}  // namespace

std::optional<CertificateInfo> certificate_of(const Stream& stream) {
  const auto* tls = dynamic_cast<const TlsStream*>(&stream);
  return tls == nullptr ? std::nullopt : tls->shown_certificate();
}

Task<Result<std::unique_ptr<Stream>>> tls_connect(rt::RealLoop& loop, Fd socket, TlsContext context,
                                                  std::string host) {
  auto stream = std::make_unique<TlsStream>(loop, std::move(socket), std::move(context));
  CO_TRY(stream->expect(host));
  CO_TRY(co_await stream->handshake());
  co_return std::unique_ptr<Stream>(std::move(stream));
}

Result<std::unique_ptr<Stream>> tls_accept(rt::RealLoop& loop, Fd socket,
                                           const TlsContext& context) {
  auto stream = std::make_unique<TlsStream>(loop, std::move(socket), context);
  stream->accept_state();
  return std::unique_ptr<Stream>(std::move(stream));
}

}  // namespace muster::net
