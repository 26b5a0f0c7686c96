#include <fmt/format.h>

#include "node/pod/admission/admission.h"

// The rules as a page for people.
namespace muster::node::admission {

namespace {

constexpr std::string_view kHead =
    R"(# What becomes of every field of a pod

<!-- Generated from src/node/pod/admission by ./dev gen; edit that. -->

The spec of a pod, field by field, on the embedded cluster and on a `muster node`. **Obeyed** is as in Kubernetes. **Refused**: the pod
ends before anything of it is made, `status.phase: Failed`; `status.reason` is the kubelet's where it has one (`SysctlForbidden`, `AppArmor`,
`PodOSNotSupported`), otherwise `UnsupportedField`, and `status.message` and a Warning event name the field, its value and what would be
right. Such a pod is not tried again: its job fails with that sentence. **No meaning**: it changes nothing where pods are processes of one
machine. A refused field that says nothing (`hostPID: false`, an empty list) is fine. A pod that runs already stays as it is when Muster
learns to obey or refuse more.

`containers[]` are `initContainers[]` too, where those have no row of their own; `{a,b}` is each of these, `.**` everything below.
)";

std::string_view word(const FieldRule& rule) {
  switch (rule.fate) {
    case Fate::Obeyed:
      return "obeyed";
    case Fate::Refused:
      return "refused";
    case Fate::WithoutMeaning:
      return "no meaning";
  }
  return "";
}

// Notes of refused fields are the end of a message.
std::string sentence(std::string_view text) {
  std::string out(text);
  if (out.empty()) return out;
  if (out.front() >= 'a' && out.front() <= 'z' && !out.starts_with("nvidia") &&
      !out.starts_with("cpu"))
    out.front() = static_cast<char>(out.front() - 'a' + 'A');
  if (out.back() != '.') out += '.';
  return out;
}

std::string remark(const FieldRule& rule) {
  auto out = sentence(rule.note);
  if (!rule.remedy.empty()) {
    if (!out.empty()) out += ' ';
    out += fmt::format("Other values are refused: {}.", rule.remedy);
  }
  if (rule.reason != kUnsupportedField) out += fmt::format(" Reason `{}`.", rule.reason);
  return out;
}

}  // namespace

std::string document() {
  std::string out(kHead);
  for (const auto& group : all_rules()) {
    out += fmt::format("\n## {}\n\n| field | here | |\n|---|---|---|\n", group.title);
    for (const auto& rule : group.rules) {
      out += fmt::format("| `{}` | {} | {} |\n", rule.path, word(rule), remark(rule));
    }
  }
  return out;
}

}  // namespace muster::node::admission
