// Change: draw a digit, choose what lies around it, and move the digit or a look.
import {Episode} from 'saccade/episode';
import {anySeed, arrowOf, Bars, choice, make, more, slider} from 'saccade/parts';
import {SceneView} from 'saccade/view';

const kOwn = 0;    // the digit that is replaced by the drawn one
const kInk = 22;   // width of the pen on a pad of 280 pixels
const kLookStep = 0.1;  // of a key, in half canvases
const kCold = -4;  // the least temperature, 1/16, and the largest, 16: powers of two

// Calls `begin` and `move` for a stroke on an element, from where a pointer goes down, also beyond the
// element, to where it goes up.
function followPointer(element, begin, move) {
  let pointer = null;
  element.addEventListener('pointerdown', (event) => {
    pointer = event.pointerId;
    element.setPointerCapture(pointer);
    begin(event);
  });
  element.addEventListener('pointermove', (event) => event.pointerId === pointer && move(event));
  for (const end of ['pointerup', 'pointercancel'])
    element.addEventListener(end, (event) => { if (event.pointerId === pointer) pointer = null; });
}

export class Change {
  constructor(root, agents) {
    this.agents = agents.filter(({about, facts}) => about.shape[3] === 1 && facts.classifies);
    if (this.agents.length === 0) {
      root.replaceChildren(make('p', {}, 'No agent of this page answers with one digit.'));
      return;
    }
    this.seed = anySeed();
    // Built once, so that it keeps the focus while what lies below it changes.
    this.choice = choice('Agent', this.agents.map((one) => one.about.name), this.agents[0].about.name,
        (name) => {
          this.forget();
          this.use(this.agents.find((one) => one.about.name === name));
        });
    this.body = make('div', {});
    root.replaceChildren(this.choice.element, this.body);
    this.forget();
    this.use(this.agents[0]);
  }

  // What was dragged: the first looks, and the upper left corner of the digit.
  forget() {
    this.moved = [];
    this.corner = null;
  }

  use(agent) {
    this.agent = agent;
    this.clutter = {'scene.num_distractors': agent.facts.num_distractors,
      'scene.distractor_size': agent.facts.distractor_size};
    this.t = agent.facts.looks - 1;
    this.explores = {};  // how widely it looks about: of Agent.play
    this.build();
    this.drawStroke([[100, 60], [180, 60], [130, 220]]);  // a seven, to begin with
    this.refresh();
  }

  build() {
    const {facts, about} = this.agent;
    this.pad = make('canvas', {class: 'pad', width: 280, height: 280, role: 'img',
      'aria-label': 'Your digit: draw with the mouse or a finger'});
    followPointer(this.pad, (event) => this.draw(event, true), (event) => this.draw(event, false));
    this.clearPad();
    this.view = new SceneView(this.agent, 'The scene with your digit');
    const scene = this.view.element;
    scene.tabIndex = 0;
    scene.setAttribute('role', 'application');
    scene.setAttribute('aria-describedby', 'change-help');
    scene.addEventListener('keydown', (event) => this.press(event));
    followPointer(scene, (event) => this.grasp(event), (event) => this.drag(event));
    this.bars = new Bars(facts.names);
    this.status = make('p', {class: 'status', role: 'status'});
    this.body.replaceChildren(
        make('div', {class: 'controls'},
            make('button', {onclick: () => { this.clearPad(); this.refresh(); }}, 'Clear the digit'),
            make('button', {onclick: () => { this.seed = anySeed(); this.forget(); this.refresh(); }},
                'Other places'),
            ...facts.has_clutter ? [this.clutterSlider('Distractors', 'scene.num_distractors', 0, 16),
              this.clutterSlider('Their size', 'scene.distractor_size', 2, about.shape[1])] : [],
            slider('Look', {min: 1, max: facts.looks, step: 1, value: this.t + 1,
              onchange: (value) => { this.t = value - 1; this.refresh(); }}).element,
            ...this.explorationSliders()),
        make('div', {class: 'columns three'},
            make('div', {}, make('h2', {}, 'Draw a digit'), this.pad),
            make('div', {}, make('h2', {}, 'The scene'), this.view.element,
                make('p', {id: 'change-help', class: 'hint'}, this.hint(),
                    more('looking.html', 'Where to look'))),
            make('div', {}, make('h2', {}, 'What the agent believes'), this.status,
                this.bars.element)));
  }

  hint() {
    const {points, spreads, gazes} = this.agent.facts;
    return (points ? 'Drag the digit. Drag elsewhere to move the chosen look: those before it stay, those after ' +
        'it follow. With a keyboard: arrow keys move the digit, with Shift the look. ' :
        'Drag the digit, or move it with arrow keys. ') +
        (spreads ? 'Heat shows where the agent looks. ' :
          gazes && !points ? 'Boxes show where the agent looks. ' : '');
  }

  clutterSlider(label, key, min, max) {
    return slider(label, {min, max, step: 1, value: this.clutter[key],
      onchange: (value) => { this.clutter[key] = value; this.refresh(); }}).element;
  }

  // What the agent's way of looking has: a standard deviation of its places, a temperature of its
  // weights. Looks that are chosen one by one are sampled then, as in training.
  explorationSliders() {
    const {std, temperature, expects} = this.agent.facts;
    const use = (explores) => { this.explores = explores; this.refresh(); };
    const sliders = [];
    if (std !== null)
      sliders.push(slider('Scatter of its looks', {min: 0, max: 0.5, step: 0.01, value: 0,
        shown: (value) => value === 0 ? 'none' : value.toFixed(2),
        onchange: (value) => use(value === 0 ? {} : {samples: true, std: value})}));
    if (temperature !== null) {
      const none = kCold - 0.25;  // looks at the most probable place
      sliders.push(slider('Temperature', {min: expects ? kCold : none, max: -kCold, step: 0.25,
        value: expects ? Math.log2(temperature) : none,
        shown: (value) => value === none ? 'most probable' : (2 ** value).toFixed(2),
        onchange: (value) => use(value === none ? {} :
          {samples: !expects, temperature: 2 ** value})}));
    }
    for (const {input, element} of sliders) {
      input.classList.add('explores');
      element.title = 'How widely it looks about: more, and its looks or their weights spread';
    }
    return sliders.map(({element}) => element);
  }

  clearPad() {
    const pen = this.pad.getContext('2d', {willReadFrequently: true});
    pen.fillStyle = 'black';
    pen.fillRect(0, 0, this.pad.width, this.pad.height);
    Object.assign(pen, {lineWidth: kInk, lineCap: 'round', lineJoin: 'round', strokeStyle: 'white'});
  }

  drawStroke(points) {
    const pen = this.pad.getContext('2d');
    pen.beginPath();
    points.forEach(([x, y], i) => i === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y));
    pen.stroke();
  }

  draw(event, begins) {
    event.preventDefault();
    const box = this.pad.getBoundingClientRect();
    const at = [(event.clientX - box.left) / box.width * this.pad.width,
      (event.clientY - box.top) / box.height * this.pad.height];
    this.drawStroke([begins ? at : this.last, at]);
    this.last = at;
    this.refresh();
  }

  // The drawn digit, (rows, cols) bytes, averaged from the pad.
  digit(rows, cols) {
    const small = new OffscreenCanvas(cols, rows);
    const pen = small.getContext('2d');
    pen.imageSmoothingQuality = 'high';
    pen.drawImage(this.pad, 0, 0, cols, rows);
    const {data} = pen.getImageData(0, 0, cols, rows);
    return Uint8Array.from({length: rows * cols}, (_, i) => data[4 * i]);
  }

  // The pixel of the scene under a pointer.
  pixelOf(event) {
    const [x, y] = this.view.locationOf(event);
    return [(x + 1) / 2 * this.agent.cols, (y + 1) / 2 * this.agent.rows];
  }

  // Takes the digit, or the chosen look.
  grasp(event) {
    event.preventDefault();
    this.view.element.focus({preventScroll: true});
    const [x, y] = this.pixelOf(event);
    const [left, top, width, height] = this.box;
    const inside = x >= left && x < left + width && y >= top && y < top + height;
    this.held = inside ? [x - left, y - top] : null;
    this.drag(event);
  }

  drag(event) {
    event.preventDefault();
    if (this.held) this.moveDigit(this.pixelOf(event).map((at, i) => at - this.held[i]));
    else if (this.agent.facts.points) this.moveLook(this.view.locationOf(event));
  }

  // An arrow key moves the digit by a pixel, with Shift the chosen look.
  press(event) {
    const arrow = arrowOf(event.key);
    if (!arrow) return;
    event.preventDefault();
    if (!event.shiftKey)
      this.moveDigit(arrow.map((step, i) => this.box[i] + step));
    else if (this.agent.facts.points)
      this.moveLook(arrow.map((step, i) =>
        Math.max(-1, Math.min(1, this.episode.location(this.t)[i] + kLookStep * step))));
  }

  // Moves the upper left corner of the digit.
  moveDigit(corner) {
    const limits = [this.agent.cols - this.box[2], this.agent.rows - this.box[3]];
    this.corner = corner.map((at, i) => Math.round(Math.max(0, Math.min(limits[i], at))));
    this.refresh();
  }

  moveLook(place) {
    const places = Array.from({length: this.t}, (_, i) => this.episode.location(i));
    const [, , ...zoom] = this.episode.location(this.t);
    this.moved = [...places, [...place, ...zoom]];
    this.refresh();
  }

  // The scene with this digit where its seed places it. The other parts of the page make scenes of
  // the same agent's digits, so the one that it replaces comes back.
  sceneOf(pixels) {
    const {agent} = this;
    const replaced = agent.digit(kOwn);
    agent.setDigit(kOwn, pixels, 0);
    try {
      return agent.scene({number: kOwn, seed: this.seed, digit_order: true,
        settings: agent.facts.has_clutter ? this.clutter : {}});
    } finally {
      agent.setDigit(kOwn, replaced.pixels, replaced.label);
    }
  }

  // The scene with the digit where its seed places it, or where it was dragged to.
  scene() {
    const {agent} = this;
    const [, rows, cols] = agent.about.shape;
    const {canvas, boxes} = this.sceneOf(this.digit(rows, cols));
    const [x, y, width, height] = boxes[0];
    this.box = [...this.corner ?? [x, y], width, height];
    if (!this.corner) return canvas;
    // Only the digit leaves its place: distractors may be parts of it.
    const without = this.sceneOf(new Uint8Array(rows * cols)).canvas;
    const pixel = (left, top, i) => (top + Math.floor(i / width)) * agent.cols + left + i % width;
    const inks = this.digit(height, width);
    inks.forEach((_, i) => { canvas[pixel(x, y, i)] = without[pixel(x, y, i)]; });
    inks.forEach((ink, i) => {
      const at = pixel(...this.corner, i);
      canvas[at] = Math.min(255, canvas[at] + ink);
    });
    return canvas;
  }

  refresh() {
    const {agent} = this;
    const canvas = this.scene();
    agent.canvas = canvas;
    this.episode = new Episode(agent, agent.play({seed: this.seed, ...this.explores}, this.moved));
    this.view.scene(canvas);
    for (let t = agent.facts.spreads ? this.t : 0; t <= this.t; ++t)
      this.view.look(this.episode, t, '--agent');
    this.bars.update(this.episode.beliefs(this.t));
    this.status.textContent = `After ${this.t + 1} of ${agent.facts.looks} looks: ` +
        this.episode.answer(this.t + 1);
  }
}
