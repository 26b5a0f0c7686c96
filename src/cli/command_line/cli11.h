#pragma once

// The types of CLI11, by name: its header is a heavy one.
namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
class ArgumentMismatch;
class ConversionError;
class Option;
class Validator;
}  // namespace CLI
