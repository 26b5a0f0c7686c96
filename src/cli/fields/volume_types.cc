#include "cli/fields/kubernetes_types.h"

// Volumes, and what they are made of.
namespace muster::cli {

const std::string_view kVolumeTypes = R"(
Volume Something that containers can mount; one source beside its name.
  awsElasticBlockStore any A disk of that provider.
  azureDisk any A disk of that provider.
  azureFile any A share of that provider.
  cephfs any A CephFS.
  cinder any A disk of OpenStack.
  configMap ConfigMapVolumeSource The keys of a ConfigMap as files.
  csi any A volume of a CSI driver.
  downwardAPI DownwardAPIVolumeSource Fields of the pod as files.
  emptyDir EmptyDirVolumeSource An empty directory that goes with the pod.
  ephemeral EphemeralVolumeSource A claim that is made for the pod and goes with it.
  fc any A Fibre Channel disk.
  flexVolume any A volume of a driver program.
  flocker any A volume of Flocker.
  gcePersistentDisk any A disk of that provider.
  gitRepo any A repository, as it was; no longer served by anybody.
  glusterfs any A GlusterFS.
  hostPath HostPathVolumeSource A directory or file of the node.
  image ImageVolumeSource The files of an image.
  iscsi any An iSCSI disk.
  name string Its name, unique in the pod.
  nfs NFSVolumeSource A directory of an NFS server.
  persistentVolumeClaim PersistentVolumeClaimVolumeSource The volume of a claim.
  photonPersistentDisk any A disk of that provider.
  portworxVolume any A volume of that provider.
  projected ProjectedVolumeSource Several sources in one directory.
  quobyte any A volume of that provider.
  rbd any A RADOS block device.
  scaleIO any A volume of that provider.
  secret SecretVolumeSource The keys of a Secret as files.
  storageos any A volume of that provider.
  vsphereVolume any A disk of that provider.

ConfigMapVolumeSource The keys of a ConfigMap as files.
  defaultMode integer Rights of the files. Default 0644.
  items []KeyToPath Only these keys, under these names.
  name string Which ConfigMap.
  optional boolean Whether it may be missing.

SecretVolumeSource The keys of a Secret as files.
  defaultMode integer Rights of the files. Default 0644.
  items []KeyToPath Only these keys, under these names.
  optional boolean Whether it may be missing.
  secretName string Which Secret.

KeyToPath A key as a file.
  key string Which key.
  mode integer Rights of the file.
  path string Its name in the volume.

EmptyDirVolumeSource An empty directory.
  medium string Empty: the node's disk; Memory: a file system in memory; HugePages.
  sizeLimit quantity The most that it holds.

HostPathVolumeSource A directory or file of the node.
  path string Where it is.
  type string What must be there: Directory, DirectoryOrCreate, File, FileOrCreate, Socket, CharDevice, BlockDevice.

NFSVolumeSource A directory of an NFS server.
  path string The directory.
  readOnly boolean Whether it can only be read.
  server string The server.

ImageVolumeSource The files of an image.
  pullPolicy string Always, IfNotPresent or Never.
  reference string Which image.

PersistentVolumeClaimVolumeSource The volume of a claim.
  claimName string Which claim.
  readOnly boolean Whether it can only be read.

EphemeralVolumeSource A claim that is made for the pod.
  volumeClaimTemplate PersistentVolumeClaimTemplate What the claim is made of.

PersistentVolumeClaimTemplate What a claim is made of.
  metadata ObjectMeta Its labels and annotations.
  spec PersistentVolumeClaimSpec What it asks for.

DownwardAPIVolumeSource Fields of the pod as files.
  defaultMode integer Rights of the files. Default 0644.
  items []DownwardAPIVolumeFile The files.

DownwardAPIVolumeFile A field of the pod as a file.
  fieldRef ObjectFieldSelector A field of the pod.
  mode integer Rights of the file.
  path string Its name in the volume.
  resourceFieldRef ResourceFieldSelector A request or a limit of a container.

ProjectedVolumeSource Several sources in one directory.
  defaultMode integer Rights of the files. Default 0644.
  sources []VolumeProjection The sources.

VolumeProjection One source.
  clusterTrustBundle any Certificates of authorities.
  configMap ConfigMapProjection The keys of a ConfigMap.
  downwardAPI DownwardAPIProjection Fields of the pod.
  podCertificate any A certificate that is made for the pod.
  secret ConfigMapProjection The keys of a Secret.
  serviceAccountToken ServiceAccountTokenProjection A token for the API.

ConfigMapProjection The keys of an object as files.
  items []KeyToPath Only these keys, under these names.
  name string Which object.
  optional boolean Whether it may be missing.

DownwardAPIProjection Fields of the pod as files.
  items []DownwardAPIVolumeFile The files.

ServiceAccountTokenProjection A token for the API.
  audience string For whom it is good.
  expirationSeconds integer How long it is good. Default 3600.
  path string Its name in the volume.

PersistentVolumeClaim A wish for a volume.
  apiVersion string v1.
  kind string PersistentVolumeClaim.
  metadata ObjectMeta
  spec PersistentVolumeClaimSpec What it asks for.
  status any What it got.

PersistentVolumeClaimSpec What a claim asks for.
  accessModes []string ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.
  dataSource TypedLocalReference What it is filled from.
  dataSourceRef TypedReference The same, of any kind.
  resources VolumeResources How much.
  selector LabelSelector Which volumes will do.
  storageClassName string The class that makes one.
  volumeAttributesClassName string The class of its attributes.
  volumeMode string Filesystem or Block.
  volumeName string The volume that it is bound to.

VolumeResources How much a claim asks for.
  limits {}quantity The most.
  requests {}quantity The least; storage.

TypedLocalReference An object of some kind in the same namespace.
  apiGroup string Its group.
  kind string Its kind.
  name string Its name.

TypedReference An object of some kind.
  apiGroup string Its group.
  kind string Its kind.
  name string Its name.
  namespace string Its namespace.

PersistentVolume A volume that claims can be bound to.
  apiVersion string v1.
  kind string PersistentVolume.
  metadata ObjectMeta
  spec PersistentVolumeSpec Where it is, and who may use it how.
  status any What became of it.

PersistentVolumeSpec Where a volume is, and who may use it how; one source beside the rest.
  accessModes []string ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.
  awsElasticBlockStore any A disk of that provider.
  azureDisk any A disk of that provider.
  azureFile any A share of that provider.
  capacity {}quantity How much it holds; storage.
  cephfs any A CephFS.
  cinder any A disk of OpenStack.
  claimRef any The claim that it is bound to.
  csi any A volume of a CSI driver.
  fc any A Fibre Channel disk.
  flexVolume any A volume of a driver program.
  flocker any A volume of Flocker.
  gcePersistentDisk any A disk of that provider.
  glusterfs any A GlusterFS.
  hostPath HostPathVolumeSource A directory of the node.
  iscsi any An iSCSI disk.
  local LocalVolumeSource A directory or disk of one node.
  mountOptions []string Options of the mount.
  nfs NFSVolumeSource A directory of an NFS server.
  nodeAffinity VolumeNodeAffinity The nodes that can reach it.
  persistentVolumeReclaimPolicy string Retain, Delete or Recycle: what becomes of it after its claim.
  photonPersistentDisk any A disk of that provider.
  portworxVolume any A volume of that provider.
  quobyte any A volume of that provider.
  rbd any A RADOS block device.
  scaleIO any A volume of that provider.
  storageClassName string Its class.
  storageos any A volume of that provider.
  volumeAttributesClassName string The class of its attributes.
  volumeMode string Filesystem or Block.
  vsphereVolume any A disk of that provider.

LocalVolumeSource A directory or disk of one node.
  fsType string The file system that is made on a disk.
  path string Where it is.

VolumeNodeAffinity The nodes that can reach a volume.
  required NodeSelector Which.

StorageClass How volumes are made for claims.
  allowVolumeExpansion boolean Whether they can grow.
  allowedTopologies []any Where they can be made.
  apiVersion string storage.k8s.io/v1.
  kind string StorageClass.
  metadata ObjectMeta
  mountOptions []string Options of the mounts.
  parameters {}string What the provisioner is told.
  provisioner string Who makes them.
  reclaimPolicy string Delete or Retain.
  volumeBindingMode string Immediate or WaitForFirstConsumer.
)";

}  // namespace muster::cli
