// A line of options and any bytes as a table of text: what is read is read again, alike, by what it says was
// selected.
#include "surefoot/certify/long_table.hpp"
#include "surefoot/io/byte_source.hpp"

#include "fuzz_support.hpp"

#include <bit>
#include <optional>

namespace {

using namespace surefoot;

std::optional<certify::LongTable> read(const std::string& text, const certify::TableChoice& choice) {
  std::optional<certify::LongTable> table;
  fuzz::message_of([&] { table.emplace(io::memory_bytes("t", text), choice); });
  return table;
}

/// "value|variants|rows|steps|where|failed|flags": s for scalars, m for what is missing to fail.
certify::TableChoice choice_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '|')
      fields.emplace_back();
    else
      fields.back() += c;
  }
  fields.resize(7);
  certify::TableChoice choice;
  if (!fields[0].empty()) choice.values = {fields[0]};
  choice.variants = fields[1];
  choice.rows = fields[2];
  choice.steps = fields[3];
  if (!fields[4].empty()) choice.where = {fields[4]};
  if (!fields[5].empty()) choice.failed = {fields[5]};
  choice.scalar = fields[6].find('s') != std::string::npos;
  if (fields[6].find('m') != std::string::npos) choice.missing = certify::Missing::failed;
  return choice;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input = fuzz::text_of(data, size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string text = input.substr(std::min(end + 1, input.size()));
  const auto table = read(text, choice_of(input.substr(0, end)));
  if (!table) return 0;
  if (table->parts().empty() || table->steps().empty()) std::abort();
  std::vector<certify::Selection> selections;
  for (std::size_t i = 0; i < table->parts().size(); ++i) {
    const certify::LongTable::Part& part = table->parts()[i];
    const certify::TableView view = table->view(i);
    if (view.rows < 1 || static_cast<std::size_t>(view.rows * view.columns) != part.values.size())
      std::abort();
    selections.push_back(part.selection);
  }
  const auto again = read(text, certify::TableChoice::of(selections));
  if (!again || again->parts().size() != table->parts().size() || again->steps() != table->steps())
    std::abort();
  for (std::size_t i = 0; i < selections.size(); ++i) {
    if (again->parts()[i].selection != selections[i]) std::abort();
    for (std::size_t j = 0; j < table->parts()[i].values.size(); ++j)
      if (std::bit_cast<std::uint64_t>(again->parts()[i].values[j]) !=
          std::bit_cast<std::uint64_t>(table->parts()[i].values[j]))
        std::abort();
  }
  return 0;
}
