// Compares what the module computes with what the program recorded (test_web_numbers.cpp):
//   node web_numbers.mjs PAGE RECORDED
// PAGE is a folder of `saccade export --web`. RECORDED has <agent>.json, which names arrays with
// their shapes, a file of 32-bit numbers for each, and <agent>.texts, the answers as text. Prints the largest differences, a look's time, and ends
// with 1 if they are too large.
import {readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const [page, recorded] = process.argv.slice(2);
const {Module, Saccade} = await import(pathToFileURL(join(page, 'saccade.js')));
const {Episode} = await import(pathToFileURL(join(page, 'episode.js')));
// Where looks are read between pixels, each follows the rounding of its place, and the next place follows it: after the eight looks of
// point60 they differ by 5e-5 half canvases, those of agents that look at whole pixels by less than 1e-6. A glimpse may then differ by what
// such a shift, in pixels, changes.
function toleranceOf(array, {kind, canvas: [, rows, cols]}) {
  if (kind !== 'soft_point') return 1e-4;
  return array === 'glimpses' ? 3e-4 * Math.max(rows, cols) / 2 : 3e-4;
}
const kCompared = ['probabilities', 'locations', 'glimpse_weights', 'stop_chances', 'glimpses'];

function recordedArrays(agent) {
  const about = JSON.parse(readFileSync(join(recorded, `${agent}.json`), 'utf8'));
  return Object.fromEntries(Object.entries(about).map(([name, {shape, type}]) => {
    const bytes = readFileSync(join(recorded, `${agent}.${name}`));
    const size = bytes.length / 4, numbers = type === 'int32' ? Int32Array : Float32Array;
    return [name, {shape, data: new numbers(bytes.buffer, bytes.byteOffset, size)}];
  }));
}

const part = ({shape, data}, n) => data.subarray(n * data.length / shape[0], (n + 1) * data.length / shape[0]);
const bytesOf = (pixels) => Uint8Array.from(pixels, (pixel) => Math.round(255 * pixel));

// Whether an agent meant to look where its deterministic pass looked, if nothing spreads that: learned points only, from the first that it
// learns to place. A relative move is sampled in units of the longest step.
function meansFit({facts, about: {settings}}, {means, deviations, spread, locations}) {
  if (!['hard_gaussian', 'soft_point'].includes(facts.kind)) return means === undefined;
  const first = settings['attention.glimpse.first'] === 'learned' ? 0 : 1;
  const unit = settings['attention.glimpse.moves'] === 'relative' ? settings['attention.glimpse.max_step'] : 1;
  if (!deviations.data.subarray(2).every((deviation) => Math.abs(deviation - spread * unit) < 1e-6)) return false;
  return Array.from({length: facts.looks}, (_, t) => [0, 1].every((axis) => {
    const mean = means.data[2 * t + axis], place = locations.data[facts.location_size * t + axis];
    return t < first ? Number.isNaN(mean) :
      settings['attention.glimpse.spread'] > 0 ? Math.abs(mean) <= 1 : Math.abs(mean - place) < 1e-6;
  })).every(Boolean);
}

let failed = false;
for (const file of readdirSync(recorded).filter((name) => name.endsWith('.json'))) {
  const name = file.replace('.json', '');
  const module = await Module.load(readFileSync(join(page, 'saccade.wasm')));
  const agent = await Saccade.load(readFileSync(join(page, 'agents', `${name}.agent`)), {module});
  const arrays = recordedArrays(name);
  const differences = {};
  const texts = JSON.parse(readFileSync(join(recorded, `${name}.texts`), 'utf8'));
  let answers = 0, said = 0, means = 0, milliseconds = 0;
  const scenes = arrays.answers.shape[0];
  for (let n = 0; n < scenes; ++n) {
    agent.canvas = bytesOf(part(arrays.canvases, n));
    const begin = performance.now();
    const played = agent.play();
    milliseconds += performance.now() - begin;
    for (const array of kCompared.filter((one) => one in arrays)) {
      const wanted = part(arrays[array], n);
      played[array].data.forEach((value, i) => {
        const difference = Math.abs(value - wanted[i]);
        if (!(difference <= (differences[array] ??= 0))) differences[array] = difference;
      });
    }
    const wanted = part(arrays.answers, n);
    if (!played.answers.data.every((value, i) => value === wanted[i])) ++answers;
    if (!agent.facts.classifies && new Episode(agent, played).answer() !== (texts[n] || 'nothing')) ++said;
    if (!meansFit(agent, played)) ++means;
  }
  // Scenes that the module makes itself.
  let canvases = 0;
  for (let n = 0; n < arrays.scenes.shape[0]; ++n) {
    const {canvas} = agent.scene({number: n, seed: 5});
    const wanted = bytesOf(part(arrays.scenes, n));
    if (!canvas.every((value, i) => value === wanted[i])) ++canvases;
  }
  const others = new Set(Array.from({length: 20}, (_, seed) => agent.scene({seed}).answer));
  const found = Object.entries(differences).map(([array, value]) => `${array} ${value.toExponential(1)}`);
  console.log(`${name}: ${scenes} scenes; differences: ${found.join(', ')}, answers ${answers}, said ${said}, means ${means}, ` +
      `scenes ${canvases}, ${others.size} other answers; ${(milliseconds / scenes / agent.facts.looks).toFixed(2)} ms a look`);
  failed ||= answers > 0 || said > 0 || means > 0 || canvases > 0 || others.size < 2 || found.length < 2 ||
      !Object.entries(differences).every(([array, value]) => value <= toleranceOf(array, agent.facts));
}
process.exit(failed ? 1 : 0);
