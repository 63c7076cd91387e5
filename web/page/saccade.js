// Saccade in JavaScript: agents, their scenes and their episodes, by the program's own code compiled
// to WebAssembly (web/module/api.cpp is the other side).
//
//   const agent = await Saccade.load(bytes);  // agents/<name>.agent of `saccade export --web`
//   const glimpse = agent.look(canvas, 0.2, -0.5);
//   const episode = agent.play();
//
// saccade.d.ts describes all of it.

const text = new TextDecoder();
const bytesOf = new TextEncoder();

// The few calls of a system that the C library makes. Nothing is read or written.
function system(memory) {
  const calls = {
    fd_write(file, parts, count, written) {
      const view = new DataView(memory().buffer);
      let size = 0;
      for (let i = 0; i < count; ++i) size += view.getUint32(parts + 8 * i + 4, true);
      view.setUint32(written, size, true);
      return 0;
    },
    environ_sizes_get(count, size) {
      const view = new DataView(memory().buffer);
      view.setUint32(count, 0, true);
      view.setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    proc_exit(code) {
      throw new Error(`the module ended (${code})`);
    },
  };
  const missing = 52;  // ENOSYS
  return new Proxy(calls, {get: (known, name) => known[name] ?? (() => missing)});
}

/** An instance of the WebAssembly module, with a memory of its own. */
export class Module {
  /** `source`: the bytes of saccade.wasm, or these compiled. */
  static async load(source) {
    const self = new Module();
    const memory = () => self.wasm.memory;
    const compiled = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
    // Only what the module asks for: a proxy is no record of imports.
    const wasi = system(memory);
    const imports = {saccade: {throw_error: (at, size) => {
      throw new Error(text.decode(new Uint8Array(memory().buffer, at, size)));
    }}};
    for (const {module, name} of WebAssembly.Module.imports(compiled))
      if (module !== 'saccade') (imports[module] ??= {})[name] = wasi[name];
    const instance = await WebAssembly.instantiate(compiled, imports);
    self.wasm = instance.exports;
    self.wasm._initialize();
    return self;
  }

  /**
   * An agent. `about`: {settings, class_names, shape} as `saccade export --web` writes them;
   * `weights`: the bytes of its checkpoint; `digits`: images (shape), then a label each.
   */
  agent(about, weights, digits) {
    const number = this.withBytes([terminated(JSON.stringify(about)), weights, digits],
        (aboutAt, weightsAt, digitsAt) =>
          this.call('load', aboutAt, weightsAt, weights.length, digitsAt, digits.length));
    return new Agent(this, number, about);
  }

  // Calls a function of the module. An error leaves its stack as it was before the call.
  call(name, ...parameters) {
    const stack = this.wasm.__stack_pointer.value;
    try {
      return this.wasm[`saccade_${name}`](...parameters);
    } catch (error) {
      this.wasm.__stack_pointer.value = stack;
      throw error;
    }
  }

  // Lends copies of arrays of bytes to `use`, which gets their addresses.
  withBytes(arrays, use) {
    const places = arrays.map((array) => this.wasm.saccade_allocate(Math.max(1, array.length)));
    try {
      arrays.forEach((array, i) =>
        new Uint8Array(this.wasm.memory.buffer, places[i], array.length).set(array));
      return use(...places);
    } finally {
      for (const place of places) this.wasm.saccade_release(place);
    }
  }

  json(at) {
    const all = new Uint8Array(this.wasm.memory.buffer);
    return JSON.parse(text.decode(all.subarray(at, all.indexOf(0, at))));
  }

  // A copy of numbers in the module's memory.
  numbers(type, at, size) {
    return new type(this.wasm.memory.buffer, at, size).slice();
  }
}

// The module beside this file, loaded once.
let shared;
async function sharedModule() {
  const address = new URL('./saccade.wasm', import.meta.url);
  if (address.protocol === 'file:' && globalThis.process?.versions?.node)
    return Module.load(await (await import('node:fs/promises')).readFile(address));
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status} ${response.statusText}`);
  return Module.load(await response.arrayBuffer());
}

// The parts of an agent's file (experiments/export/agent_file.h writes it).
function unpacked(source) {
  const bytes = ArrayBuffer.isView(source) ?
    new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source);
  const mark = 'SACCADE1';
  if (text.decode(bytes.subarray(0, mark.length)) !== mark || bytes.length < 12)
    throw new Error('not an agent of `saccade export --web`: it does not begin with ' + mark);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(mark.length, true);
  let at = mark.length + 4;
  const next = (size) => {
    if (!(at + size <= bytes.length)) throw new Error('the agent\'s file is cut off');
    return bytes.subarray(at, at += size);
  };
  const {about, head, numbers, width, digits} = JSON.parse(text.decode(next(length)));
  const lengths = [head, numbers, width, digits];
  if (!lengths.every((one) => Number.isSafeInteger(one) && one >= 0) || ![2, 4].includes(width) ||
      head + width * numbers + digits !== bytes.length - at)
    throw new Error('the agent\'s file is cut off, or its lengths are wrong');
  const weights = new Uint8Array(head + width * numbers);
  weights.set(next(head));
  for (let place = width - 1; place >= 0; --place) {
    const plane = next(numbers);
    for (let i = 0; i < numbers; ++i) weights[head + width * i + place] = plane[i];
  }
  return {about, weights, digits: next(digits)};
}

export class Saccade {
  /** The agent whose file has these bytes. `module`: a Module, or the one beside this file. */
  static async load(bytes, {module} = {}) {
    const {about, weights, digits} = unpacked(bytes);
    shared ??= module ? undefined : sharedModule().catch((error) => { shared = undefined; throw error; });
    return (module ?? await shared).agent(about, weights, digits);
  }
}

// A picture as an agent sees it, (channels, rows, cols) bytes: those, or a picture of a page, whose
// red stands for grey.
function pixelsOf(picture, {channels, rows, cols}) {
  const image = picture.getContext ?
    picture.getContext('2d').getImageData(0, 0, picture.width, picture.height) : picture;
  const plane = rows * cols;
  if (image.data instanceof Uint8ClampedArray && image.width !== undefined) {
    if (image.width !== cols || image.height !== rows)
      throw new Error(`a picture of ${image.width} x ${image.height} pixels; allowed: ${cols} x ${rows}`);
    return Uint8Array.from({length: channels * plane}, (_, i) =>
      image.data[4 * (i % plane) + Math.floor(i / plane)]);
  }
  if (image.length !== channels * plane)
    throw new Error(`a canvas of ${image.length} bytes; allowed: ` +
        `${channels * plane}, (channels, rows, cols) = (${channels}, ${rows}, ${cols})`);
  return image;
}

const terminated = (string) => bytesOf.encode(string + '\0');
const asBytes = (floats) => new Uint8Array(new Float32Array(floats).buffer);

/** A trained agent and the scene before it. */
export class Agent {
  constructor(module, number, about) {
    this.module = module;
    this.number = number;
    this.about = about;
    this.facts = module.json(module.call('facts', number));
    [this.channels, this.rows, this.cols] = this.facts.canvas;
  }

  /**
   * Shows a scene: {number, seed, settings, digit_order}, all optional. Returns {answer, labels,
   * boxes, canvas}: the right answer as text and as classes, and where the digits are, in pixels.
   */
  scene(request = {}) {
    const facts = this.request('scene', request);
    return {...facts, canvas: this.canvas};
  }

  /**
   * The canvas (channels, rows, cols), bytes. It may be set to these, to an ImageData or to a canvas
   * element of its size.
   */
  get canvas() {
    return this.module.numbers(Uint8Array, this.module.call('canvas', this.number),
        this.channels * this.rows * this.cols);
  }
  set canvas(picture) {
    const pixels = pixelsOf(picture, this);
    const at = this.module.call('canvas', this.number);
    new Uint8Array(this.module.wasm.memory.buffer, at, pixels.length).set(pixels);
  }

  /** A digit of which scenes are made: {pixels, label}, its image (rows, cols, channels) and class. */
  digit(index) {
    const [, rows, cols, channels] = this.about.shape;
    return {
      pixels: this.module.numbers(Uint8Array, this.module.call('digit', this.number, index),
          rows * cols * channels),
      label: this.module.call('label', this.number, index),
    };
  }

  /** Replaces it. */
  setDigit(index, pixels, label) {
    const [, rows, cols, channels] = this.about.shape;
    if (pixels.length !== rows * cols * channels)
      throw new Error(`a digit of ${pixels.length} bytes; allowed: ${rows * cols * channels}, ` +
          `(rows, cols, channels) = (${rows}, ${cols}, ${channels})`);
    this.module.call('set_label', this.number, index, label);
    const at = this.module.call('digit', this.number, index);
    new Uint8Array(this.module.wasm.memory.buffer, at, pixels.length).set(pixels);
  }

  /**
   * What the retina sees at (x, y) in [-1, 1] of a canvas, which the agent then has before it, or, with
   * null, of the one that it has: (scale, channel, row, col), in [0, 1]. An agent with a zoom looks at
   * its closest with -1, at its widest with 1.
   */
  look(canvas, x, y, zoom = 1) {
    if (canvas) this.canvas = canvas;
    const {patch, scales} = this.facts.retina;
    return this.module.withBytes([asBytes([x, y, zoom])], (at) => this.module.numbers(
        Float32Array, this.module.call('look', this.number, at),
        scales * this.channels * patch * patch));
  }

  /** Canvas pixels, along a side, that scale s of such a glimpse covers; 0 is the finest. */
  side(s, zoom = 1) {
    const {retina: {patch, factor}, zoom: range} = this.facts;
    const pixels = range ? range.from * (range.to / range.from) ** ((1 + zoom) / 2) : 1;
    return patch * factor ** s * pixels;
  }

  /**
   * Plays an episode on the canvas: {player: 'own' or 'random', samples, seed, std, temperature};
   * the first looks go to `places`, [[x, y], ...]. Returns arrays by name, of Player::play (web/module/player.h), each
   * {shape, data}, the number `spread` and, where the answer is a sequence, its text `answer`.
   */
  play(request = {}, places = []) {
    const width = this.facts.location_size;
    const numbers = places.flatMap((place) =>
      Array.from({length: width}, (_, i) => place[i] ?? 1));
    const {spread, answer, ...arrays} = this.module.withBytes([asBytes(numbers)], (at) =>
      this.request('play', request, at, places.length));
    const episode = {spread, ...answer === undefined ? {} : {answer}};
    for (const [name, {shape, at, type}] of Object.entries(arrays)) {
      const size = shape.reduce((product, side) => product * side, 1);
      episode[name] = {shape, data: this.module.numbers(
          type === 'float32' ? Float32Array : Int32Array, at, size)};
    }
    return episode;
  }

  /** Gives its memory back to the module. Any later call fails. */
  free() {
    this.module.call('unload', this.number);
  }

  request(name, request, ...parameters) {
    return this.module.withBytes([terminated(JSON.stringify(request))], (at) =>
      this.module.json(this.module.call(name, this.number, at, ...parameters)));
  }
}
