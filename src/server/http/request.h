#pragma once

#include <optional>
#include <string>

#include "api/status.h"
#include "base/error.h"
#include "base/random.h"
#include "json/value.h"
#include "net/http.h"
#include "server/http/printer.h"
#include "server/http/request_path.h"
#include "server/kinds.h"
#include "server/types.h"

// One request to the API server, read. No I/O.
namespace muster::server {

// How the client wants objects shown.
enum class Form { Object, Table, Metadata };

struct ApiRequest {
  const net::HttpRequest* http = nullptr;
  RequestPath path;
  const Kind* kind = nullptr;
  ObjectKey key;  // the name is empty for a collection
  Mode mode = Mode::Store;
  Form form = Form::Object;
  IncludeObject include = IncludeObject::Metadata;

  [[nodiscard]] const Query& query() const { return path.query; }
  [[nodiscard]] bool collection() const { return path.name.empty(); }
  [[nodiscard]] bool watching() const;
  [[nodiscard]] Selection selection() const;
};

// Nothing when the path names no resource of ours (the caller says 404).
Result<std::optional<ApiRequest>> read_request(const Kinds& kinds, const net::HttpRequest& http,
                                               RequestPath path);

// dryRun=All; BadRequest for another value.
Result<Mode> read_dry_run(std::string_view text);
// The body as JSON; UnsupportedMediaType, BadRequest otherwise.
Result<json::Value> read_body(const ApiRequest& request);
// The body of a create or an update: its name and namespace agree with the URL's.
Result<json::Value> read_object(const ApiRequest& request);

}  // namespace muster::server
