// Plays with a page of `saccade export --web` as people do, with real mouse, touch and key events:
//   node web_browser.mjs BROWSER PAGE PROFILE-FOLDER [SCREENSHOTS]
// PAGE is a file, opened from disk, or a folder, which is then served. Fails with what it expected;
// also if the page logs an error or asks for anything but its own files.
import assert from 'node:assert/strict';
import {readFileSync, statSync} from 'node:fs';
import {createServer} from 'node:http';
import {extname, join} from 'node:path';
import {pathToFileURL} from 'node:url';

import {Browser} from './browser.mjs';

const [program, page, profile, screenshots] = process.argv.slice(2);

// ---- A web server ----

const kTypes = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
  '.wasm': 'application/wasm'};

const server = statSync(page).isDirectory() ? createServer((request, response) => {
  const path = new URL(request.url, 'http://here').pathname.replace(/\/$/, '/index.html');
  response.setHeader('Content-Type', kTypes[extname(path)] ?? 'application/octet-stream');
  response.end(readFileSync(join(page, path)));
}) : null;
if (server) await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = server ? `http://127.0.0.1:${server.address().port}/` : pathToFileURL(page).href;

// ---- What people do ----

// How many colours the pixels of a canvas have.
const colours = (selector) => `(() => {
  const canvas = document.querySelector('${selector}');
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
  copy.drawImage(canvas, 0, 0);
  const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
})()`;

// A tap becomes a click a little later, so this waits for what it opens.
async function openTab(browser, name) {
  await browser.point(`#tab-${name}`);
  await browser.until(`!document.getElementById('${name}').hidden`);
}

async function answer(browser) {
  if (await browser.see(`Boolean(document.querySelector('#play form.answers'))`)) {
    await browser.point('#play form.answers input');
    await browser.send('Input.insertText', {text: '12'});
    await browser.press('Enter');
  } else {
    await browser.point('#play .answers button');
  }
}

// What the last look shows is what lies in its box in the scene, of the width that its caption says.
async function checkLastLook(browser) {
  const {shown, covered, side, caption} = await browser.see(`(() => {
    const {agent, view, places, glimpses, facts: {canvas}} = window.saccadePage.play;
    const {patch} = agent.facts.retina, {rows, cols} = agent;
    const [left, top, side] = view.square(places.at(-1), 0).map((pixels) => pixels / view.scale);
    // How much of pixel i lies between two edges.
    const share = (i, begin) => Math.max(0, Math.min(i + 1, begin + side) - Math.max(i, begin));
    let covered = 0;
    for (let row = 0; row < rows; ++row)
      for (let col = 0; col < cols; ++col)
        covered += share(row, top) * share(col, left) * canvas[row * cols + col] / 255 / side ** 2;
    const shown = glimpses.at(-1).subarray(0, patch ** 2).reduce((sum, pixel) => sum + pixel, 0) / patch ** 2;
    return {shown, covered, side, caption: document.querySelector('#play figcaption').textContent};
  })()`);
  assert.ok(Math.abs(shown - covered) < 1e-3, `a box of ${covered} shows ${shown}`);
  assert.ok(Math.abs(parseFloat(caption) - side) <= 0.05, `${caption}, and the box has ${side}`);
}

// Boxes begin where the retina's do, also at candidates of a grid, which lie on half pixels. Of a canvas whose
// pixels are numbered from left to right, a glimpse says where it begins.
async function checkEdges(browser) {
  const wrong = await browser.see(`(() => {
    const {agent, view} = window.saccadePage.play;
    const {rows, cols, channels, facts: {zoom}} = agent;
    if (zoom) return [];
    const numbered = Uint8Array.from({length: channels * rows * cols}, (_, i) => i % cols + 1);
    const wrong = [];
    for (let k = 0; k <= 2 * cols; ++k) {
      const x = Math.fround(k / cols - 1);
      const drawn = view.square([x, 0], 0)[0] / view.scale;
      const inside = Math.max(0, Math.ceil(-drawn));  // the first pixel of the glimpse on the canvas
      const seen = 255 * agent.look(numbered, x, 0)[inside] - 1 - inside;
      if (Math.abs(seen - drawn) > 1e-3) wrong.push([x, drawn, seen]);
    }
    return wrong;
  })()`);
  assert.deepEqual(wrong, [], 'locations, where their boxes begin, and where their glimpses do');
}

// Keys do not hide the scene again, once an answer has revealed it.
async function checkRevealed(browser) {
  const picture = () => browser.see(`document.querySelector('#play .scene').toDataURL()`);
  const revealed = await picture();
  await browser.see(`document.querySelector('#play .scene').focus()`);
  for (const key of ['ArrowRight', 'ArrowDown', 'Enter']) await browser.press(key);
  assert.ok(await picture() === revealed, 'the scene is hidden again');
  await browser.see(`document.querySelector('#play .primary').focus()`);
}

async function playByPointer(browser) {
  await checkEdges(browser);
  const fog = await browser.see(colours('#play .scene'));
  await answer(browser);
  assert.equal(await browser.text('#play .status'), 'Look at least once.');
  await browser.point('#play .scene', 0.25, 0.75);
  assert.match(await browser.text('#play .status'), /looks? left\. Answer when you are sure\./);
  await checkLastLook(browser);
  const place = await browser.see('window.saccadePage.play.places[0]');
  assert.ok(Math.abs(place[0] + 0.5) < 0.02 && Math.abs(place[1] - 0.5) < 0.02, `looked at ${place}`);
  assert.ok(await browser.see(colours('#play .scene')) > fog, 'the scene stays dark');
  await browser.point('#play .scene', 0.5, 0.4);
  await browser.picture('play-looking');
  await answer(browser);
  await browser.until(`!document.querySelector('#play .primary').hidden`);
  const rows = await browser.see(`[...document.querySelectorAll('#play .results table:first-child tbody tr')]
    .map((row) => [...row.children].map((cell) => cell.textContent))`);
  assert.deepEqual(rows.map(([name]) => name), ['You', 'The agent', 'Random looks']);
  assert.equal(rows[0][1], '2');
  for (const row of rows) assert.match(row[3], /^(right|wrong)$/);
  assert.equal(await browser.text('#play .score caption'), 'After 1 scene of 10');
  await browser.picture('play-over');
  await checkRevealed(browser);
}

// Whether the focus is on the element.
const hasFocus = (browser, selector) =>
  browser.see(`document.activeElement === document.querySelector('${selector}')`);

// Choosing another agent, and the first one again, leaves the focus where it is.
async function checkChoice(browser, part) {
  const select = `#${part} .choice select`;
  const names = await browser.see(`[...document.querySelector('${select}').options].map((one) => one.value)`);
  for (const name of [names.at(-1), names[0]]) {
    await browser.see(`(() => {
      const select = document.querySelector('${select}');
      select.focus();
      select.value = '${name}';
      select.dispatchEvent(new Event('change'));
    })()`);
    assert.equal(await browser.see(`window.saccadePage.${part}.agent.about.name`), name);
    assert.ok(await hasFocus(browser, select), `${part}: the choice of an agent loses the focus`);
  }
}

async function playByKeys(browser) {
  assert.equal(await browser.see('document.activeElement.textContent'), 'Next scene');
  await browser.press('Enter');
  assert.ok(await hasFocus(browser, '#play .scene'), 'Next scene loses the focus');
  if (await browser.see('window.saccadePage.play.agent.facts.zoom')) {
    await browser.see(`document.querySelector('#play .slider input').focus()`);
    await browser.press('Home');  // the closest
  }
  await browser.see(`document.querySelector('#play .scene').focus()`);
  for (let i = 0; i < 4; ++i) await browser.press('ArrowLeft');
  await browser.press('ArrowDown');
  await browser.press('Enter');
  const place = await browser.see('window.saccadePage.play.places[0]');
  assert.ok(Math.abs(place[0] + 0.2) < 1e-6 && Math.abs(place[1] - 0.05) < 1e-6, `looked at ${place}`);
  await checkLastLook(browser);
  const looks = await browser.see('window.saccadePage.play.agent.facts.looks');
  for (let i = 0; i < looks; ++i) await browser.press('Enter');
  assert.equal(await browser.see('window.saccadePage.play.places.length'), looks);
  assert.equal(await browser.text('#play .status'), 'No look is left: what is it?');
}

// A game goes on after the other parts of the page showed the same agent scenes of their own.
async function playOn(browser) {
  await browser.see(`document.querySelector('#tab-change').focus()`);
  await browser.press('ArrowRight');  // from the last tab to the first: Play
  await answer(browser);
  await browser.until(`!document.querySelector('#play .primary').hidden`);
  await browser.point('#play .primary');
  await browser.until(`window.saccadePage.play.places.length === 0`);
  await openTab(browser, 'watch');
  await browser.point('#watch .controls button:nth-of-type(4)');  // a new scene
  await openTab(browser, 'change');
  if (await browser.see(`Boolean(document.querySelector('#change .pad'))`))
    await browser.point('#change .controls button:nth-of-type(2)');  // other places
  await openTab(browser, 'play');
  const [x, y] = await browser.see(`(() => {
    const {facts: {boxes: [[left, top, width, height]]}, agent: {rows, cols}} = window.saccadePage.play;
    return [(left + width / 2) / cols, (top + height / 2) / rows];
  })()`);
  await browser.point('#play .scene', x, y);
  await browser.until(`window.saccadePage.play.places.length === 1`);
  await checkLastLook(browser);
}

// An agent that stops by itself does so where its own threshold says; others are asked by a slider.
async function checkStops(browser, sentences) {
  const agents = await browser.see(`window.saccadePage.watch.panels.map(({agent: {facts}, episode}) => ({
    stops: facts.stops, classifies: facts.classifies, own: facts.stop_threshold,
    sureness: Array.from(episode.arrays.sureness?.data ?? [])}))`);
  const asked = agents.some(({stops, classifies}) => classifies && !stops);
  assert.equal(await browser.see(`document.querySelectorAll('#watch .slider')[1].hidden`), !asked);
  agents.forEach(({stops, classifies, own, sureness}, i) => {
    assert.match(sentences[i], stops ? /stops by itself after/ : classifies ? /would stop after/ : /It says/);
    if (!stops) return;
    const first = sureness.findIndex((sure) => sure > own) + 1 || sureness.length;
    assert.match(sentences[i], new RegExp(`after ${first} looks?`));
  });
}

// A screen reader reads out what an agent thinks where a person steps, and not while it plays.
async function checkSpeaks(browser, on) {
  const lives = await browser.see(`[...document.querySelectorAll('#watch .panel [role=status]')].map((one) =>
    one.getAttribute('aria-live'))`);
  const panels = await browser.see('window.saccadePage.watch.panels.length');
  assert.deepEqual(lives, Array(panels).fill(on ? 'polite' : 'off'));
}

// Agents of other digits do not look at one scene.
async function checkFitting(browser) {
  assert.deepEqual(await browser.see(`(() => {
    const {watch, agents: [one]} = window.saccadePage;
    const other = {facts: one.facts, about: {...one.about, digits: 'others'}};
    return [watch.fits(one, one), watch.fits(one, other)];
  })()`), [true, false]);
}

// Heat of places beyond the canvas hides nothing, on a large canvas, too.
async function checkHeat(browser) {
  assert.ok(await browser.see(`(() => {
    const {view} = window.saccadePage.watch.panels[0];
    const large = Object.assign(Object.create(view), {agent: {rows: 512, cols: 512}});
    const before = view.element.toDataURL();
    large.heat({places: [[9, 9, 1]], size: [0.1, 0.1]}, '--agent');
    return view.element.toDataURL() === before;
  })()`), 'heat beyond the canvas hides the scene');
}

async function watch(browser) {
  await openTab(browser, 'watch');
  await checkFitting(browser);
  await checkHeat(browser);
  await checkSpeaks(browser, true);
  const said = () => browser.see(
      `[...document.querySelectorAll('#watch .panel .status')].map((one) => one.textContent)`);
  const truths = (await said()).map((sentence) => sentence.match(/^It is (.*?)\./)[1]);
  assert.equal(new Set(truths).size, 1, 'agents see different scenes');
  const shown = await browser.see(
      `[...document.querySelectorAll('#watch .panel select')].map((one) => one.value)`);
  assert.equal(new Set(shown).size, shown.length, 'one agent is there twice');
  await browser.point('#watch .controls button:nth-of-type(3)');  // a step
  await browser.until(`document.querySelector('#watch .controls .slider output').textContent === '2'`);
  const sums = await browser.see(`[...document.querySelectorAll('#watch .bars')].map((bars) =>
    [...bars.querySelectorAll('.bar')].reduce((sum, bar) => sum + parseFloat(bar.style.width), 0))`);
  for (const sum of sums) assert.ok(Math.abs(sum - 100) < 0.1, `beliefs of ${sum} %`);
  assert.ok(await browser.see(colours('#watch .scene')) > 3);
  await checkStops(browser, await said());
  if (await browser.see(`document.querySelectorAll('#watch .slider:not([hidden])').length`) > 1) {
    const all = await browser.see('window.saccadePage.watch.looks()');
    await browser.see(`document.querySelectorAll('#watch .slider input')[1].focus()`);
    await browser.press('End');
    const asked = async () => (await said()).filter((sentence) => /would stop/.test(sentence));
    for (const sentence of await asked()) assert.ok(sentence.includes(`would stop after ${all} looks`), sentence);
    await browser.press('Home');
    for (const sentence of await asked()) assert.match(sentence, /would stop after \d looks?/);
  }
  await browser.point('#watch .primary');
  await browser.until(`document.querySelector('#watch .primary').textContent === 'Pause'`);
  await checkSpeaks(browser, false);
  await browser.until(`document.querySelector('#watch .controls .slider output').textContent !== '2'`);
  await browser.point('#watch .primary');
  await browser.checkFits();
  await browser.picture('watch');
}

// Its looks, or their weights, spread as the slider says, and come back.
async function explore(browser) {
  if (!await browser.see(`Boolean(document.querySelector('#change .explores'))`)) return;
  const looks = () => browser.see(`JSON.stringify((({episode, agent}) =>
    Array.from({length: agent.facts.looks}, (_, t) => episode.gaze(t).places))(window.saccadePage.change))`);
  await browser.see(`document.querySelector('#change .explores').focus()`);
  const start = await browser.see(`document.querySelector('#change .explores').value`);
  const before = await looks();
  await browser.press('End');
  assert.notEqual(await looks(), before, 'the looks do not spread');
  const milliseconds = await browser.see(`(() => {
    const begin = performance.now();
    for (let i = 0; i < 10; ++i) window.saccadePage.change.refresh();
    return (performance.now() - begin) / 10;
  })()`);
  console.log(`a change is shown after ${milliseconds.toFixed(1)} ms`);
  await browser.see(`(() => {
    const input = document.querySelector('#change .explores');
    input.value = ${start};
    input.dispatchEvent(new Event('input'));
  })()`);
  assert.equal(await looks(), before, 'the looks do not come back');
}

// Keys move the digit, and with Shift the chosen look.
async function changeByKeys(browser) {
  const part = (name) => browser.see(`window.saccadePage.change.${name}`);
  const [left, top, width, height] = await part('box');
  const [, rows, cols] = await part('agent.facts.canvas');
  await browser.see(`document.querySelector('#change .scene').focus()`);
  await browser.press('ArrowRight');
  await browser.press('ArrowDown');
  assert.deepEqual((await part('box')).slice(0, 2),
      [Math.min(left + 1, cols - width), Math.min(top + 1, rows - height)]);
  if (!await part('agent.facts.points')) return;
  const place = () => part('episode.location(window.saccadePage.change.t)');
  const [x, y, ...zoom] = await place();
  await browser.press('ArrowLeft', {shift: true});
  const [newX, ...rest] = await place();
  assert.ok(Math.abs(newX - Math.max(-1, x - 0.1)) < 1e-6, `from ${x} to ${newX}`);
  assert.deepEqual(rest, [y, ...zoom]);
}

// A pointer that comes down elsewhere draws nothing.
async function checkStrokes(browser) {
  const ink = () => browser.see(`(() => {
    const {pad} = window.saccadePage.change;
    return pad.getContext('2d').getImageData(0, 0, pad.width, pad.height).data.reduce((sum, one) => sum + one, 0);
  })()`);
  const before = await ink();
  await browser.point('#change .pad', 0.5, -0.05, [0.9, 0.95]);
  assert.equal(await ink(), before, 'a stroke from beyond the pad draws on it');
}

// A distractor that is cut from the drawn digit stays while that digit is dragged.
async function checkDistractors(browser) {
  const {found, lost} = await browser.see(`(() => {
    const {change} = window.saccadePage, {agent, seed} = change, [, rows, cols] = agent.about.shape;
    const outside = (i, [left, top, width, height]) => {
      const x = i % agent.cols - left, y = Math.floor(i / agent.cols) - top;
      return x < 0 || x >= width || y < 0 || y >= height;
    };
    if (!agent.facts.has_clutter) return {found: true, lost: 0};
    change.clutter['scene.num_distractors'] = 16;
    let found = false, lost = 0;
    for (change.seed = 0; change.seed < 1000 && !found; ++change.seed) {
      change.corner = null;
      const before = change.scene(), place = change.box;
      const blank = change.sceneOf(new Uint8Array(rows * cols)).canvas;
      found = before.some((pixel, i) => outside(i, place) && pixel !== blank[i]);
      change.corner = [0, 0];
      change.scene().forEach((pixel, i) => {
        if (outside(i, place) && outside(i, change.box) && pixel !== before[i]) ++lost;
      });
    }
    change.clutter['scene.num_distractors'] = agent.facts.num_distractors;
    change.seed = seed;
    change.forget();
    change.refresh();
    return {found, lost};
  })()`);
  assert.ok(found, 'no distractor is cut from the drawn digit');
  assert.equal(lost, 0, 'pixels of distractors vanish');
}

async function change(browser) {
  // Scenes of the digits that are replaced while a person draws.
  const scenes = () => browser.see(
      `window.saccadePage.agents.map((agent) => agent.scene({digit_order: true}).canvas.join())`);
  const own = await scenes();
  await openTab(browser, 'change');
  await browser.checkFits();
  if (!await browser.see(`Boolean(document.querySelector('#change .pad'))`)) return;
  const scene = () => browser.see(
      'window.saccadePage.change.agent.canvas.reduce((sum, pixel) => sum + pixel, 0)');
  const beliefs = () => browser.see(
      `[...document.querySelectorAll('#change .value')].map((one) => one.textContent).join()`);
  await checkChoice(browser, 'change');
  await checkStrokes(browser);
  await checkDistractors(browser);
  const before = await scene();
  await browser.point('#change .pad', 0.2, 0.2, [0.8, 0.9]);
  assert.ok(await scene() > before, 'a stroke changes nothing');
  if (await browser.see('window.saccadePage.change.agent.facts.has_clutter')) {
    await browser.see(`document.querySelector('#change .slider input').focus()`);
    await browser.press('End');
    const most = await scene();
    await browser.press('Home');
    assert.ok(await scene() < most, 'the distractors stay');
  }
  await explore(browser);
  // The digit to the upper left, then the last look to the lower right.
  const part = (name) => browser.see(`window.saccadePage.change.${name}`);
  const share = async () => {
    const [left, top, width, height] = await part('box');
    const [, rows, cols] = await part('agent.facts.canvas');
    return [(left + width / 2) / cols, (top + height / 2) / rows];
  };
  const inBox = () => browser.see(`(() => {
    const {agent, box: [left, top, width, height]} = window.saccadePage.change;
    const {canvas, cols} = agent;
    return Array.from({length: width * height}, (_, i) =>
      canvas[(top + Math.floor(i / width)) * cols + left + i % width]);
  })()`);
  const placed = await inBox();
  await browser.point('#change .scene', ...await share(), [0.02, 0.02]);
  assert.deepEqual((await part('box')).slice(0, 2), [0, 0]);
  const dragged = await inBox(), sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
  const changed = sum(placed.map((pixel, i) => Math.abs(pixel - dragged[i]))) / sum(placed);
  assert.ok(changed < 0.3, `${changed} of a digit that is dragged changes`);
  await changeByKeys(browser);
  if (await part('agent.facts.points')) {
    await browser.point('#change .scene', 0.9, 0.9);
    const [x, y] = await part('episode.gaze(window.saccadePage.change.t).places[0]');
    assert.ok(Math.abs(x - 0.8) < 0.02 && Math.abs(y - 0.8) < 0.02, `the look went to ${x}, ${y}`);
  }
  assert.ok((await beliefs()).includes('%'));
  await browser.picture('change');
  assert.deepEqual(await scenes(), own, 'the digits of the agents are others');
}

const browser = new Browser(program, profile, screenshots);
try {
  for (const window of [{width: 1400, dark: false, touch: false}, {width: 390, dark: true, touch: true}]) {
    await browser.open(address, window,
        'window.saccadePage || document.querySelector("[role=alert]:not([hidden])")');
    assert.equal(await browser.text('#failed'), '');
    await browser.checkPaper(window.dark);
    await browser.checkFits();
    const pictures = browser.picture;
    browser.picture = (name) => pictures.call(browser, `${name}-${window.width}`);
    await playByPointer(browser);
    await playByKeys(browser);
    await watch(browser);
    await change(browser);
    await playOn(browser);
    await checkChoice(browser, 'play');
    browser.picture = pictures;
  }
  browser.checkQuiet(address);
  // The folder of a page, opened from disk, says what to do.
  if (server) {
    await browser.open(pathToFileURL(join(page, 'index.html')).href, {width: 1400, dark: false, touch: false},
        'document.querySelector("[role=alert]:not([hidden])")');
    assert.match(await browser.text('#failed'), /python3 -m http\.server.*--single/);
    assert.ok(await browser.see(`document.getElementById('loading') === null`), 'it says that it loads');
  }
} finally {
  await browser.close();
  server?.closeAllConnections();
  server?.close();
}
