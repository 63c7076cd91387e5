// Looks at the page of `saccade watch` while a run grows:
//   node watch_browser.mjs BROWSER ADDRESS RUN-FOLDER PROFILE-FOLDER [SCREENSHOTS]
// Adds rows to the run's metrics.csv. Fails with what it expected; also if the page logs an error or
// asks for anything of another address.
import assert from 'node:assert/strict';
import {appendFileSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

import {Browser} from './browser.mjs';

const [program, address, run, profile, screenshots] = process.argv.slice(2);
const metrics = join(run, 'metrics.csv');
const last = readFileSync(metrics, 'utf8').trim().split('\n').at(-1).split(',');

// One more row, `more` episodes after the last.
function grow(more) {
  appendFileSync(metrics, [Number(last[0]) + more, ...last.slice(1)].join() + '\n');
}

const kNumbers = '#train_error details table tbody tr';
const browser = new Browser(program, profile, screenshots);
try {
  let more = 0;
  for (const window of [{width: 1400, dark: false, touch: false}, {width: 390, dark: true, touch: true}]) {
    await browser.open(address, window, `document.querySelector('#train_error')`);
    await browser.checkPaper(window.dark);
    await browser.checkFits();
    assert.ok(await browser.see(`[...document.querySelectorAll('.recording img')].every((one) => one.complete && one.naturalWidth > 0)`));
    await browser.picture(`watch-${window.width}`);
    // What a person set stays when a part is replaced.
    await browser.see(`window.sameDocument = true`);
    await browser.point('#train_error summary');
    assert.ok(await browser.see(`document.querySelector('#train_error details').open`));
    const curve = window.width < 560 ? '#train_error svg:last-of-type input' : '#train_error svg input';
    await browser.point(curve);
    assert.ok(!await browser.see(`document.querySelector('${curve}').checked`));
    const rows = await browser.see(`document.querySelectorAll('${kNumbers}').length`);
    grow(more += 16);
    await browser.until(`document.querySelectorAll('${kNumbers}').length === ${rows + 1}`);
    assert.ok(await browser.see(`window.sameDocument`), 'the page was loaded anew');
    assert.ok(await browser.see(`document.querySelector('#train_error details').open`));
    assert.ok(!await browser.see(`document.querySelector('${curve}').checked`));
    assert.equal(await browser.see(`document.activeElement.tagName`), 'INPUT');
  }
  browser.checkQuiet(address);
} finally {
  await browser.close();
}
