#include "engine/action.h"

namespace muster::engine {

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::CleanUp:
      return "CleanUp";
    case Reason::ScaleDown:
      return "ScaleDown";
    case Reason::ReplaceFailed:
      return "ReplaceFailed";
    case Reason::Superseded:
      return "Superseded";
    case Reason::Suspended:
      return "Suspended";
    case Reason::Outdated:
      return "Outdated";
    case Reason::Expired:
      return "Expired";
  }
  return "Unknown";
}

}  // namespace muster::engine
