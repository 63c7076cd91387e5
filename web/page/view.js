// A scene on a canvas element: its pixels, fog over what was not looked at, and where looks went.
import {make} from 'saccade/parts';

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// (channels, rows, cols) of bytes as an image.
function imageOf(pixels, channels, rows, cols) {
  const image = new ImageData(cols, rows);
  const plane = rows * cols;
  for (let i = 0; i < plane; ++i) {
    for (let c = 0; c < 3; ++c) image.data[4 * i + c] = pixels[(channels === 3 ? c * plane : 0) + i];
    image.data[4 * i + 3] = 255;
  }
  return image;
}

function pictureOf(pixels, channels, rows, cols) {
  const picture = new OffscreenCanvas(cols, rows);
  picture.getContext('2d').putImageData(imageOf(pixels, channels, rows, cols), 0, 0);
  return picture;
}

// Where a square begins: at the nearest pixel edge, as Retina::first_edge finds it from a location in
// 32 bits, or between pixels.
const firstEdge = (location, pixels, side, smooth) => {
  const edge = 0.5 * (Math.fround(location) + 1) * pixels - 0.5 * side;
  return smooth ? edge : Math.floor(edge + 0.5 + pixels * 2 ** -23);
};

export class SceneView {
  /** `label` says what the canvas shows, to those who do not see it. */
  constructor(agent, label) {
    this.scale = 8;  // drawn pixels in a pixel of the scene
    this.element = make('canvas', {class: 'scene', role: 'img', 'aria-label': label});
    this.pen = this.element.getContext('2d');
    this.use(agent);
  }

  use(agent) {
    this.agent = agent;
    this.element.width = agent.cols * this.scale;
    this.element.height = agent.rows * this.scale;
  }

  /** The location in [-1, 1] under a pointer. */
  locationOf(event) {
    const box = this.element.getBoundingClientRect();
    const inside = (value) => Math.max(-1, Math.min(1, value));
    return [inside(2 * (event.clientX - box.left) / box.width - 1),
      inside(2 * (event.clientY - box.top) / box.height - 1)];
  }

  x(location) { return (location + 1) / 2 * this.element.width; }
  y(location) { return (location + 1) / 2 * this.element.height; }

  clear() {
    this.pen.globalAlpha = 1;
    this.pen.fillStyle = colour('--fog');
    this.pen.fillRect(0, 0, this.element.width, this.element.height);
  }

  scene(pixels) {
    const {channels, rows, cols} = this.agent;
    this.pen.imageSmoothingEnabled = false;
    this.pen.globalAlpha = 1;
    this.pen.drawImage(pictureOf(pixels, channels, rows, cols), 0, 0,
        this.element.width, this.element.height);
  }

  /** The square that scale s of a glimpse at a location covers: left, top, width, height. */
  square([x, y, zoom], s) {
    const {rows, cols, facts: {smooth}} = this.agent;
    const side = this.agent.side(s, zoom);
    return [firstEdge(x, cols, side, smooth), firstEdge(y, rows, side, smooth), side, side]
        .map((pixels) => this.scale * pixels);
  }

  /** What scale s of a glimpse at a location shows; 0 is the finest. */
  glimpse(numbers, place, s) {
    const picture = scaleOf(numbers, s, this.agent.facts.retina.patch, this.agent.channels);
    this.pen.imageSmoothingEnabled = false;
    this.pen.drawImage(picture, ...this.square(place, s));
  }

  /** The outline of what each scale of a glimpse covers. */
  boxes(place, number, ink = '--look') {
    const [x, y] = place;
    for (let s = 0; s < this.agent.facts.retina.scales; ++s)
      this.outline(...this.square(place, s), ink, s === 0 ? 1 : 0.35);
    if (number !== undefined) this.word(number, this.x(x), this.y(y), ink);
  }

  outline(x, y, width, height, ink, alpha = 1) {
    this.pen.globalAlpha = alpha;
    this.pen.lineWidth = 3;
    this.pen.strokeStyle = colour(ink);
    this.pen.strokeRect(x, y, width, height);
    this.pen.globalAlpha = 1;
  }

  word(text, x, y, ink) {
    this.pen.font = 'bold 20px system-ui, sans-serif';
    this.pen.textAlign = 'center';
    this.pen.textBaseline = 'middle';
    this.pen.lineWidth = 4;
    this.pen.strokeStyle = 'black';
    this.pen.strokeText(text, x, y);
    this.pen.fillStyle = colour(ink);
    this.pen.fillText(text, x, y);
  }

  /** One look of an episode: a box, or heat where it has many places. */
  look(episode, t, ink = '--look') {
    const gaze = episode.gaze(t);
    if (!gaze) return;
    if (gaze.places.length === 1) return this.boxes(episode.location(t), t + 1, ink);
    this.heat(gaze, ink);
    const width = gaze.size[0] * this.element.width, height = gaze.size[1] * this.element.height;
    const [x, y] = gaze.places.reduce((best, place) => place[2] > best[2] ? place : best);
    this.outline(this.x(x) - width, this.y(y) - height, 2 * width, 2 * height, ink);
    this.word(t + 1, this.x(x), this.y(y), ink);
  }

  // How much weight each pixel gets, in shares of the largest.
  heat({places, size}, ink) {
    const {rows, cols} = this.agent;
    const weights = new Float32Array(rows * cols);
    const edge = (location, pixels) => Math.max(0, Math.min(pixels, Math.round((location + 1) / 2 * pixels)));
    for (const [x, y, weight] of places)
      for (let row = edge(y - size[1], rows); row < edge(y + size[1], rows); ++row)
        for (let col = edge(x - size[0], cols); col < edge(x + size[0], cols); ++col)
          weights[row * cols + col] += weight;
    const most = weights.reduce((most, weight) => Math.max(most, weight), 0);
    if (most === 0) return;  // all places lie beyond the canvas
    this.pen.fillStyle = colour(ink);
    weights.forEach((weight, i) => {
      this.pen.globalAlpha = 0.6 * weight / most;
      this.pen.fillRect(i % cols * this.scale, Math.floor(i / cols) * this.scale, this.scale, this.scale);
    });
    this.pen.globalAlpha = 1;
  }

  /** Where an agent would look next: its mean with a circle of one and of two deviations. */
  next([x, y, byX, byY]) {
    this.pen.strokeStyle = colour('--next');
    this.pen.lineWidth = 2;
    this.pen.setLineDash([8, 6]);
    for (const times of [1, 2]) {
      this.pen.beginPath();
      this.pen.ellipse(this.x(x), this.y(y), times * byX * this.element.width / 2,
          times * byY * this.element.height / 2, 0, 0, 2 * Math.PI);
      this.pen.stroke();
    }
    this.pen.setLineDash([]);
    this.cross([x, y], '--next');
  }

  cross([x, y], ink = '--look') {
    const [cx, cy] = [this.x(x), this.y(y)];
    this.pen.strokeStyle = colour(ink);
    this.pen.lineWidth = 3;
    this.pen.beginPath();
    for (const [dx, dy] of [[12, 0], [0, 12]]) {
      this.pen.moveTo(cx - dx, cy - dy);
      this.pen.lineTo(cx + dx, cy + dy);
    }
    this.pen.stroke();
  }
}

// Scale s of a glimpse, (scale, channel, row, col) in [0, 1], as a picture.
function scaleOf(numbers, s, patch, channels) {
  const size = channels * patch * patch;
  const bytes = Uint8ClampedArray.from(numbers.subarray(s * size, (s + 1) * size), (v) => 255 * v);
  return pictureOf(bytes, channels, patch, patch);
}

/** The scales of a glimpse side by side, with what each covers. */
export class RetinaView {
  constructor(agent) {
    const {patch, scales} = agent.facts.retina;
    this.agent = agent;
    this.captions = Array.from({length: scales}, () => make('figcaption', {}));
    this.pictures = Array.from({length: scales}, (_, s) => make('canvas', {
      width: patch, height: patch, role: 'img',
      'aria-label': `Scale ${s + 1} of the last glimpse`}));
    this.element = make('div', {class: 'retina'}, ...this.pictures.map((picture, s) =>
      make('figure', {}, picture, this.captions[s])));
  }

  /** A glimpse, or null, and the zoom of an agent that has one. */
  show(numbers, zoom) {
    const {patch} = this.agent.facts.retina;
    this.captions.forEach((caption, s) => {
      const side = Math.round(10 * this.agent.side(s, zoom)) / 10;
      caption.textContent = `${side} \u00d7 ${side} pixels`;
    });
    this.pictures.forEach((picture, s) => {
      const pen = picture.getContext('2d');
      pen.clearRect(0, 0, patch, patch);
      if (numbers) pen.drawImage(scaleOf(numbers, s, patch, this.agent.channels), 0, 0);
    });
  }
}
