#include "surefoot/io/json_parse.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace surefoot::io {

namespace {

using OrderedJson = nlohmann::ordered_json;

class LimitCheck final : public nlohmann::json_sax<OrderedJson> {
 public:
  LimitCheck(std::string_view what, const JsonLimits& limits) : what_(what), limits_(limits) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(OrderedJson::binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    go_deeper();
    names_.emplace_back();
    return true;
  }
  bool end_object() override {
    --depth_;
    names_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override {
    go_deeper();
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(std::string& name) override {
    require(names_.back().insert(name).second, "{}: '{}' is given twice in one object", what_, excerpt(name));
    require(names_.back().size() <= limits_.most_fields, "{}: an object has more than {} fields", what_,
            limits_.most_fields);
    return true;
  }
  // The parse that follows says what is wrong.
  bool parse_error(std::size_t, const std::string&, const OrderedJson::exception&) override { return false; }

 private:
  void go_deeper() {
    require(++depth_ <= limits_.deepest, "{}: nested deeper than {}", what_, limits_.deepest);
  }

  std::string_view what_;
  JsonLimits limits_;
  std::size_t depth_ = 0;
  std::vector<std::set<std::string>> names_;  ///< of the objects that it is in
};

}  // namespace

nlohmann::ordered_json parse_json(std::string_view what, std::string_view text, const JsonLimits& limits) {
  LimitCheck check(what, limits);
  (void)OrderedJson::sax_parse(text, &check);
  return OrderedJson::parse(text);
}

}  // namespace surefoot::io
