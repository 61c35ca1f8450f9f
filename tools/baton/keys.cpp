#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "builds/families.h"
#include "tools/baton/command.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

using nlohmann::ordered_json;

struct KeysOptions {
  std::string kernel;
  bool json = false;
};

template <typename... Handlers>
struct Match : Handlers... {
  using Handlers::operator()...;
};

/// The kind, its bounds and its default, in JSON's own types.
ordered_json kind_json(const builds::Field& field) {
  using namespace builds;
  return std::visit(
      Match{[](const IntegerField& kind) -> ordered_json {
              return {{"kind", "integer"},
                      {"min", kind.min},
                      {"max", kind.max},
                      {"default", kind.fallback}};
            },
            [](const AutoIntegerField& kind) -> ordered_json {
              return {{"kind", "integer"},
                      {"min", kind.min},
                      {"max", kind.max},
                      {"default", "auto"},
                      {"auto", kind.rule_text}};
            },
            [](const NumberField& kind) -> ordered_json {
              return {{"kind", "number"},
                      {"min", kind.min},
                      {"max", kind.max},
                      {"default", kind.fallback}};
            },
            [](const FlagField& kind) -> ordered_json {
              return {{"kind", "flag"}, {"default", kind.fallback}};
            },
            [](const AutoFlagField& kind) -> ordered_json {
              return {{"kind", "flag"}, {"default", "auto"}, {"auto", kind.rule_text}};
            },
            [](const SetField& kind) -> ordered_json {
              return {
                  {"kind", "set"}, {"members", kind.members}, {"default", ordered_json::array()}};
            }},
      field.kind);
}

ordered_json family_json(const builds::Family& family) {
  ordered_json fields = ordered_json::array();
  for (const builds::Field& field : family.fields) {
    ordered_json one = {{"name", field.name}};
    one.update(kind_json(field));
    one["range"] = builds::range_text(field);
    one["meaning"] = field.meaning;
    fields.push_back(std::move(one));
  }
  return {{"kernel", family.name}, {"title", family.title}, {"fields", std::move(fields)}};
}

std::string family_text(const builds::Family& family) {
  size_t name = 5, range = 5, fallback = 7;  // the headings' widths
  for (const builds::Field& field : family.fields) {
    name = std::max(name, field.name.size());
    range = std::max(range, builds::range_text(field).size());
    fallback = std::max(fallback, builds::default_text(field).size());
  }
  const auto row = [&](std::string_view a, std::string_view b, std::string_view c,
                       std::string_view d) {
    return fmt::format("  {:<{}}  {:<{}}  {:<{}}  {}\n", a, name, b, range, c, fallback, d);
  };
  std::string text = fmt::format("{}: {}\n", family.name, family.title);
  text += row("field", "range", "default", "meaning");
  for (const builds::Field& field : family.fields) {
    text += row(field.name, builds::range_text(field), builds::default_text(field), field.meaning);
  }
  return text;
}

int run_keys(const KeysOptions& options) {
  std::vector<const builds::Family*> chosen;
  if (!options.kernel.empty()) {
    chosen.push_back(&builds::find_family(options.kernel));
  } else {
    for (const builds::Family& family : builds::families()) chosen.push_back(&family);
  }
  if (options.json) {
    ordered_json list = ordered_json::array();
    for (const builds::Family* family : chosen) list.push_back(family_json(*family));
    print(list.dump(2) + "\n");
    return 0;
  }
  std::string text;
  for (const builds::Family* family : chosen) {
    text += (text.empty() ? "" : "\n") + family_text(*family);
  }
  print(text);
  return 0;
}

}  // namespace

Command add_keys(CLI::App& app) {
  auto options = std::make_shared<KeysOptions>();
  CLI::App* parser = app.add_subcommand("keys", "List the kernels and the fields of their keys");
  parser->add_option("KERNEL", options->kernel, "This kernel only")->type_name("");
  parser->add_flag("--json", options->json, "Print JSON");
  parser->footer(
      "Examples:\n"
      "  baton keys\n"
      "  baton keys attn_post --json");
  return {parser, [options] { return run_keys(*options); }};
}

}  // namespace baton::cli
