/** The bytes of a file. */
export type Bytes = ArrayBuffer | ArrayBufferView;

/** A picture of the agent's size: bytes (channels, rows, cols), or a picture of a page. */
export type Picture = Uint8Array | ImageData | HTMLCanvasElement | OffscreenCanvas;

/** An instance of the WebAssembly module, with a memory of its own. Agents may share one. */
export class Module {
  private constructor();
  /** `source`: the bytes of saccade.wasm, or these compiled. */
  static load(source: BufferSource | WebAssembly.Module): Promise<Module>;
}

export class Saccade {
  private constructor();
  /**
   * The agent whose file has these bytes: agents/<name>.agent of `saccade export --web`. `module`: the
   * one it runs in; by default that of saccade.wasm beside this package's code, which is loaded once.
   */
  static load(bytes: Bytes, options?: {module?: Module}): Promise<Agent>;
}

/** What is said of an agent in its file. */
export interface About {
  name: string;
  /** The dataset of its digits. */
  digits: string;
  class_names: string[];
  /** Of the digits of which scenes are made: (count, rows, cols, channels). */
  shape: [number, number, number, number];
  /** The command that trained it, and its test error as a share, if that is of these digits. */
  command?: string;
  error?: number;
}

/** What an agent is, by its traits. */
export interface Facts {
  /** [channels, rows, cols] */
  canvas: [number, number, number];
  looks: number;
  /** Of its classes. */
  names: string[];
  /** Numbers of a location: 2, or 3 with a zoom. */
  location_size: number;
  /** Canvas pixels, along a side, in a pixel of a glimpse's finest scale; null: always one. */
  zoom: {from: number; to: number} | null;
  /** Whether it takes glimpses; otherwise it reads the whole canvas. */
  gazes: boolean;
  /** Whether each look goes to one place that may be given. */
  points: boolean;
  /** Whether its retina reads between pixels; otherwise squares begin at the nearest pixel edge. */
  smooth: boolean;
  /** Whether a look covers many places at once. */
  spreads: boolean;
  /** Whether it reads a mean over places. */
  expects: boolean;
  /**
   * The standard deviation of a sampled look, in half canvases or, of relative moves, in steps; null:
   * its looks have none.
   */
  std: number | null;
  /** The temperature of its weights over places; null: it has none. */
  temperature: number | null;
  /** Whether it answers with one class; otherwise with a sequence. */
  classifies: boolean;
  /** Whether it stops by itself: after the first look of which `sureness` is above the threshold. */
  stops: boolean;
  stop_threshold: number;
  retina: {patch: number; scales: number; factor: number};
  kind: string;
  scene: string;
  has_clutter: boolean;
  num_distractors: number;
  distractor_size: number;
}

export interface Scene {
  /** The right answer as text, and as classes. */
  answer: string;
  labels: number[];
  /** Of the digits: [x, y, width, height] in pixels. */
  boxes: [number, number, number, number][];
  /** (channels, rows, cols) */
  canvas: Uint8Array;
}

export interface SceneRequest {
  number?: number;
  seed?: number;
  /** Settings of scenes by their keys, such as {'scene.num_distractors': 4}. */
  settings?: Record<string, number | string | boolean | number[]>;
  /** Scene n shows digit n; otherwise a random one. */
  digit_order?: boolean;
}

export interface PlayRequest {
  player?: 'own' | 'random';
  /** Looks are sampled, as in training. */
  samples?: boolean;
  seed?: number;
  /** In place of its own: 0 to 2, and 0.0001 to 10000. */
  std?: number;
  temperature?: number;
}

export interface Numbers {
  shape: number[];
  data: Float32Array | Int32Array;
}

/** Arrays of an episode by name, as `saccade eval --weights` names them, and more for pictures. */
export interface Episode {
  /** The classes that were answered. */
  answers: Numbers;
  /** (looks, classes) after each look; of an agent that answers with one class. */
  probabilities: Numbers;
  /** The standard deviation of a sampled look, in half canvases; of relative moves, in steps. */
  spread: number;
  /** The answer as text, where it is a sequence. */
  answer?: string;
  [name: string]: Numbers | number | string | undefined;
}

/** A trained agent and the scene before it. */
export class Agent {
  private constructor();
  readonly about: About;
  readonly facts: Facts;
  readonly channels: number;
  readonly rows: number;
  readonly cols: number;

  /** The canvas before it; may be set to another picture of its size. */
  get canvas(): Uint8Array;
  set canvas(picture: Picture);

  /** Shows it a scene made of the digits in its file. */
  scene(request?: SceneRequest): Scene;
  /** A digit of which scenes are made: its image (rows, cols, channels) and its class. */
  digit(index: number): {pixels: Uint8Array; label: number};
  /** Replaces it. */
  setDigit(index: number, pixels: Uint8Array, label: number): void;
  /**
   * What the retina sees at (x, y) in [-1, 1] of a canvas, which the agent then has before it, or, with
   * null, of the one that it has: (scale, channel, row, col), in [0, 1]. An agent with a zoom looks at
   * its closest with -1, at its widest with 1.
   */
  look(canvas: Picture | null, x: number, y: number, zoom?: number): Float32Array;
  /** Canvas pixels, along a side, that scale s of such a glimpse covers; 0 is the finest. */
  side(s: number, zoom?: number): number;
  /** Plays an episode on its canvas. The first looks go to `places`: [x, y] or [x, y, zoom]. */
  play(request?: PlayRequest, places?: number[][]): Episode;
  /** Gives its memory back to the module. Any later call fails. */
  free(): void;
}
