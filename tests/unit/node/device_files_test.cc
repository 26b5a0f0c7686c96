#include <gtest/gtest.h>

#include <algorithm>

#include "json/read.h"
#include "node/agent/device_files.h"

namespace muster::node {
namespace {

using Files = std::vector<std::string>;

// Of a machine that has everything.
const Files kFiles = {"/dev/davinci0",
                      "/dev/davinci1",
                      "/dev/davinci_manager",
                      "/dev/devmm_svm",
                      "/dev/dri/card0",
                      "/dev/dri/renderD128",
                      "/dev/fuse",
                      "/dev/hisi_hdc",
                      "/dev/infiniband/rdma_cm",
                      "/dev/infiniband/uverbs0",
                      "/dev/kfd",
                      "/dev/kmsg",
                      "/dev/mem",
                      "/dev/null",
                      "/dev/nvidia-caps/nvidia-cap1",
                      "/dev/nvidia-modeset",
                      "/dev/nvidia-uvm",
                      "/dev/nvidia-uvm-tools",
                      "/dev/nvidia0",
                      "/dev/nvidia1",
                      "/dev/nvidia10",
                      "/dev/nvidiactl"};

Files files_for(const std::string& limits, const std::vector<int>& gpus = {}) {
  const auto container = json::read("{\"resources\":{\"limits\":" + limits + "}}");
  EXPECT_TRUE(container);
  return device_files(*container, gpus, kFiles);
}

TEST(DeviceFiles, WhoAsksForNothingHasNone) {
  EXPECT_EQ(files_for("{}"), Files{});
  EXPECT_EQ(files_for(R"({"cpu":"2","memory":"1Gi","nvidia.com/gpu":"0"})"), Files{});
}

TEST(DeviceFiles, AGpuIsItsOwnFileAndWhatAllOfThemShare) {
  EXPECT_EQ(files_for(R"({"nvidia.com/gpu":1})", {1}),
            (Files{"/dev/nvidia-caps/nvidia-cap1", "/dev/nvidia-modeset", "/dev/nvidia-uvm",
                   "/dev/nvidia-uvm-tools", "/dev/nvidia1", "/dev/nvidiactl"}));
}

TEST(DeviceFiles, OthersAreThereAsAWhole) {
  EXPECT_EQ(files_for(R"({"amd.com/gpu":"1"})"),
            (Files{"/dev/dri/card0", "/dev/dri/renderD128", "/dev/kfd"}));
  EXPECT_EQ(files_for(R"({"rdma/hca_shared_devices_a":"1"})"),
            (Files{"/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0"}));
  EXPECT_EQ(files_for(R"({"huawei.com/Ascend910":"1"})"),
            (Files{"/dev/davinci0", "/dev/davinci1", "/dev/davinci_manager", "/dev/devmm_svm",
                   "/dev/hisi_hdc"}));
}

TEST(DeviceFiles, RequestsAloneCount) {
  const auto container = json::read(R"({"resources":{"requests":{"rdma/a":"1"}}})");
  EXPECT_TRUE(wants_device_files(*container));
  EXPECT_EQ(device_files(*container, {}, kFiles).size(), 2U);
}

TEST(DeviceFiles, TheMachineHasTheUsualOnes) {
  const auto files = list_device_files();
  EXPECT_NE(std::ranges::find(files, "/dev/null"), files.end());
}

}  // namespace
}  // namespace muster::node
