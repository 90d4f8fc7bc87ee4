#include "surefoot/io/safetensors.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

namespace surefoot::io {

namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

constexpr std::size_t length_bytes = 8;
constexpr std::size_t alignment = 8;
constexpr std::string_view metadata_key = "__metadata__";

struct Entry {
  Tensor tensor;  // without its values
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The header of one source, its errors named by place.
class Header {
 public:
  Header(std::string source, std::string_view text) : source_(std::move(source)) {
    const Json body = parsed(text);
    refuse_unless(body.is_object(), "the header is not a JSON object");
    for (const auto& [name, value] : body.items()) {
      if (name == metadata_key) {
        read_metadata(value);
      } else {
        entries_.push_back(entry(name, value));
      }
    }
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t expected = 0;
    for (const Entry& next : entries_) {
      if (next.begin != expected) {
        refuse("data of tensor '{}' begin at {}, {} {}", shown(next.tensor.name), next.begin,
               next.begin < expected ? "inside the data before it, which end at" : "after a gap from",
               expected);
      }
      expected = next.end;
    }
    bytes_ = expected;
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> message, Args&&... args) const {
    throw InputError(source_ + ": " + fmt::format(message, std::forward<Args>(args)...));
  }
  void refuse_unless(bool condition, const char* message) const {
    if (!condition) refuse("{}", message);
  }
  static std::string shown(const std::string& text) { return excerpt(text, 60); }

  [[nodiscard]] Json parsed(std::string_view text) const {
    std::vector<std::set<std::string>> keys;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
      constexpr int deepest = 8;
      if (depth > deepest) refuse("the header is nested deeper than {}", deepest);
      if (event == Json::parse_event_t::object_start) keys.emplace_back();
      if (event == Json::parse_event_t::object_end) keys.pop_back();
      if (event == Json::parse_event_t::key) {
        const auto& key = value.get_ref<const std::string&>();
        if (!keys.back().insert(key).second) refuse("the header gives '{}' twice", shown(key));
      }
      return true;
    };
    try {
      return Json::parse(text, watch);
    } catch (const Json::parse_error& error) {
      refuse("the header is not JSON at its byte {}", error.byte);
    } catch (const Json::exception&) {
      refuse("the header holds a number out of range");
    }
  }

  void read_metadata(const Json& value) {
    refuse_unless(value.is_object(), "__metadata__ is not an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) refuse("__metadata__ '{}' is not a text", shown(key));
      metadata_[key] = text.get<std::string>();
    }
  }

  [[nodiscard]] std::uint64_t whole(const Json& value, const std::string& tensor, const char* what) const {
    constexpr std::uint64_t largest = std::uint64_t{1} << 62;
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= largest;
    if (!fits) refuse("tensor '{}': {} are not whole numbers in range", shown(tensor), what);
    return value.get<std::uint64_t>();
  }

  [[nodiscard]] Entry entry(const std::string& name, const Json& value) const {
    if (!value.is_object()) refuse("tensor '{}' is not described by an object", shown(name));
    for (const auto& [key, ignored] : value.items()) {
      if (key != "dtype" && key != "shape" && key != "data_offsets")
        refuse("tensor '{}' has an unknown field '{}'", shown(name), shown(key));
    }
    for (const char* key : {"dtype", "shape", "data_offsets"}) {
      if (!value.contains(key)) refuse("tensor '{}' has no {}", shown(name), key);
    }
    const Json& dtype = value.at("dtype");
    if (!dtype.is_string() || dtype.get<std::string>() != "F64")
      refuse("tensor '{}' has dtype {}, only F64 is read", shown(name), shown(dtype.dump(-1, ' ', true)));
    Entry result;
    result.tensor.name = name;
    const Json& shape = value.at("shape");
    if (!shape.is_array()) refuse("tensor '{}': shape is not a list", shown(name));
    for (const Json& extent : shape)
      result.tensor.shape.push_back(static_cast<Index>(whole(extent, name, "entries of shape")));
    const Json& offsets = value.at("data_offsets");
    if (!offsets.is_array() || offsets.size() != 2)
      refuse("tensor '{}': data_offsets is not a list of two", shown(name));
    result.begin = whole(offsets[0], name, "data_offsets");
    result.end = whole(offsets[1], name, "data_offsets");
    const auto elements = elements_of(result.tensor.shape);
    const bool fits = elements && result.begin <= result.end &&
                      result.end - result.begin == static_cast<std::uint64_t>(*elements) * sizeof(double);
    if (!fits)
      refuse("tensor '{}': data_offsets {} .. {} do not fit its shape", shown(name), result.begin,
             result.end);
    return result;
  }

  std::string source_;
  std::vector<Entry> entries_;
  std::uint64_t bytes_ = 0;
  std::map<std::string, std::string> metadata_;
};

}  // namespace

const Tensor* Safetensors::find(std::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::string to_safetensors(const Safetensors& content) {
  Json header = Json::object();
  if (!content.metadata.empty()) header[std::string(metadata_key)] = content.metadata;
  std::uint64_t offset = 0;
  for (const Tensor& tensor : content.tensors) {
    require(tensor.name != metadata_key && !header.contains(tensor.name),
            "safetensors: the name '{}' is taken", tensor.name);
    const auto elements = elements_of(tensor.shape);
    require(elements == static_cast<Index>(tensor.values.size()),
            "safetensors: tensor '{}' has {} numbers, its shape another", tensor.name, tensor.values.size());
    const std::uint64_t end = offset + tensor.values.size() * sizeof(double);
    header[tensor.name] = {{"dtype", "F64"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception&) {
    throw InputError("safetensors: a name or a text of the metadata is not UTF-8");
  }
  // Blanks behind the header put the numbers at a multiple of their size.
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(length_bytes + text.size() + offset, '\0');
  std::memcpy(bytes.data(), &length, length_bytes);
  std::memcpy(bytes.data() + length_bytes, text.data(), text.size());
  char* place = bytes.data() + length_bytes + text.size();
  for (const Tensor& tensor : content.tensors) {
    if (tensor.values.empty()) continue;
    std::memcpy(place, tensor.values.data(), tensor.values.size() * sizeof(double));
    place += tensor.values.size() * sizeof(double);
  }
  return bytes;
}

Safetensors read_safetensors(ByteSource& source, const SafetensorsLimits& limits) {
  std::vector<char> buffer;
  const std::string& name = source.name();
  require(read_growing(source, buffer, length_bytes) == length_bytes,
          "{}: ends before the length of its header", name);
  std::uint64_t length = 0;
  std::memcpy(&length, buffer.data(), length_bytes);
  require(length <= limits.header_bytes, "{}: claims a header of {} bytes, at most {} are read", name, length,
          limits.header_bytes);
  const std::size_t got = read_growing(source, buffer, length);
  require(got == length, "{}: ends inside its header, at byte {} of {}", name, got, length);
  const Header header(name, {buffer.data(), got});
  require(header.bytes() <= limits.data_bytes, "{}: claims {} bytes of data, at most {} are read", name,
          header.bytes(), limits.data_bytes);
  if (const auto remaining = source.remaining()) {
    require(static_cast<std::uint64_t>(*remaining) >= header.bytes(),
            "{}: holds {} bytes of data, its header needs {}", name, *remaining, header.bytes());
  }
  Safetensors content;
  content.metadata = header.metadata();
  for (const Entry& entry : header.entries()) {
    const std::size_t bytes = entry.end - entry.begin;
    require(read_growing(source, buffer, bytes) == bytes, "{}: ends inside the data of tensor '{}'", name,
            excerpt(entry.tensor.name, 60));
    Tensor tensor = entry.tensor;
    tensor.values.resize(bytes / sizeof(double));
    if (bytes > 0) std::memcpy(tensor.values.data(), buffer.data(), bytes);
    content.tensors.push_back(std::move(tensor));
  }
  require(source.peek(1).empty(), "{}: goes on after the data that its header names", name);
  return content;
}

Safetensors read_safetensors(const std::filesystem::path& path, const SafetensorsLimits& limits) {
  const auto source = open_raw_bytes(path.string() == "-" ? "./-" : path.string());
  return read_safetensors(*source, limits);
}

}  // namespace surefoot::io
