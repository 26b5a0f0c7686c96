#pragma once

#include "json/value.h"
#include "server/rules/causes.h"

// PersistentVolumeClaims, PersistentVolumes and StorageClasses: what is filled in and what is
// refused. What this server could not obey is refused, never ignored.
namespace muster::server {

void default_claim(json::Value& claim);
void default_claim_spec(json::Value& spec);
void check_claim(const json::Value& claim, Causes& causes);
void check_claim_update(const json::Value& old, const json::Value& claim, Causes& causes);

void default_volume(json::Value& volume);
void check_volume(const json::Value& volume, Causes& causes);
void check_volume_update(const json::Value& old, const json::Value& volume, Causes& causes);

void default_storage_class(json::Value& storage_class);
void check_storage_class(const json::Value& storage_class, Causes& causes);
void check_storage_class_update(const json::Value& old, const json::Value& storage_class,
                                Causes& causes);

}  // namespace muster::server
