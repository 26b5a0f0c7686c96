#include <array>

#include "node/pod/admission/rules.h"

namespace muster::node::admission {

namespace {

bool is_no_medium(const json::Value& value, const Site&) {
  return !value.as_string().empty() && value.as_string() != "Memory";
}

constexpr std::string_view kTypes =
    "this node has no volumes of that type; use hostPath, emptyDir, persistentVolumeClaim, "
    "configMap, secret, projected or downwardAPI";

constexpr auto kVolumes = std::to_array<FieldRule>({
    {.path = "volumes[].name"},
    {.path = "volumes[].emptyDir.medium",
     .refuses = is_no_medium,
     .remedy = "it is Memory, or left out for the disk"},
    {.path = "volumes[].emptyDir.sizeLimit"},
    {.path = "volumes[].hostPath.{path,type}", .note = "Nothing below Muster's own directory."},
    {.path = "volumes[].persistentVolumeClaim.{claimName,readOnly}",
     .note = "See [volumes.md](volumes.md)."},
    {.path = "volumes[].configMap.{name,optional,defaultMode}"},
    {.path = "volumes[].secret.{secretName,optional,defaultMode}"},
    {.path = "volumes[].{configMap,secret}.items[].{key,path,mode}"},
    {.path = "volumes[].{downwardAPI,projected}.defaultMode"},
    {.path = "volumes[].downwardAPI.items[].{path,mode}"},
    {.path = "volumes[].downwardAPI.items[].fieldRef.{apiVersion,fieldPath}"},
    {.path = "volumes[].downwardAPI.items[].resourceFieldRef.{containerName,resource,divisor}"},
    {.path = "volumes[].projected.sources[].{configMap,secret}.{name,optional}"},
    {.path = "volumes[].projected.sources[].{configMap,secret}.items[].{key,path,mode}"},
    {.path = "volumes[].projected.sources[].downwardAPI.items[].{path,mode}"},
    {.path = "volumes[].projected.sources[].downwardAPI.items[].fieldRef.{apiVersion,fieldPath}"},
    {.path = "volumes[].projected.sources[].downwardAPI.items[].resourceFieldRef.{containerName,"
             "resource,divisor}"},
    {.path = "volumes[].projected.sources[].serviceAccountToken.{path,audience,"
             "expirationSeconds}"},
    {.path = "volumes[].projected.sources[].{clusterTrustBundle,podCertificate}.**",
     .fate = Fate::Refused,
     .note = "certificates are not handed out here; use a ConfigMap or a Secret"},
    {.path = "volumes[].{csi,ephemeral,fc,flexVolume,image,iscsi,nfs}.**",
     .fate = Fate::Refused,
     .note = kTypes},
    {.path = "volumes[].{awsElasticBlockStore,azureDisk,azureFile,cephfs,cinder,flocker,"
             "gcePersistentDisk,gitRepo,glusterfs,photonPersistentDisk,portworxVolume,quobyte,rbd,"
             "scaleIO,storageos,vsphereVolume}.**",
     .fate = Fate::Refused,
     .note = kTypes},
});

}  // namespace

std::span<const FieldRule> volume_rules() {
  return kVolumes;
}

}  // namespace muster::node::admission
