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

// One request to the API server, read; and answers, written. No I/O.
namespace muster::server {

// How the client wants objects shown.
enum class Form { Object, Table, Metadata };

struct Call {
  const net::HttpRequest* request = nullptr;
  Target target;
  const Kind* kind = nullptr;
  ObjectKey key;  // the name is empty for a collection
  Mode mode = Mode::Store;
  Form form = Form::Object;
  IncludeObject include = IncludeObject::Metadata;

  [[nodiscard]] const Query& query() const { return target.query; }
  [[nodiscard]] bool collection() const { return target.name.empty(); }
  [[nodiscard]] bool watching() const;
  [[nodiscard]] Selection selection() const;
};

// Nothing when the path names no resource of ours (the caller says 404).
Result<std::optional<Call>> read_call(const Kinds& kinds, const net::HttpRequest& request,
                                      Target target);

// The body as JSON; UnsupportedMediaType, BadRequest otherwise.
Result<json::Value> read_body(const Call& call);
// The body of a create or an update: its name and namespace agree with the URL's.
Result<json::Value> read_object(const Call& call);
Result<DeleteOptions> read_delete_options(Call& call);
Result<ListOptions> read_list_options(const Call& call);
Result<WatchOptions> read_watch_options(const Call& call);
Result<LogOptions> read_log_options(const Call& call);

net::HttpResponse json_response(int status, const json::Value& body);
net::HttpResponse text_response(int status, std::string body);
net::HttpResponse error_response(const Error& error, const Call* call);
json::Value error_status(const Error& error, const Call* call);

json::Value show(const Call& call, const json::Value& object, Time now);
std::string show_list(const Call& call, const ListPage& page, Time now);
// One line of a watch; column definitions only with the first.
std::string show_event(const Call& call, const WatchEvent& event, bool first, Time now);

}  // namespace muster::server
