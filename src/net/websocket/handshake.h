#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "net/http.h"

// How an HTTP/1.1 connection becomes a WebSocket (RFC 6455 §4), as values.
namespace muster::net {

// Whether the request asks for any change of protocol, and for this one.
bool asks_for_upgrade(const HttpRequest& request);
bool asks_for_web_socket(const HttpRequest& request);

// The first of ours that the client offers too; nothing when it offers none of them.
std::optional<std::string> choose_subprotocol(const HttpRequest& request,
                                              const std::vector<std::string>& ours);

// The headers of the 101 that accepts it. BadRequest when the request is not a proper one.
Result<Headers> acceptance_of(const HttpRequest& request, const std::string& subprotocol);

// A client's side: puts the headers on a request and gives the key that the answer must prove.
std::string offer_web_socket(HttpRequest& request, const std::vector<std::string>& subprotocols,
                             Rng& rng);
// The subprotocol that the server chose; Parse for an answer that is none to ours.
Result<std::string> check_web_socket_answer(int status, const Headers& headers,
                                            const std::string& key,
                                            const std::vector<std::string>& offered);

}  // namespace muster::net
