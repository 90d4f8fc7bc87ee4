#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace surefoot {
class ByteWriter;
}  // namespace surefoot

namespace surefoot::io {

/// A heading that names format and version, a body, and the SHA-256 of both in 64 hexadecimal digits:
/// checkpoints and tallies lie on disk like that.
std::string sealed_bytes(std::string_view heading, const std::function<void(ByteWriter&)>& write_body);

/// The body of bytes that begin with the heading. InputError with `name` if they end early or the checksum
/// does not match.
std::string_view sealed_body(std::string_view bytes, std::string_view heading, const std::string& name);

}  // namespace surefoot::io
