#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "env/digits.h"
#include "nn/parallel.h"
#include "nn/random.h"

namespace saccade {
namespace {

constexpr int kSide = 28;          // side of an image in pixels
constexpr float kContent = 20.0F;  // pixels; digits are scaled into a box of this side, as in MNIST

// A stroke is a smooth curve through its knots; its direction may change abruptly at a corner.
// Knots are in hundredths of a digit's height, x to the right, y down.
struct Knot {
  int x, y;
  bool corner = false;
};
constexpr bool kCorner = true;
using Skeleton = std::vector<std::vector<Knot>>;  // strokes

/// Several ways of writing each digit.
const std::array<std::vector<Skeleton>, 10>& skeletons() {
  // clang-format off
  static const std::array<std::vector<Skeleton>, 10> table = {{
      {// 0: an oval, an oval with an overhang, a circle
       {{{48, 3}, {24, 8}, {6, 35}, {5, 65}, {21, 94}, {44, 95}, {65, 68}, {66, 34}, {50, 6},
         {36, 3}}},
       {{{60, 9}, {40, 0}, {16, 18}, {4, 55}, {17, 93}, {42, 97}, {61, 68}, {62, 32}, {46, 5},
         {36, 10}}},
       {{{45, 0}, {14, 14}, {0, 50}, {14, 87}, {45, 100}, {76, 87}, {90, 50}, {76, 13}, {45, 0}}}},
      {// 1: a line (twice: the usual way), a bent line, with a serif, with serif and base
       {{{30, 0}, {30, 50}, {30, 100}}},
       {{{30, 0}, {30, 50}, {30, 100}}},
       {{{34, 0}, {29, 40}, {31, 100}}},
       {{{14, 24}, {26, 13}, {37, 0, kCorner}, {36, 50}, {35, 100}}},
       {{{12, 22}, {35, 0, kCorner}, {35, 50}, {35, 98}}, {{8, 99}, {35, 98}, {62, 98}}}},
      {// 2: an angle at the foot, a loop, a wave, a flat low foot
       {{{5, 22}, {20, 4}, {45, 2}, {60, 20}, {52, 45}, {25, 76}, {2, 97, kCorner}, {35, 96},
         {68, 96}}},
       {{{5, 20}, {25, 2}, {54, 8}, {58, 32}, {40, 65}, {17, 92}, {3, 90}, {7, 75}, {24, 77},
         {44, 93}, {70, 94}}},
       {{{8, 16}, {34, 0}, {58, 15}, {50, 45}, {24, 76}, {3, 95, kCorner}, {22, 87}, {45, 95},
         {70, 86}}},
       {{{2, 12}, {24, 0}, {50, 10}, {54, 38}, {34, 72}, {8, 94, kCorner}, {40, 97}, {78, 100}}}},
      {// 3: two bows, a flat top, a loop at the waist
       {{{5, 12}, {30, 0}, {54, 13}, {48, 36}, {24, 47, kCorner}, {52, 55}, {61, 77}, {40, 98},
         {15, 97}, {0, 85}}},
       {{{5, 4}, {30, 4}, {57, 2, kCorner}, {27, 40, kCorner}, {51, 46}, {61, 70}, {42, 96},
         {15, 98}, {0, 87}}},
       {{{4, 15}, {28, 0}, {52, 13}, {44, 37}, {25, 48}, {18, 42}, {28, 40}, {52, 54}, {58, 79},
         {34, 100}, {0, 88}}}},
      {// 4: open and angular, closed, open and round, with a long bar
       {{{14, 3}, {9, 28}, {5, 53, kCorner}, {32, 54}, {66, 49}}, {{59, 6}, {55, 50}, {50, 100}}},
       {{{48, 0}, {26, 30}, {2, 63, kCorner}, {36, 63}, {74, 60}}, {{49, 0}, {49, 50}, {47, 100}}},
       {{{10, 6}, {4, 34}, {15, 53}, {40, 50}, {58, 36}}, {{64, 2}, {58, 36}, {50, 100}}},
       {{{20, 0}, {12, 25}, {2, 48, kCorner}, {38, 46}, {82, 41}}, {{55, 14}, {49, 55},
         {42, 100}}}},
      {// 5: with a separate hat, in one go, smooth as an S
       {{{12, 4}, {8, 42, kCorner}, {31, 37}, {56, 51}, {58, 76}, {38, 97}, {13, 96}, {0, 87}},
        {{12, 4}, {36, 4}, {62, 0}}},
       {{{63, 2}, {42, 3}, {19, 4, kCorner}, {11, 42, kCorner}, {36, 38}, {58, 56}, {54, 83},
         {29, 100}, {0, 91}}},
       {{{62, 2}, {37, 4}, {19, 15}, {18, 35}, {37, 47}, {54, 63}, {47, 87}, {24, 100}, {0, 91}}}},
      {// 6: a bow, a straight stem, a curl
       {{{48, 0}, {20, 30}, {4, 65}, {15, 95}, {40, 98}, {56, 78}, {45, 58}, {22, 62}, {7, 79}}},
       {{{28, 0}, {12, 38}, {8, 74}, {26, 99}, {52, 92}, {58, 69}, {40, 55}, {12, 70}}},
       {{{56, 9}, {41, 0}, {15, 22}, {2, 60}, {12, 93}, {38, 100}, {56, 80}, {45, 60}, {24, 59},
         {6, 76}}}},
      {// 7: plain, with a bar, with a serif, round
       {{{2, 6}, {30, 5}, {61, 3, kCorner}, {42, 45}, {26, 100}}},
       {{{2, 5}, {30, 4}, {60, 2, kCorner}, {42, 45}, {28, 100}}, {{16, 52}, {36, 50}, {58, 47}}},
       {{{3, 20}, {6, 4, kCorner}, {34, 4}, {61, 3, kCorner}, {41, 48}, {31, 100}}},
       {{{0, 12}, {22, 3}, {52, 2}, {56, 17}, {38, 54}, {29, 100}}}},
      {// 8: in one go from the right, two rings, open at the top
       {{{51, 13}, {31, 0}, {11, 14}, {19, 36}, {42, 55}, {55, 78}, {34, 100}, {9, 88}, {14, 67},
         {36, 47}, {53, 28}, {50, 10}}},
       {{{32, 46}, {12, 31}, {14, 9}, {34, 0}, {52, 11}, {51, 32}, {32, 46}},
        {{32, 46}, {8, 62}, {5, 87}, {30, 100}, {57, 89}, {57, 62}, {32, 46}}},
       {{{56, 6}, {28, 3}, {9, 18}, {20, 39}, {44, 57}, {52, 80}, {30, 100}, {6, 86}, {14, 64},
         {40, 40}, {64, 8}}}},
      {// 9: a straight stem, a curved tail, a slanting stem
       {{{56, 13}, {36, 0}, {11, 11}, {5, 34}, {24, 48}, {47, 36}, {57, 9, kCorner}, {54, 52},
         {49, 100}}},
       {{{55, 14}, {32, 0}, {8, 14}, {7, 38}, {29, 47}, {50, 32}, {57, 10, kCorner}, {57, 52},
         {45, 89}, {22, 100}, {3, 88}}},
       {{{59, 18}, {41, 2}, {13, 9}, {3, 33}, {19, 48}, {42, 40}, {58, 15}, {48, 56}, {28, 100}}}},
  }};
  // clang-format on
  return table;
}

struct Point {
  float x, y;
};
using Curve = std::vector<Point>;

/// Returns the Catmull-Rom spline through randomly jittered knots, as a line of short segments.
Curve bend(const std::vector<Knot>& knots, float jitter, RandomStream& random) {
  constexpr int kSteps = 5;
  Curve control;
  for (std::size_t i = 0; i < knots.size(); ++i) {
    const bool end = i == 0 || i + 1 == knots.size();
    const float spread = end ? 1.5F * jitter : jitter;
    const Point moved{0.01F * static_cast<float>(knots[i].x) + spread * random.normal(),
                      0.01F * static_cast<float>(knots[i].y) + spread * random.normal()};
    const bool twice = end || knots[i].corner;  // a doubled point breaks the tangent
    control.insert(control.end(), twice ? 2 : 1, moved);
  }
  Curve curve{control.front()};
  for (std::size_t i = 1; i + 2 < control.size(); ++i) {
    const auto [a, b, c, d] =
        std::array{control[i - 1], control[i], control[i + 1], control[i + 2]};
    if (b.x == c.x && b.y == c.y) continue;
    for (int step = 1; step <= kSteps; ++step) {
      const float t = static_cast<float>(step) / kSteps;
      const auto blend = [t](float p, float q, float r, float s) {
        return q + 0.5F * t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)));
      };
      curve.push_back({blend(a.x, b.x, c.x, d.x), blend(a.y, b.y, c.y, d.y)});
    }
  }
  return curve;
}

/// The handwriting of one writer, as a distortion: proportions, waves, slant, width, rotation.
class Hand {
 public:
  explicit Hand(RandomStream& random)
      : proportion_(random.uniform(-0.11F, 0.11F)),
        wave_{0.032F * random.normal(), 0.032F * random.normal()},
        phase_{random.uniform(0.0F, kTurn), random.uniform(0.0F, kTurn)},
        slant_(std::clamp(0.13F + 0.27F * random.normal(), -0.45F, 0.70F)),
        width_(std::exp(0.22F * random.normal())) {
    const float angle = 0.13F * random.normal();
    cos_ = std::cos(angle);
    sin_ = std::sin(angle);
  }

  Point operator()(Point p) const {
    const float y = p.y + proportion_ * std::sin(0.5F * kTurn * p.y) +
                    wave_.y * std::sin(kTurn * p.x + phase_.y);
    const float x =
        width_ * (p.x + wave_.x * std::sin(kTurn * p.y + phase_.x)) - slant_ * (y - 0.5F);
    return {cos_ * x - sin_ * y, sin_ * x + cos_ * y};
  }

 private:
  static constexpr float kTurn = 2.0F * std::numbers::pi_v<float>;
  float proportion_;
  Point wave_, phase_;
  float slant_, width_;
  float cos_, sin_;
};

/// Scales the strokes so that their larger side is `extent` pixels, and moves the centre of their
/// ink to the centre of the image.
void fit(std::vector<Curve>& strokes, float extent) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Point low{kInfinity, kInfinity}, high{-kInfinity, -kInfinity}, centre{0, 0};
  float ink = 0;
  for (const Curve& stroke : strokes)
    for (std::size_t i = 0; i < stroke.size(); ++i) {
      const Point p = stroke[i];
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
      if (i == 0) continue;
      const Point q = stroke[i - 1];
      const float length = std::hypot(p.x - q.x, p.y - q.y);
      centre = {centre.x + 0.5F * length * (p.x + q.x), centre.y + 0.5F * length * (p.y + q.y)};
      ink += length;
    }
  const float scale = extent / std::max(high.x - low.x, high.y - low.y);
  for (Curve& stroke : strokes)
    for (Point& p : stroke)
      p = {0.5F * kSide + scale * (p.x - centre.x / ink),
           0.5F * kSide + scale * (p.y - centre.y / ink)};
}

struct Pen {
  float radius;    // pixels
  float softness;  // width in pixels of the transition from full ink to none
};

/// Inks the pixels near the segment from a to b by their distance to it, which anti-aliases it.
void draw_segment(Point a, Point b, Pen pen, std::span<float> image) {
  const float reach = pen.radius + 0.5F * pen.softness;
  const auto first = [&](float u, float v) {
    return std::clamp(static_cast<int>(std::min(u, v) - reach), 0, kSide);
  };
  const auto last = [&](float u, float v) {
    return std::clamp(static_cast<int>(std::max(u, v) + reach) + 1, 0, kSide);
  };
  const Point d{b.x - a.x, b.y - a.y};
  const float inverse = 1.0F / std::max(d.x * d.x + d.y * d.y, 1e-12F);
  for (int row = first(a.y, b.y); row < last(a.y, b.y); ++row)
    for (int col = first(a.x, b.x); col < last(a.x, b.x); ++col) {
      const Point p{static_cast<float>(col) + 0.5F - a.x, static_cast<float>(row) + 0.5F - a.y};
      const float t = std::clamp((p.x * d.x + p.y * d.y) * inverse, 0.0F, 1.0F);
      const Point away{p.x - t * d.x, p.y - t * d.y};
      const float distance = std::sqrt(away.x * away.x + away.y * away.y);
      float& pixel = image[row * kSide + col];
      pixel = std::max(pixel, std::min(1.0F, (reach - distance) / pen.softness));
    }
}

/// Draws one digit into `pixels` (kSide, kSide).
void draw_digit(int digit, RandomStream& random, std::span<std::uint8_t> pixels) {
  const std::vector<Skeleton>& ways = skeletons()[digit];
  const Skeleton& skeleton = ways[random.below(static_cast<int>(ways.size()))];
  const Hand hand(random);
  const Pen pen{std::clamp(1.3F * std::exp(0.25F * random.normal()), 0.75F, 1.95F),
                random.uniform(1.1F, 1.9F)};
  const float jitter = random.uniform(0.008F, 0.040F);
  std::vector<Curve> strokes;
  for (const std::vector<Knot>& knots : skeleton) {
    strokes.push_back(bend(knots, jitter, random));
    for (Point& p : strokes.back()) p = hand(p);
  }
  fit(strokes, random.uniform(0.92F, 1.0F) * kContent - 2.0F * pen.radius);

  std::array<float, kSide * kSide> image{};
  for (const Curve& stroke : strokes) {
    const float phase = random.uniform(0.0F, 6.0F);  // varies the pressure along the stroke
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      const float pressure = 1.0F + 0.14F * std::sin(phase + 0.13F * static_cast<float>(i));
      draw_segment(stroke[i - 1], stroke[i], {pen.radius * pressure, pen.softness}, image);
    }
  }
  std::transform(image.begin(), image.end(), pixels.begin(),
                 [](float ink) { return static_cast<std::uint8_t>(255.0F * ink + 0.5F); });
}

/// `split` keys the random numbers. Labels are balanced and randomly ordered.
Dataset draw_set(int count, std::uint64_t seed, std::uint32_t split, Workers& workers) {
  constexpr int kChunk = 256;  // images per task
  constexpr int kClasses = 10;
  constexpr std::uint32_t kLabels = 2;  // label streams follow those of the two splits
  Dataset set;
  set.classes = kClasses;
  set.images.resize({static_cast<std::size_t>(count), kSide, kSide, 1});
  set.labels.resize({static_cast<std::size_t>(count)});
  if (count == 0) return set;
  const RandomPermutation order(count, seed, Purpose::synthetic_digits, kLabels + split);
  const std::span pixels(set.images.data(), set.images.size());
  workers.for_each((count + kChunk - 1) / kChunk, [&](int chunk) {
    for (int i = chunk * kChunk; i < std::min(count, (chunk + 1) * kChunk); ++i) {
      RandomStream random(seed, Purpose::synthetic_digits, split, static_cast<std::uint32_t>(i));
      set.labels(i) = order(i) % kClasses;
      draw_digit(set.labels(i), random,
                 pixels.subspan(std::size_t{kSide * kSide} * i, kSide * kSide));
    }
  });
  return set;
}

}  // namespace

RawDatasets draw_synthetic(int num_train, int num_test, std::uint64_t seed) {
  Workers workers(0);
  RawDatasets digits;
  digits.train = draw_set(num_train, seed, 0, workers);
  digits.test = draw_set(num_test, seed, 1, workers);
  for (int digit = 0; digit < digits.train.classes; ++digit)
    digits.class_names.push_back(std::to_string(digit));
  return digits;
}

}  // namespace saccade
