#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

// /dev of a container.
namespace muster::node::shim {

// A device file as the host has it.
struct Device {
  std::string path;
  mode_t mode = 0;
  dev_t number = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  Fd file;  // the host's own, where we may not make another
};

// What every container has, and the files that were assigned to this one. An error: one of those is
// none.
Result<std::vector<Device>> find_devices(const std::vector<std::string>& assigned);
// All that the machine has.
std::vector<Device> find_all_devices();

// Without root nobody makes device files: the host's are taken along before the root changes.
Result<void> take_devices(std::vector<Device>& devices);

// Makes /dev of the calling process's root with these, terminals and the usual links.
Result<void> make_dev(const std::vector<Device>& devices);

}  // namespace muster::node::shim
