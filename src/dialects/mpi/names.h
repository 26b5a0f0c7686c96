#pragma once

#include <string>
#include <string_view>

#include "dialects/mpi/setup.h"

// Names that the family's files agree on.
namespace muster::dialects::mpi {

inline constexpr std::string_view kByAgent = "agent";
inline constexpr std::string_view kBySshd = "sshd";

inline constexpr std::string_view kAgentVolume = "muster-agent";  // and the init container
inline constexpr std::string_view kAgentShare = "/muster/share";  // where it is brought to
inline constexpr std::string_view kAgentFolder = "/muster/bin";
inline constexpr std::string_view kKeyVolume = "muster-key";
inline constexpr std::string_view kKeyFolder = "/muster/key";
inline constexpr std::string_view kSshVolume = "muster-ssh";
inline constexpr std::string_view kIdentityFile = "id_ed25519";
inline constexpr std::string_view kSshPortName = "ssh";
inline constexpr int kSshPort = 22;

std::string key_name(const Setup& setup);

}  // namespace muster::dialects::mpi
