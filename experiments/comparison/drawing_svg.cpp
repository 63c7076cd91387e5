#include "experiments/comparison/drawing_svg.h"

#include <fmt/format.h>

#include "experiments/comparison/html.h"
#include "experiments/pictures/colours.h"

namespace saccade {
namespace {

constexpr double kCapital = 0.72;  // capital height as a fraction of the font size

// At most two decimals.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string box(const Rectangle& r) {
  return fmt::format(R"( x="{}" y="{}" width="{}" height="{}")", number(r.x), number(r.y),
                     number(r.width), number(r.height));
}

std::string points(const std::vector<Place>& places) {
  std::string text;
  for (const Place& place : places)
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", number(place.x), number(place.y));
  return fmt::format(R"( points="{}")", text);
}

// #rrggbb
std::string css_colour(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

// Converts each shape to its element, with the attributes common to all.
struct Element {
  std::string attributes;

  std::string operator()(const Stroke& stroke) const {
    return fmt::format(R"(<polyline{}{} stroke-width="{}"/>)", attributes, points(stroke.points),
                       number(stroke.width));
  }
  std::string operator()(const Area& area) const {
    return fmt::format("<polygon{}{}/>", attributes, points(area.corners));
  }
  std::string operator()(const Rectangle& rectangle) const {
    return fmt::format("<rect{}{}/>", attributes, box(rectangle));
  }
  std::string operator()(const Disc& disc) const {
    return fmt::format(R"(<circle{} cx="{}" cy="{}" r="{}"/>)", attributes, number(disc.centre.x),
                       number(disc.centre.y), number(disc.radius));
  }
  std::string operator()(const Words& words) const {
    const char* anchor = words.align == Align::left     ? "start"
                         : words.align == Align::centre ? "middle"
                                                        : "end";
    return fmt::format(R"(<text{} x="{}" y="{}" font-size="{}" text-anchor="{}"{}>{}</text>)",
                       attributes, number(words.at.x), number(words.at.y),
                       number(words.height / kCapital), anchor,
                       words.bold ? R"( font-weight="bold")" : "", html_escaped(words.line));
  }
  std::string operator()(const Pixels& pixels) const {
    return fmt::format(R"(<image{} preserveAspectRatio="none" href="data:image/png;base64,{}"/>)",
                       box(pixels.where), base64(to_png(pixels.colours)));
  }
};

std::string element(const Shape& shape) {
  std::string classes = name_of(shape.paint);
  if (shape.paint.role == Role::variant) classes += " variant";
  if (shape.series >= 0) classes += fmt::format(" of-v{}", shape.series);
  std::string attributes = fmt::format(R"( class="{}")", classes);
  if (shape.paint.opacity < 1.0)
    attributes += fmt::format(R"( opacity="{}")", number(shape.paint.opacity));
  return std::visit(Element{attributes}, shape.form);
}

}  // namespace

std::string svg_of(const Drawing& drawing, const std::string& words) {
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\">\n<g role=\"img\" aria-label=\"{}\">\n",
                                number(drawing.width), number(drawing.height), html_escaped(words));
  for (const Shape& shape : drawing.shapes) svg += element(shape) + "\n";
  for (const Spot& spot : drawing.spots)
    svg += fmt::format("<rect class=\"spot\"{}><title>{}</title></rect>\n", box(spot.where),
                       html_escaped(spot.text));
  svg += "</g>\n";
  for (const Switch& one : drawing.switches)
    svg += fmt::format(
        "<foreignObject{}><input type=\"checkbox\" checked class=\"v{}\" title=\"{}\" "
        "aria-label=\"{}\"></foreignObject>\n",
        box(one.where), one.variant, html_escaped(one.name), html_escaped(one.name));
  return svg + "</svg>\n";
}

std::string style_of_drawings(int variants) {
  std::string css;
  for (int role = 0; role < static_cast<int>(Role::variant); ++role) {
    const Paint paint{.role = static_cast<Role>(role)};
    css += fmt::format(":root {{ --{0}: {1}; }}\n.{0} {{ color: var(--{0}); }}\n", name_of(paint),
                       css_colour(colour_on_paper(paint)));
  }
  for (int v = 0; v < variants; ++v)
    css += fmt::format(
        ".v{0} {{ --colour: {1}; }}\n"
        "svg:has(input.v{0}:not(:checked)) .of-v{0} {{ display: none; }}\n",
        v, css_colour(variant_colour(v)));
  return css;
}

}  // namespace saccade
