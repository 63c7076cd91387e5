// Small parts of a page.

/** An element: make('button', {class: 'x', onclick: f}, 'text', child). */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A slider with its name and its value. `shown` gives the text of a value. */
export function slider(label, {min, max, step, value, shown = String, onchange}) {
  const output = make('output', {}, shown(value));
  const input = make('input', {type: 'range', min, max, step, value, oninput: () => {
    output.textContent = shown(Number(input.value));
    onchange(Number(input.value));
  }});
  return {element: make('label', {class: 'slider'}, make('span', {}, label), input, output), input,
    output};
}

/** A choice among names. */
export function choice(label, names, chosen, onchange) {
  const select = make('select', {onchange: () => onchange(select.value)},
      ...names.map((name) => make('option', {value: name, selected: name === chosen}, name)));
  return {element: make('label', {class: 'choice'}, make('span', {}, label), select), select};
}

/** Where an arrow key points, [x, y]; undefined for other keys. */
export const arrowOf = (key) =>
  ({ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]})[key];

/**
 * Where the documentation says more: a link, if the page knows where the documentation is (it is then
 * a part of it), or else the page's name.
 */
export function more(page, title) {
  const base = document.querySelector('meta[name=documentation]').content;
  return base ? make('a', {href: base + page}, title) :
    make('cite', {}, `See \u201c${title}\u201d in the documentation.`);
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;

/** A number of scenes and of noise. */
export const anySeed = () => Math.floor(Math.random() * 2 ** 31);

/** Bars of how probable each class is; `update` takes probabilities. */
export class Bars {
  constructor(names) {
    this.names = names;
    this.rows = names.map((name) => {
      const bar = make('span', {class: 'bar'});
      const value = make('span', {class: 'value'});
      return {bar, value, row: make('li', {}, make('span', {class: 'name'}, name),
          make('span', {class: 'track'}, bar), value)};
    });
    this.element = make('ul', {class: 'bars', 'aria-label': 'How probable each answer is'},
        ...this.rows.map(({row}) => row));
  }

  update(probabilities) {
    const best = probabilities ? probabilities.indexOf(Math.max(...probabilities)) : -1;
    this.rows.forEach(({bar, value, row}, i) => {
      const percent = probabilities ? 100 * probabilities[i] : 0;
      bar.style.width = `${percent}%`;
      value.textContent = probabilities ? `${Math.round(percent)} %` : '';
      row.classList.toggle('best', i === best);
    });
  }
}
