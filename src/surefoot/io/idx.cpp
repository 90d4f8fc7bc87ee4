#include "surefoot/io/idx.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/text.hpp"

#include <array>
#include <optional>
#include <utility>

namespace surefoot::io {

namespace {

using Word = std::array<unsigned char, 4>;

Word read_word(ByteSource& source) {
  std::array<char, 4> bytes{};
  require(source.read(bytes.data(), bytes.size()) == bytes.size(), "{}: the IDX header is truncated",
          source.name());
  Word word{};
  for (std::size_t i = 0; i < bytes.size(); ++i) word[i] = static_cast<unsigned char>(bytes[i]);
  return word;
}

std::size_t big_endian(const Word& word) {
  std::size_t value = 0;
  for (const unsigned char byte : word) value = value << 8U | byte;
  return value;
}

}  // namespace

IdxArray read_idx(ByteSource& source, std::size_t limit) {
  constexpr unsigned char unsigned_byte = 0x08;
  constexpr std::size_t max_rank = 8;
  const std::string lead = excerpt(source.peek(4));
  const Word magic = read_word(source);
  require(magic[0] == 0 && magic[1] == 0, "{}: is not an IDX file: it begins '{}'", source.name(), lead);
  require(magic[2] == unsigned_byte, "{}: the IDX element type 0x{:02x} is not 0x08 (unsigned byte)",
          source.name(), magic[2]);
  const std::size_t rank = magic[3];
  require(rank >= 1 && rank <= max_rank, "{}: the IDX array has {} dimensions, outside 1 .. {}",
          source.name(), rank, max_rank);
  IdxArray array;
  for (std::size_t axis = 0; axis < rank; ++axis) array.shape.push_back(big_endian(read_word(source)));
  const std::string shape = fmt::format("{}", fmt::join(array.shape, " x "));
  const std::optional<Index> claimed = elements_of(array.shape);
  require(claimed && std::cmp_less_equal(*claimed, limit), "{}: the IDX header claims {} bytes, more than {}",
          source.name(), shape, limit);
  const auto elements = static_cast<std::size_t>(*claimed);
  std::vector<char> raw;
  const std::size_t got = read_growing(source, raw, elements);
  require(got == elements, "{}: the IDX header claims {} = {} bytes, the file has {}", source.name(), shape,
          elements, got);
  require(source.peek(1).empty(), "{}: the IDX header claims {} = {} bytes, the file has more", source.name(),
          shape, elements);
  array.values.assign(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(elements));
  return array;
}

IdxArray read_idx(const std::string& path, std::size_t limit) {
  return read_idx(*open_bytes(path), limit);
}

}  // namespace surefoot::io
