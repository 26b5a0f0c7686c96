// The small languages of the API: any text is refused or read, and what was read is written as
// something that reads the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/exec.h"
#include "api/object.h"
#include "api/quantity.h"
#include "api/selector.h"
#include "base/check.h"
#include "base/strings.h"
#include "base/time.h"
#include "json/read.h"
#include "plan/index_set.h"
#include "plan/ledger.h"

using namespace muster;

namespace {

const json::Value& object() {
  static const json::Value made = *json::read(
      R"({"metadata":{"name":"a","labels":{"a":"b","n":"7"}},"spec":{"nodeName":"x"}})");
  return made;
}

void numbers(std::string_view text) {
  if (const auto quantity = api::Quantity::parse(text)) {
    const auto again = api::Quantity::parse(quantity->text());
    CHECK(!again || *again == *quantity);
    (void)quantity->milli();
    (void)quantity->whole();
  }
  (void)api::Quantity::from(json::Value(text));
  if (const auto number = parse_int(text)) CHECK(parse_int(std::to_string(*number)) == number);
  if (const auto time = parse_time(text)) (void)format_time(*time);
  const auto indices = plan::IndexSet::parse(text);
  if (indices.size() < 10'000) CHECK(plan::IndexSet::parse(indices.text()) == indices);
}

void selectors(std::string_view text) {
  if (const auto labels = api::LabelSelector::parse(text)) (void)labels->matches(object());
  if (const auto fields = api::FieldSelector::parse(text)) (void)fields->matches(object());
  (void)api::split_api_version(text);
}

void encodings(std::string_view text) {
  CHECK(percent_decode(percent_encode(text)) == text);
  CHECK(base64_decode(base64_encode(text)) == text);
  (void)percent_decode(text);
  (void)base64_decode(text);
  const std::string shown = printable(text);
  CHECK(!is_utf8(text) || is_utf8(shown));
  CHECK(printable(shown) == shown);
}

void exec(std::string_view text) {
  for (const auto names : {api::ExecNames::Pod, api::ExecNames::Node}) {
    (void)api::parse_exec_query(text, names);
  }
  if (const auto size = api::parse_terminal_size(text)) {
    CHECK(api::parse_terminal_size(api::terminal_size(size->first, size->second)) == size);
  }
  const auto document = json::read(text);
  if (!document) return;
  (void)api::exit_code_of_status(*document);
  const json::Value ledger = plan::Ledger::from_json(*document).to_json();
  CHECK(plan::Ledger::from_json(ledger).to_json() == ledger);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  numbers(text);
  selectors(text);
  encodings(text);
  exec(text);
  return 0;
}
