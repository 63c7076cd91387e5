// Loads the module and the agents, and switches between the parts of the page.
import {Module, Saccade} from 'saccade';
import {bytesOf, jsonOf} from 'saccade/files';
import {make} from 'saccade/parts';
import {Change} from 'saccade/change';
import {Play} from 'saccade/play';
import {Watch} from 'saccade/watch';

const kParts = {play: Play, watch: Watch, change: Change};

async function loadAgents() {
  const [wasm, names] = await Promise.all([bytesOf('saccade.wasm'), jsonOf('agents.json')]);
  const module = await Module.load(wasm);
  return Promise.all(names.map(async (name) =>
    Saccade.load(await bytesOf(`agents/${name}.agent`), {module})));
}

function describe(agents) {
  document.getElementById('about').append(...agents.flatMap(({about, facts}) => [
    make('dt', {}, about.name),
    make('dd', {}, `${facts.kind}, ${facts.looks} looks; scenes of ${about.digits} digits` +
        (about.error === undefined ? '' :
          `; ${(100 * about.error).toFixed(1)} % of the test scenes wrong`),
    about.command ? make('pre', {}, about.command.trim()) : '')]));
}

function show(parts, chosen) {
  for (const name of Object.keys(kParts)) {
    const on = name === chosen;
    const tab = document.getElementById(`tab-${name}`);
    tab.setAttribute('aria-selected', on);
    tab.tabIndex = on ? 0 : -1;
    document.getElementById(name).hidden = !on;
  }
  const part = parts[chosen] ??= new kParts[chosen](document.getElementById(chosen), parts.agents);
  parts.watch?.pause?.();
  return part;
}

function followTabs(parts) {
  const names = Object.keys(kParts);
  names.forEach((name, i) => {
    const tab = document.getElementById(`tab-${name}`);
    tab.addEventListener('click', () => show(parts, name));
    tab.addEventListener('keydown', (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (!step) return;
      const next = names[(i + step + names.length) % names.length];
      show(parts, next);
      document.getElementById(`tab-${next}`).focus();
    });
  });
}

try {
  const agents = await loadAgents();
  const parts = {agents};
  describe(agents);
  followTabs(parts);
  show(parts, 'play');
  document.getElementById('loading').remove();
  window.saccadePage = parts;  // for scripts that drive the page
} catch (error) {
  window.cannotStart(error.message);  // of index.html
  throw error;
}
