// A browser that a test drives by its own protocol over two pipes, with real mouse, touch and key events.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';

const kPatience = 60_000;  // milliseconds

export class Browser {
  /** `program` is a Chromium, `profile` a new folder; `screenshots` a folder for picture(), or nothing. */
  constructor(program, profile, screenshots) {
    this.screenshots = screenshots;
    this.process = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic',
      '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--disable-extensions', '--disable-dev-shm-usage', '--hide-scrollbars',
      `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank'],
    {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.waiting = new Map();
    this.errors = [];
    this.requests = [];
    let rest = '';
    this.process.stdio[4].setEncoding('utf8').on('data', (data) => {
      const messages = (rest + data).split('\0');
      rest = messages.pop();
      for (const message of messages) this.receive(JSON.parse(message));
    });
  }

  receive({id, result, error, method, params}) {
    if (id) {
      const {resolve, reject} = this.waiting.get(id);
      this.waiting.delete(id);
      return error ? reject(new Error(error.message)) : resolve(result);
    }
    if (method === 'Runtime.exceptionThrown')
      this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning'].includes(params.type))
      this.errors.push(params.args.map((one) => one.value ?? one.description).join(' '));
    if (method === 'Log.entryAdded') this.errors.push(params.entry.text);
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
  }

  send(method, params = {}) {
    const id = this.last = (this.last ?? 0) + 1;
    this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId: this.session}) + '\0');
    return new Promise((resolve, reject) => this.waiting.set(id, {resolve, reject}));
  }

  /** Opens an address in a new window, and waits until an expression of the page is true. */
  async open(address, {width, dark, touch}, ready) {
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    this.session = sessionId;
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.send(`${domain}.enable`);
    await this.send('Emulation.setDeviceMetricsOverride',
        {width, height: 900, deviceScaleFactor: 1, mobile: touch});
    await this.send('Emulation.setTouchEmulationEnabled', {enabled: touch});
    await this.send('Emulation.setEmulatedMedia', {features: [
      {name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'},
      {name: 'prefers-reduced-motion', value: 'reduce'}]});
    this.touch = touch;
    await this.send('Page.navigate', {url: address});
    await this.until(ready);
  }

  async see(expression) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate',
        {expression: `(() => (${expression}))()`, returnByValue: true, awaitPromise: true});
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
    return result.value;
  }

  async until(expression) {
    const end = Date.now() + kPatience;
    while (!await this.see(`Boolean(${expression})`)) {
      if (Date.now() > end) throw new Error(`waited in vain for ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  text(selector) { return this.see(`document.querySelector('${selector}').textContent`); }

  // A click, or a tap, at a place of an element: (0, 0) is its upper left corner, (1, 1) its lower right.
  async point(selector, x = 0.5, y = 0.5, to) {
    const box = await this.see(`(() => {
      const one = document.querySelector('${selector}');
      one.scrollIntoView({block: 'center'});
      const {left, top, width, height} = one.getBoundingClientRect();
      return {left, top, width, height};
    })()`);
    const at = ([px, py]) => ({x: box.left + px * box.width, y: box.top + py * box.height});
    if (this.touch) {
      const touch = (type, points) => this.send('Input.dispatchTouchEvent', {type, touchPoints: points.map(at)});
      // Sent at once: a finger that a busy machine lifts late would be a long press, and no click.
      if (!to) return Promise.all([touch('touchStart', [[x, y]]), touch('touchEnd', [])]);
      await touch('touchStart', [[x, y]]);
      await touch('touchMove', [to]);
      return touch('touchEnd', []);
    }
    const mouse = (type, place, more = {}) => this.send('Input.dispatchMouseEvent',
        {type, button: 'left', buttons: 1, clickCount: 1, ...at(place), ...more});
    await mouse('mousePressed', [x, y]);
    if (to) await mouse('mouseMoved', to);
    return mouse('mouseReleased', to ?? [x, y], {buttons: 0});
  }

  async press(key, {shift = false} = {}) {
    const codes = {Enter: 13, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Tab: 9, End: 35, Home: 36};
    const event = {key, code: key, windowsVirtualKeyCode: codes[key], modifiers: shift ? 8 : 0,
      ...(key === 'Enter' ? {text: '\r'} : {})};
    await this.send('Input.dispatchKeyEvent', {type: 'keyDown', ...event});
    await this.send('Input.dispatchKeyEvent', {type: 'keyUp', ...event});
  }

  async picture(name) {
    if (!this.screenshots) return;
    await this.see('scrollTo(0, 0)');
    const {data} = await this.send('Page.captureScreenshot', {captureBeyondViewport: true});
    writeFileSync(join(this.screenshots, `${name}.png`), Buffer.from(data, 'base64'));
  }

  /** Nothing sticks out, nothing is called undefined, every control has a name. */
  async checkFits() {
    const text = await this.see('document.body.innerText');
    assert.ok(!/undefined|NaN|null/.test(text), text);
    assert.equal(await this.see(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth'), 0);
    assert.deepEqual(await this.see(`[...document.querySelectorAll('button, select, input, canvas')]
      .filter((one) => !(one.textContent.trim() || one.getAttribute('aria-label') || one.closest('label')))
      .map((one) => one.outerHTML)`), [], 'controls without a name');
  }

  async checkPaper(dark) {
    assert.equal(await this.see('getComputedStyle(document.body).backgroundColor'),
        dark ? 'rgb(21, 23, 27)' : 'rgb(255, 255, 255)');
  }

  /** The page logged no error and asked nobody but its own address. */
  checkQuiet(address) {
    assert.deepEqual(this.errors, []);
    assert.deepEqual(this.requests.filter((url) => !url.startsWith(address) &&
        !url.startsWith('data:') && url !== 'about:blank'), []);
  }

  async close() {
    this.session = undefined;
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    await this.send('Browser.close').catch(() => {});
    await ended;
  }
}
