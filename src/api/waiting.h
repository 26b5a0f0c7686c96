#pragma once

#include <string_view>

// What a pod says of why it waits, beside Kubernetes' own words for it.
namespace muster::api {

// A condition of pods that only another manifest, or another machine, would let start: True with
// one of the reasons below. Waiting does not help.
inline constexpr std::string_view kCannotStart = "muster.dev/CannotStart";

namespace cannot_start {
inline constexpr std::string_view kNeverFits = "NeverFits";  // not on an empty machine either
inline constexpr std::string_view kInvalidContainer = "InvalidContainer";
inline constexpr std::string_view kRefused = "Refused";  // by its node, for good: the pod is Failed
}  // namespace cannot_start

// Reasons of the condition PodScheduled while it is False.
namespace not_placed {
inline constexpr std::string_view kUnschedulable = "Unschedulable";    // no room; kube-scheduler's
inline constexpr std::string_view kGangIncomplete = "GangIncomplete";  // its peers are being made
inline constexpr std::string_view kQueued = "Queued";                  // others come first
inline constexpr std::string_view kVolumeUnbound = "VolumeUnbound";    // a claim of it
}  // namespace not_placed

}  // namespace muster::api
