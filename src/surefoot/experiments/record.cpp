#include "surefoot/experiments/record.hpp"

#include "surefoot/io/json_dump.hpp"

#include <nlohmann/json.hpp>

namespace surefoot::experiments {

namespace {

using RecordJson = nlohmann::ordered_json;

RecordJson json_of(const report::TextTable& table) {
  RecordJson columns = RecordJson::array();
  for (const report::Column& column : table.columns)
    columns.push_back(
        {{"header", column.header}, {"left", column.align == report::Align::left}, {"group", column.group}});
  return {{"columns", columns}, {"keys", table.key_columns}, {"rows", table.rows}};
}

report::TextTable table_from(const RecordJson& json) {
  report::TextTable table;
  for (const RecordJson& column : json.at("columns"))
    table.columns.push_back({column.at("header"),
                             column.at("left").get<bool>() ? report::Align::left : report::Align::right,
                             column.at("group")});
  table.key_columns = json.at("keys");
  for (const RecordJson& row : json.at("rows")) table.add_row(row.get<std::vector<std::string>>());
  return table;
}

}  // namespace

std::string to_json(const Record& record) {
  RecordJson json{{"tables", RecordJson::array()},
                  {"figures", RecordJson::array()},
                  {"certificates", RecordJson::array()}};
  for (const report::ResultTable& each : record.tables)
    json["tables"].push_back({{"slug", each.slug},
                              {"title", each.title},
                              {"table", json_of(each.table)},
                              {"remarks", each.remarks}});
  for (const report::PageFigure& each : record.figures)
    json["figures"].push_back({{"caption", each.caption}, {"panels", each.panels}, {"notice", each.notice}});
  for (const RecordedCertificate& each : record.certificates)
    json["certificates"].push_back({{"folder", each.folder}, {"sha256", each.sha256}, {"main", each.main}});
  return io::json_dump(json, 1);
}

Record parse_record(std::string_view text) {
  const RecordJson json = RecordJson::parse(text);
  Record record;
  for (const RecordJson& each : json.at("tables"))
    record.tables.push_back(
        {each.at("slug"), each.at("title"), table_from(each.at("table")), each.at("remarks")});
  for (const RecordJson& each : json.at("figures"))
    record.figures.push_back({each.at("caption"), each.at("panels"), each.at("notice")});
  for (const RecordJson& each : json.at("certificates"))
    record.certificates.push_back({each.at("folder"), each.at("sha256"), each.at("main")});
  return record;
}

}  // namespace surefoot::experiments
