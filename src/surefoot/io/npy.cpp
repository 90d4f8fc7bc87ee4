#include "surefoot/io/npy.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace surefoot::io {

namespace {

static_assert(std::endian::native == std::endian::little, ".npy conversion assumes a little-endian machine");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_rank = 32;  // NumPy's own limit

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits;
  explicit operator double() const {
    const int exponent = (bits >> 10U) & 0x1F;
    const int fraction = bits & 0x3FF;
    const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    if (exponent == 0x1F) return fraction == 0 ? sign * infinity : std::numeric_limits<double>::quiet_NaN();
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(fraction + 0x400, exponent - 25);
  }
};

template <class Element, bool swapped>
void convert(const char* raw, Index count, double* out, Index stride) {
  if constexpr (std::is_same_v<Element, double> && !swapped) {
    if (stride == 1 && count > 0) {
      std::memcpy(out, raw, static_cast<std::size_t>(count) * sizeof(double));
      return;
    }
  }
  for (Index i = 0; i < count; ++i, raw += sizeof(Element)) {
    std::array<char, sizeof(Element)> bytes{};
    std::memcpy(bytes.data(), raw, sizeof(Element));
    if constexpr (swapped) std::reverse(bytes.begin(), bytes.end());
    out[i * stride] = static_cast<double>(std::bit_cast<Element>(bytes));
  }
}

template <class Element>
void set_element(NpyHeader& header, bool swapped) {
  header.element_bytes = sizeof(Element);
  header.convert = swapped ? convert<Element, true> : convert<Element, false>;
}

// `type` is a kind and a width, such as f8; false if there is no such type here.
bool set_type(NpyHeader& header, std::string_view type, bool swapped) {
  if (type == "f8") return set_element<double>(header, swapped), true;
  if (type == "f4") return set_element<float>(header, swapped), true;
  if (type == "f2") return set_element<Half>(header, swapped), true;
  if (type == "i8") return set_element<std::int64_t>(header, swapped), true;
  if (type == "i4") return set_element<std::int32_t>(header, swapped), true;
  if (type == "i2") return set_element<std::int16_t>(header, swapped), true;
  if (type == "i1") return set_element<std::int8_t>(header, swapped), true;
  if (type == "u8") return set_element<std::uint64_t>(header, swapped), true;
  if (type == "u4") return set_element<std::uint32_t>(header, swapped), true;
  if (type == "u2") return set_element<std::uint16_t>(header, swapped), true;
  if (type == "u1") return set_element<std::uint8_t>(header, swapped), true;
  return false;
}

/// Reads the Python dictionary of the head: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class DictionaryParser {
 public:
  DictionaryParser(const std::string& name, std::string_view text) : name_(name), text_(text), rest_(text) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      entry();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    check(rest_.empty() && seen_descr_ && seen_order_ && seen_shape_);
    return std::move(header_);
  }

 private:
  void check(bool condition) const {
    require(condition, "{}: the .npy header is damaged: '{}'", name_, excerpt(text_, 80));
  }
  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t'))
      rest_.remove_prefix(1);
  }
  bool accept(char letter) {
    skip_spaces();
    if (!rest_.starts_with(letter)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char letter) { check(accept(letter)); }

  std::string_view quoted() {
    skip_spaces();
    check(rest_.starts_with('\'') || rest_.starts_with('"'));
    const std::size_t end = rest_.find(rest_[0], 1);
    check(end != std::string_view::npos);
    const std::string_view content = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return content;
  }

  void entry() {
    const std::string_view key = quoted();
    expect(':');
    bool& seen = key == "descr" ? seen_descr_ : key == "fortran_order" ? seen_order_ : seen_shape_;
    check(!seen && (key == "descr" || key == "fortran_order" || key == "shape"));
    seen = true;
    if (key == "descr") return descr();
    if (key == "fortran_order") return order();
    shape();
  }

  void descr() {
    skip_spaces();
    require(!rest_.starts_with('['),
            "{}: the .npy holds records of several fields; a table needs plain numbers", name_);
    header_.descr = quoted();
  }

  void order() {
    skip_spaces();
    header_.fortran_order = rest_.starts_with("True");
    check(header_.fortran_order || rest_.starts_with("False"));
    rest_.remove_prefix(header_.fortran_order ? 4 : 5);
  }

  void shape() {
    expect('(');
    while (!accept(')')) {
      header_.shape.push_back(extent());
      check(header_.shape.size() <= max_rank);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  Index extent() {
    skip_spaces();
    Index value = 0;
    const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    require(error != std::errc::result_out_of_range, "{}: the .npy header claims a size beyond 2^63: '{}'",
            name_, excerpt(text_, 80));
    check(error == std::errc() && value >= 0);
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 wrote long integers so
    return value;
  }

  const std::string& name_;
  std::string_view text_;
  std::string_view rest_;
  NpyHeader header_;
  bool seen_descr_ = false;
  bool seen_order_ = false;
  bool seen_shape_ = false;
};

void resolve_type(const std::string& name, NpyHeader& header) {
  const std::string_view descr = header.descr;
  const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const std::string_view type = descr.substr(has_order ? 1 : 0);
  require(!type.starts_with('O'), "{}: the .npy holds Python objects ('{}'); a table needs numbers", name,
          excerpt(descr));
  require(!type.starts_with('c'), "{}: the .npy holds complex numbers ('{}'); a table needs real ones", name,
          excerpt(descr));
  require(type != "b1",
          "{}: the .npy holds booleans ('{}'); true may mean solved or failed: write numbers, "
          "smaller is better",
          name, excerpt(descr));
  require(set_type(header, type, descr.starts_with('>')),
          "{}: the .npy element type '{}' is not supported (float16 to float64 and integers are)", name,
          excerpt(descr));
}

std::string shape_text(const NpyHeader& header) {
  return header.shape.empty() ? "1" : fmt::format("{}", fmt::join(header.shape, " x "));
}

void resolve_size(const std::string& name, NpyHeader& header) {
  const std::optional<Index> elements = elements_of(header.shape);
  require(elements.has_value(), "{}: the .npy header claims {} elements, more than any memory holds", name,
          shape_text(header));
  header.elements = *elements;
}

std::string read_text(ByteSource& source, std::size_t bytes) {
  std::vector<char> buffer;
  require(read_growing(source, buffer, bytes) == bytes, "{}: the .npy header is truncated", source.name());
  return {buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(bytes)};
}

std::string read_dictionary(ByteSource& source) {
  const std::string lead = read_text(source, magic.size() + 2);
  require(lead.starts_with(magic), "{}: is not a .npy file: it begins '{}'", source.name(), excerpt(lead));
  const int major = static_cast<unsigned char>(lead[magic.size()]);
  require(major >= 1 && major <= 3, "{}: .npy format version {} is unknown (1, 2 and 3 are known)",
          source.name(), major);
  std::size_t length = 0;
  const std::string length_bytes = read_text(source, major == 1 ? 2 : 4);
  for (std::size_t i = 0; i < length_bytes.size(); ++i) {
    length |= std::size_t{static_cast<unsigned char>(length_bytes[i])} << (8 * i);
  }
  constexpr std::size_t longest = std::size_t{1} << 20U;
  require(length <= longest, "{}: the .npy header claims {} bytes for itself, more than {}", source.name(),
          length, longest);
  return read_text(source, length);
}

[[noreturn]] void wrong_length(const ByteSource& source, const NpyHeader& header, const std::string& found) {
  throw InputError(fmt::format("{}: the .npy header claims {} elements of '{}' = {} bytes, the file has {}",
                               source.name(), shape_text(header), excerpt(header.descr), header.data_bytes(),
                               found));
}

// From Fortran to C order: the raw index runs through the first extent fastest.
void convert_fortran(const NpyHeader& header, const char* raw, double* out) {
  std::vector<Index> at(header.shape.size());
  std::vector<Index> stride(header.shape.size(), 1);
  for (std::size_t axis = at.size() - 1; axis > 0; --axis) {
    stride[axis - 1] = stride[axis] * header.shape[axis];
  }
  const Index run = header.shape[0];
  Index offset = 0;
  for (Index done = 0; done < header.elements; done += run, raw += run * header.element_bytes) {
    header.convert(raw, run, out + offset, stride[0]);
    for (std::size_t axis = 1; axis < at.size(); ++axis) {
      offset += stride[axis];
      if (++at[axis] < header.shape[axis]) break;
      offset -= stride[axis] * header.shape[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace

NpyHeader read_npy_header(ByteSource& source) {
  const std::string dictionary = read_dictionary(source);
  NpyHeader header = DictionaryParser(source.name(), dictionary).parse();
  resolve_type(source.name(), header);
  resolve_size(source.name(), header);
  const std::optional<Index> rest = source.remaining();
  if (rest && *rest != header.data_bytes()) wrong_length(source, header, fmt::format("{}", *rest));
  return header;
}

void check_npy_end(ByteSource& source, const NpyHeader& header, Index bytes) {
  if (bytes != header.data_bytes()) wrong_length(source, header, fmt::format("{}", bytes));
  if (!source.peek(1).empty()) wrong_length(source, header, "more");
}

std::size_t default_memory_bytes() {
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 2;
}

NpyArray read_npy(ByteSource& source, std::size_t memory_bytes) {
  const NpyHeader header = read_npy_header(source);
  const std::size_t limit = memory_bytes > 0 ? memory_bytes : default_memory_bytes();
  const std::size_t needed = static_cast<std::size_t>(header.data_bytes()) +
                             static_cast<std::size_t>(header.elements) * sizeof(double);
  require(needed <= limit, "{}: {} elements need {} bytes of memory, {} are allowed", source.name(),
          shape_text(header), needed, limit);
  std::vector<char> raw;
  const std::size_t got = read_growing(source, raw, static_cast<std::size_t>(header.data_bytes()));
  check_npy_end(source, header, static_cast<Index>(got));
  NpyArray array{header.shape, std::vector<double>(static_cast<std::size_t>(header.elements))};
  if (header.fortran_order && header.shape.size() > 1 && header.elements > 0) {
    convert_fortran(header, raw.data(), array.values.data());
  } else {
    header.convert(raw.data(), header.elements, array.values.data(), 1);
  }
  return array;
}

NpyArray read_npy(const std::string& path, std::size_t memory_bytes) {
  return read_npy(*open_bytes(path), memory_bytes);
}

Eigen::MatrixXd read_npy_matrix(const std::string& path, std::size_t memory_bytes) {
  const auto source = open_bytes(path);
  const NpyArray array = read_npy(*source, memory_bytes);
  const std::size_t rank = array.shape.size();
  require(rank == 1 || rank == 2, "{}: the .npy array has {} dimensions, a matrix has 2", source->name(),
          rank);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(array.values.data(), array.shape[0], rank == 2 ? array.shape[1] : 1);
}

std::string npy_bytes(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  std::string dictionary = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}",
                                       matrix.rows(), matrix.cols());
  // NumPy aligns the data to 64 bytes and ends the head with a line feed.
  const std::size_t lead = magic.size() + 4;
  dictionary.append(63 - (lead + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string bytes(magic);
  bytes += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xFFU),
            static_cast<char>(dictionary.size() >> 8U)};
  bytes += dictionary;
  const std::size_t start = bytes.size();
  bytes.resize(start + static_cast<std::size_t>(matrix.size()) * sizeof(double));
  char* out = bytes.data() + start;
  for (Eigen::Index row = 0; row < matrix.rows(); ++row) {
    for (Eigen::Index column = 0; column < matrix.cols(); ++column, out += sizeof(double)) {
      const double value = matrix(row, column);
      std::memcpy(out, &value, sizeof(double));
    }
  }
  return bytes;
}

void write_npy(const std::filesystem::path& path, const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  write_file_atomically(path, npy_bytes(matrix));
}

}  // namespace surefoot::io
