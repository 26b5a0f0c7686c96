#pragma once

#include <string>

#include "base/error.h"
#include "base/time.h"
#include "json/value.h"
#include "net/http.h"
#include "server/http/request.h"
#include "server/types.h"

// Answers of the API server, written in the form that the request asks for. No I/O.
namespace muster::server {

net::HttpResponse json_response(int status, const json::Value& body);
net::HttpResponse text_response(int status, std::string body);
net::HttpResponse error_response(const Error& error, const ApiRequest* request);
json::Value error_status(const Error& error, const ApiRequest* request);

// An object, shown.
net::HttpResponse object_response(int status, const ApiRequest& request, const json::Value& object,
                                  Time now);
std::string show_list(const ApiRequest& request, const ListPage& page, Time now);
// One line of a watch; column definitions only with the first.
std::string show_event(const ApiRequest& request, const WatchEvent& event, bool first, Time now);

}  // namespace muster::server
