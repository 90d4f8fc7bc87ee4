#pragma once

namespace surefoot::io {

class ByteSource;

/// Bytes of memory that a text of JSON takes, at most, as it becomes a tree of values
/// (nlohmann::ordered_json). Lists and objects are vectors of values, 16 bytes each, or of fields, 48 bytes
/// each, that double as they grow, so that three times as much is there while they are copied; lists, objects
/// and texts are on the heap. Reads the source to its end and keeps nothing of it; whether it is JSON does
/// not matter.
double json_tree_bytes(ByteSource& source);

}  // namespace surefoot::io
