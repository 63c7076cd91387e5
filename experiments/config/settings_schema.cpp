#include "experiments/config/settings_schema.h"

#include <nlohmann/json.hpp>

#include "experiments/config/settings.h"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

// Integers with underscores, as 24_000_000, are text to many readers of YAML.
const char* const kSpacedInteger = "^-?[0-9][0-9_]*$";
const char* const kSpacedNumber = "^-?[0-9][0-9_]*(\\.[0-9]*)?([eE][-+]?[0-9]+)?$";

Json bounds(const char* type, const Interval& range) {
  Json schema{{"type", type}};
  const auto number = [&](double value) {
    return std::string(type) == "integer" ? Json(static_cast<std::int64_t>(value)) : Json(value);
  };
  schema[range.with_low ? "minimum" : "exclusiveMinimum"] = number(range.low);
  schema[range.with_high ? "maximum" : "exclusiveMaximum"] = number(range.high);
  return schema;
}

Json or_spaced(const Json& schema, const char* pattern) {
  return {{"anyOf", {schema, {{"type", "string"}, {"pattern", pattern}}}}};
}

// What a setting may be, and its default.
struct SchemaOf {
  const Setting& setting;

  const Interval& range() const { return std::get<Interval>(setting.allowed); }
  Json integer() const { return or_spaced(bounds("integer", range()), kSpacedInteger); }
  Json number() const { return or_spaced(bounds("number", range()), kSpacedNumber); }

  Json operator()(const bool* field) const { return {{"type", "boolean"}, {"default", *field}}; }
  Json operator()(const std::array<int, 2>* field) const {
    return {{"type", "array"},
            {"items", integer()},
            {"minItems", 2},
            {"maxItems", 2},
            {"default", *field}};
  }
  Json operator()(const std::vector<double>* field) const {
    Json schema = number();
    schema["anyOf"].push_back({{"type", "array"}, {"items", number()}, {"minItems", 1}});
    return with_default(schema, field->front());
  }
  Json operator()(const std::vector<std::string>* field) const {
    return {{"type", "array"}, {"items", {{"type", "string"}}}, {"default", *field}};
  }
  Json operator()(const double* field) const { return with_default(number(), *field); }
  Json operator()(const Ramp* field) const {
    const Json share = bounds("number", {.low = 0.0, .high = 1.0, .with_low = false});
    const Json ramp{{"type", "object"},
                    {"properties", {{"from", number()}, {"to", number()}, {"over", share}}},
                    {"required", {"from", "to"}},
                    {"additionalProperties", false}};
    Json schema = number();
    schema["anyOf"].push_back(ramp);
    return with_default(schema, field->from);
  }
  Json operator()(const LogRange* field) const {
    const Json range{{"type", "object"},
                     {"properties", {{"from", number()}, {"to", number()}}},
                     {"required", {"from", "to"}},
                     {"additionalProperties", false}};
    Json schema = number();
    schema["anyOf"].push_back(range);
    return with_default(schema, field->from);
  }
  Json operator()(const std::string* field) const {
    if (const Names* names = std::get_if<Names>(&setting.allowed))
      return {{"enum", *names}, {"default", *field}};
    if (std::get<Text>(setting.allowed) == Text::word)
      return {{"type", "string"}, {"default", *field}};
    return {{"type", {"string", "null"}}, {"default", nullptr}};
  }
  Json operator()(const auto* field) const { return with_default(integer(), *field); }

  static Json with_default(Json schema, const auto& value) {
    schema["default"] = value;
    return schema;
  }
};

Json object() {
  return {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
}

// The keys of studies: what varies is named by the keys of settings.
void add_study_keys(Json& properties) {
  Json keys = {"name"};
  for (const Setting& setting : settings()) keys.push_back(setting.key);
  const Json variant{{"type", "object"}, {"propertyNames", {{"enum", keys}}}};
  const Json list{{"type", "array"}, {"items", variant}, {"minItems", 1}};
  properties["vary"] = {
      {"description",
       "the variants of a study: lists of values by key, a list of variants, or "
       "lists of variants to combine"},
      {"anyOf", {variant, list, {{"type", "array"}, {"items", list}, {"minItems", 1}}}}};
  properties["seeds"] = {
      {"description", "of a study: how many, or which"},
      {"anyOf",
       {{{"type", "integer"}, {"minimum", 1}},
        {{"type", "array"}, {"items", {{"type", "integer"}}}, {"minItems", 1}}}}};
  properties["tuned_by"] = {
      {"description", "keys of vary that a variant's best value of is chosen on validation"},
      {"anyOf", {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};
}

}  // namespace

std::string settings_schema() {
  Json schema = object();
  for (const Setting& setting : settings()) {
    Json* section = &schema;
    std::size_t word = 0;  // where the current word of the key begins
    for (std::size_t dot; (dot = setting.key.find('.', word)) != std::string::npos;
         word = dot + 1) {
      Json& properties = (*section)["properties"];
      const std::string name = setting.key.substr(word, dot - word);
      if (!properties.contains(name)) {
        properties[name] = object();
        properties[name]["type"] = {"object", "null"};
      }
      section = &properties[name];
    }
    Json described{{"description", setting.about}};
    described.update(std::visit(SchemaOf{setting}, setting.field));
    (*section)["properties"][setting.key.substr(word)] = std::move(described);
  }
  add_study_keys(schema["properties"]);
  Json document{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "An experiment of Saccade"}};
  document.update(schema);
  return document.dump(1) + "\n";
}

}  // namespace saccade
