// Saccade in JavaScript: agents, their scenes and their episodes, by the program's own code compiled
// to WebAssembly (web/module/api.cpp is the other side).
//
//   const saccade = await Saccade.load(bytes);
//   const agent = saccade.agent(about, weights, digits);
//   agent.scene({number: 3});
//   const episode = agent.play();

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

export class Saccade {
  /** Makes an instance of the module, whose bytes these are. */
  static async load(bytes) {
    const self = new Saccade();
    const memory = () => self.wasm.memory;
    const compiled = await WebAssembly.compile(bytes);
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
          this.call('load', aboutAt, weightsAt, weights.length, digitsAt));
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

const terminated = (string) => bytesOf.encode(string + '\0');
const asBytes = (floats) => new Uint8Array(new Float32Array(floats).buffer);

/** A trained agent and the scene before it. */
export class Agent {
  constructor(saccade, number, about) {
    this.saccade = saccade;
    this.number = number;
    this.about = about;
    this.facts = saccade.json(saccade.call('facts', number));
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

  /** The canvas (channels, rows, cols), bytes. */
  get canvas() {
    return this.saccade.numbers(Uint8Array, this.saccade.call('canvas', this.number),
        this.channels * this.rows * this.cols);
  }
  set canvas(pixels) {
    const at = this.saccade.call('canvas', this.number);
    new Uint8Array(this.saccade.wasm.memory.buffer, at, pixels.length).set(pixels);
  }

  /** Replaces a digit of which scenes are made by an image (rows, cols, channels) and its class. */
  setDigit(index, pixels, label) {
    const at = this.saccade.call('digit', this.number, index, label);
    new Uint8Array(this.saccade.wasm.memory.buffer, at, pixels.length).set(pixels);
  }

  /** What the retina sees at (x, y) in [-1, 1]: (scale, channel, row, col), in [0, 1]. */
  look(x, y, zoom = 1) {
    const {patch, scales} = this.facts.retina;
    return this.saccade.withBytes([asBytes([x, y, zoom])], (at) => this.saccade.numbers(
        Float32Array, this.saccade.call('look', this.number, at),
        scales * this.channels * patch * patch));
  }

  /**
   * Plays an episode on the canvas: {player: 'own' or 'random', samples, seed}; the first looks go
   * to `places`, [[x, y], ...]. Returns arrays by name, of Player::play (web/module/player.h), each
   * {shape, data}, and the number `spread`.
   */
  play(request = {}, places = []) {
    const width = this.facts.location_size;
    const numbers = places.flatMap((place) =>
      Array.from({length: width}, (_, i) => place[i] ?? 1));
    const {spread, ...arrays} = this.saccade.withBytes([asBytes(numbers)], (at) =>
      this.request('play', request, at, places.length));
    const episode = {spread};
    for (const [name, {shape, at, type}] of Object.entries(arrays)) {
      const size = shape.reduce((product, side) => product * side, 1);
      episode[name] = {shape, data: this.saccade.numbers(
          type === 'float32' ? Float32Array : Int32Array, at, size)};
    }
    return episode;
  }

  request(name, request, ...parameters) {
    return this.saccade.withBytes([terminated(JSON.stringify(request))], (at) =>
      this.saccade.json(this.saccade.call(name, this.number, at, ...parameters)));
  }
}
