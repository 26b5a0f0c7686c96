#pragma once

#include <string>
#include <vector>

#include "json/value.h"

// How T9k's kinds write a few things that are everywhere in them. Total, as all decoding.
namespace muster::dialects::t9k {

// A list of words, such as a command.
std::vector<std::string> words(const json::Value& list);

// Whether a block is turned on: `enabled`, or `enable` in its place.
bool is_on(const json::Value& block);

}  // namespace muster::dialects::t9k
