#pragma once

#include <string>
#include <vector>

#include "json/value.h"

// Which files of /dev belong to what a container asked for. Pure, but for list_device_files().
namespace muster::node {

// Of a container of a pod, out of the files that the machine has. `gpus` are the numbers of the
// NVIDIA GPUs that were assigned to it. What is handed out by nobody, one by one, is there as a
// whole for those who ask for any of it: amd.com/gpu, rdma/…, huawei.com/Ascend….
std::vector<std::string> device_files(const json::Value& container, const std::vector<int>& gpus,
                                      const std::vector<std::string>& files);

// Whether it asked for anything that has files.
bool wants_device_files(const json::Value& container);

// What there is in /dev, and in its directories of such devices.
std::vector<std::string> list_device_files();

}  // namespace muster::node
