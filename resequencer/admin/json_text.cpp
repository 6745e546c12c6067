#include "admin/json_text.h"

#include "codec/base64.h"

namespace reseq::admin {

Json parse_object(std::string_view text) {
  bool too_deep = false;
  const auto look = [&](int depth, Json::parse_event_t, const Json&) {
    too_deep = too_deep || depth > kJsonDepthMax;
    return depth <= kJsonDepthMax;
  };
  Json object = Json::parse(text, look, /*allow_exceptions=*/false);
  return too_deep || !object.is_object() ? Json(Json::value_t::discarded) : object;
}

Json member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? Json() : *found;
}

std::int64_t number_in(const Json& object, const char* name, std::int64_t otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

std::string text_in(const Json& object, const char* name, const std::string& otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::string number_text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || !found->is_number() ? "-" : found->dump();
}

std::string bytes_in(const Json& object, const std::string& name) {
  if (object.contains(name)) return text_in(object, name.c_str());
  const std::string base64 = text_in(object, (name + "_base64").c_str(), "");
  return base64.empty() ? "-" : "base64:" + base64;
}

std::string raw_bytes_in(const Json& object, const std::string& name) {
  const std::string base64 = text_in(object, (name + "_base64").c_str(), "");
  return base64.empty() ? text_in(object, name.c_str(), "") : codec::parse_base64(base64).value_or("");
}

std::string order_text(const Json& order) {
  if (!order.is_object()) return "-";
  std::string text = bytes_in(order, "seq");
  if (const std::int64_t epoch = number_in(order, "epoch"); epoch != 0) text = std::to_string(epoch) + "/" + text;
  if (const std::string revision = text_in(order, "revision", "0"); revision != "0") text += "+" + revision;
  return text;
}

std::string names_text(const Json& names) {
  std::string text;
  for (const Json& name : names)
    if (name.is_string()) text += (text.empty() ? "" : ",") + name.get<std::string>();
  return text.empty() ? "-" : text;
}

std::string indented(const Json& value) {
  return value.dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

}  // namespace reseq::admin
