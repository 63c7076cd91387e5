// Asks for the page again and replaces the parts that changed. What a person set stays: switched-off
// curves, opened tables, how far one scrolled, and the focus.
'use strict';

const kMilliseconds = 2000;
const kReached = 'details, input, summary, .wide, [tabindex]';  // what can be set or focused

const parts = (page) => [...page.querySelectorAll('[data-part]')];
const before = new Map(parts(document).map((part) => [part.dataset.part, part.innerHTML]));

// A name for an element of a part, the same after the part is replaced.
function placesIn(part) {
  const counts = new Map();
  return [...part.querySelectorAll(kReached)].map((element) => {
    const within = element.closest('figure')?.id ?? '';
    const kind = `${within} ${element.tagName}.${element.className}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return [`${kind} ${counts.get(kind)}`, element];
  });
}

function replace(old, fresh) {
  const kept = new Map(placesIn(old));
  const focused = placesIn(old).find(([, element]) => element === document.activeElement)?.[0];
  old.replaceChildren(...fresh.childNodes);
  for (const [place, element] of placesIn(old)) {
    const same = kept.get(place);
    if (same?.open) element.open = true;
    if (same?.matches('input')) element.checked = same.checked;
    if (place === focused) element.focus({preventScroll: true});
  }
}

// Scrolled tables lose their place when they leave the page, so it is noted before.
function withScrolls(old, work) {
  const scrolls = new Map(placesIn(old).map(([place, element]) =>
    [place, [element.scrollLeft, element.scrollTop]]));
  work();
  for (const [place, element] of placesIn(old))
    if (scrolls.has(place)) [element.scrollLeft, element.scrollTop] = scrolls.get(place);
}

function show(page) {
  document.title = page.title;
  document.querySelector('h1').textContent = page.querySelector('h1').textContent;
  const names = (all) => all.map((part) => part.dataset.part).join();
  const state = document.querySelector('#state');
  state.textContent = page.querySelector('#state').textContent;
  state.classList.remove('lost');
  if (names(parts(page)) !== names(parts(document))) return location.reload();
  for (const fresh of parts(page)) {
    const name = fresh.dataset.part;
    if (before.get(name) === fresh.innerHTML) continue;
    before.set(name, fresh.innerHTML);
    const old = document.querySelector(`[data-part="${name}"]`);
    withScrolls(old, () => replace(old, fresh));
  }
}

async function follow() {
  if (!document.hidden) {
    try {
      const reply = await fetch(location.pathname);
      const text = await reply.text();
      if (!reply.ok) throw new Error(text);
      show(new DOMParser().parseFromString(text, 'text/html'));
    } catch (error) {
      const state = document.querySelector('#state');
      state.textContent = error instanceof TypeError ?
          'The program that follows the files has ended. These are its last figures.' : error.message;
      state.classList.add('lost');
    }
  }
  setTimeout(follow, kMilliseconds);
}

setTimeout(follow, kMilliseconds);
