// Runs the example of the package's README, and looks at what else it promises:
//   node web_package.mjs PACKAGE AGENT
// PACKAGE is build/web/package, AGENT a file of an agent `quickstart`.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const [folder, file] = process.argv.slice(2).map((path) => resolve(path));
const project = mkdtempSync(join(tmpdir(), 'saccade-package-'));
try {
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(folder, join(project, 'node_modules/saccade'));
  copyFileSync(file, join(project, 'quickstart.agent'));
  const [, example] = readFileSync(join(folder, 'README.md'), 'utf8').match(/```js\n(.*?)```/s);
  writeFileSync(join(project, 'example.mjs'), example);
  const printed = execFileSync(process.execPath, ['example.mjs'], {cwd: project, encoding: 'utf8'});
  const [answer, guess, size] = printed.trim().split(' ');

  const {Module, Saccade} = await import(pathToFileURL(join(folder, 'saccade.js')));
  const bytes = readFileSync(file);
  const agent = await Saccade.load(bytes);
  assert.equal(Number(size), agent.facts.retina.scales * agent.channels * agent.facts.retina.patch ** 2);
  const {canvas, answer: right} = agent.scene({number: 3, seed: 7});
  assert.equal(answer, right);
  assert.equal(guess, agent.facts.names[agent.play().answers.data[0]]);

  // The same glimpse of bytes, of an ImageData and of the canvas that it has.
  const glimpse = agent.look(canvas, 0.2, -0.5);
  assert.ok(glimpse.some((value) => value > 0) && glimpse.every((value) => value >= 0 && value <= 1));
  agent.canvas = new Uint8Array(canvas.length);
  assert.ok(agent.look(null, 0.2, -0.5).every((value) => value === 0));
  const data = Uint8ClampedArray.from({length: 4 * canvas.length}, (_, i) => canvas[i >> 2]);
  assert.deepEqual(agent.look({data, width: agent.cols, height: agent.rows}, 0.2, -0.5), glimpse);
  assert.deepEqual(agent.canvas, canvas);

  // How widely it looks about: the same seed, further away the larger it is.
  const places = (request) => Array.from(agent.play(request).locations.data);
  const own = places({seed: 1});
  assert.deepEqual(places({samples: true, std: 0, seed: 1}).slice(2, 4), own.slice(2, 4));
  const off = (std) => Math.abs(places({samples: true, std, seed: 1})[2] - own[2]);
  assert.ok(0 < off(0.01) && off(0.01) < off(0.1), `${off(0.01)}, ${off(0.1)}`);
  assert.throws(() => agent.play({std: -1}), /^Error: std: -1; allowed: 0 to 2$/);
  assert.throws(() => agent.play({temperature: 0}), /^Error: temperature: 0; allowed: 0.0001 to 10000$/);
  assert.deepEqual(places({seed: 1}), own, 'an error or another request changed the agent');

  // A digit of which scenes are made is replaced, and comes back.
  const shown = () => agent.scene({digit_order: true}).canvas;
  const {pixels, label} = agent.digit(0), before = shown();
  assert.equal(agent.scene({digit_order: true}).labels[0], label);
  agent.setDigit(0, new Uint8Array(pixels.length), (label + 1) % 10);
  assert.equal(agent.scene({digit_order: true}).labels[0], (label + 1) % 10);
  assert.notDeepEqual(shown(), before);
  for (const size of [0, pixels.length - 1, pixels.length + 1])
    assert.throws(() => agent.setDigit(0, new Uint8Array(size), label), /^Error: a digit of \d+ bytes; allowed: \d+, /);
  assert.throws(() => agent.setDigit(0, pixels, 10), /^Error: class 10 of digit 0; allowed: 0 to 9$/);
  assert.throws(() => agent.setDigit(250, pixels, 0), /^Error: digit 250; allowed: 0 to 249$/);
  agent.setDigit(0, pixels, label);
  assert.deepEqual(shown(), before);

  // Another instance of the module, and what is no agent.
  const module = await Module.load(readFileSync(join(folder, 'saccade.wasm')));
  const other = await Saccade.load(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), {module});
  assert.deepEqual(other.look(canvas, 0.2, -0.5), glimpse);

  // An agent that is freed gives its memory to the next; those beside it stay.
  const size_of = () => module.wasm.memory.buffer.byteLength;
  const sizes = [];
  for (let i = 0; i < 20; ++i) {
    const brief = await Saccade.load(bytes, {module});
    assert.deepEqual(brief.look(canvas, 0.2, -0.5), glimpse);
    brief.free();
    sizes.push(size_of());
    for (const use of [() => brief.play(), () => brief.canvas, () => brief.free()])
      assert.throws(use, /^Error: agent \d+ was freed or never loaded$/);
  }
  assert.ok(sizes.at(-1) - sizes[1] < bytes.length, `${sizes}`);  // holes between blocks, not 18 agents
  assert.deepEqual(other.look(canvas, 0.2, -0.5), glimpse);
  await assert.rejects(Saccade.load(new Uint8Array(100)), /not an agent of `saccade export --web`/);
  await assert.rejects(Saccade.load(bytes.subarray(0, 1000)), /the agent's file is cut off/);

  // Lengths, sides and labels that do not fit the file.
  const length = bytes.readUInt32LE(8), parts = bytes.subarray(12 + length);
  const said = JSON.parse(bytes.toString('utf8', 12, 12 + length));
  const load = (changed, rest = parts) => {
    const header = Buffer.from(JSON.stringify({...said, ...changed})), size = Buffer.alloc(4);
    size.writeUInt32LE(header.length);
    return Saccade.load(Buffer.concat([bytes.subarray(0, 8), size, header, rest]), {module});
  };
  (await load({})).free();
  for (const changed of [{numbers: 2 ** 40}, {numbers: -1}, {numbers: 1.5}, {width: 2 ** 40, numbers: 0}, {width: 3},
    {head: 2 ** 33}, {head: '8'}, {digits: said.digits - 1}, {digits: said.digits + 1}, {digits: null}])
    await assert.rejects(load(changed), /the agent's file is cut off, or its lengths are wrong/, JSON.stringify(changed));
  const [count, rows, cols] = said.about.shape;
  for (const shape of [[count + 1, rows, cols, 1], [count, rows, cols + 1, 1], [count, rows, cols, 0],
    [2 ** 16, 2 ** 16, 2 ** 16, 2 ** 16]])
    await assert.rejects(load({about: {...said.about, shape}}), /^Error: shape: \(.*\) does not fit \d+ bytes/, `${shape}`);
  const mislabelled = Buffer.from(parts);
  mislabelled[mislabelled.length - 1] = 10;
  await assert.rejects(load({}, mislabelled), /^Error: class 10 of digit 249; allowed: 0 to 9$/);
  assert.throws(() => { agent.canvas = new Uint8Array(3); }, /a canvas of 3 bytes; allowed: /);
  assert.throws(() => { agent.canvas = {data, width: 2, height: 3}; }, /a picture of 2 x 3 pixels; allowed: /);
} finally {
  rmSync(project, {recursive: true});
}
