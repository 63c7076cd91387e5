// Watch: two agents side by side on the same scene, step by step.
import {Episode} from 'saccade/episode';
import {anySeed, Bars, choice, make, more, plural, slider} from 'saccade/parts';
import {SceneView} from 'saccade/view';

const kStepMilliseconds = 900;

// One agent with its scene, what it believes, and a sentence about it.
class Panel {
  constructor(watch, agent, side) {
    this.watch = watch;
    this.choice = choice('Agent', watch.agents.map((one) => one.about.name), agent.about.name,
        (name) => {
          this.use(watch.agents.find((one) => one.about.name === name));
          watch.newScene();
        });
    this.body = make('div', {});
    this.element = make('section', {class: 'panel', 'aria-label': side}, this.choice.element, this.body);
    this.use(agent);
  }

  use(agent) {
    this.agent = agent;
    this.view = new SceneView(agent, 'The scene and where the agent looked');
    this.bars = agent.facts.classifies ? new Bars(agent.facts.names) : null;
    this.sentence = make('p', {class: 'status', role: 'status'});
    this.body.replaceChildren(
        make('p', {class: 'hint'}, agent.facts.spreads ?
            'Soft: it reads many places at once, each by its weight. Heat shows the weights. ' :
            agent.facts.gazes ? 'Hard: it looks at one place. Boxes show what its retina covers. ' :
            'It takes no glimpses, but reads the whole scene. ',
            more('looking.html', 'Where to look')),
        this.view.element, this.sentence, this.bars ? this.bars.element : '');
  }

  play(canvas, facts, seed) {
    this.facts = facts;
    this.agent.canvas = canvas;
    this.canvas = canvas;
    this.episode = new Episode(this.agent, this.agent.play({seed}));
  }

  // Whether a screen reader reads the sentence out whenever it changes.
  speak(on) { this.sentence.setAttribute('aria-live', on ? 'polite' : 'off'); }

  // After look t; -1: before the first.
  draw(t, threshold) {
    const {episode, view, agent} = this;
    const last = Math.min(t, agent.facts.looks - 1);
    view.scene(this.canvas);
    for (let i = agent.facts.spreads ? Math.max(0, last) : 0; i <= last; ++i)
      view.look(episode, i, '--agent');
    const next = last + 1 < agent.facts.looks ? episode.mean(last + 1) : null;
    if (next) view.next(next);
    this.bars?.update(episode.beliefs(last));
    this.sentence.textContent = this.said(last, threshold);
    view.element.setAttribute('aria-label', `${agent.about.name}: ${this.sentence.textContent}`);
  }

  said(t, threshold) {
    const {episode, agent} = this;
    const truth = `It is ${this.facts.answer}.`;
    const {classifies, stops} = agent.facts;
    const stop = episode.stopsAfter(threshold);
    const answer = episode.answer(stop);
    const now = t < 0 || !classifies ? '' :
        ` After ${plural(t + 1, 'look')} it thinks ${episode.answer(t + 1)}.`;
    const after = `after ${plural(stop, 'look')}`;
    const end = stops ? `It stops by itself ${after} and says ${answer}.` :
        classifies ? `It would stop ${after} and say ${answer}.` : `It says ${answer} ${after}.`;
    return `${truth}${now} ${end}`;
  }
}

export class Watch {
  constructor(root, agents) {
    this.root = root;
    this.agents = agents;
    this.threshold = 0.95;
    this.t = 0;
    const hard = agents.find((agent) => !agent.facts.spreads) ?? agents[0];
    const others = agents.filter((agent) => agent !== hard && this.fits(agent, hard));
    this.panels = [new Panel(this, hard, 'First agent')];
    const other = others.find((agent) => agent.facts.spreads) ?? others[0];
    if (other) this.panels.push(new Panel(this, other, 'Second agent'));
    this.build();
    this.newScene();
  }

  // Whether both can look at the same canvas, of the same digits, and give the same answers.
  fits(one, other) {
    const needs = ({about, facts}) => JSON.stringify([about.digits, facts.canvas, facts.names, facts.scene]);
    return needs(one) === needs(other);
  }

  build() {
    this.playButton = make('button', {class: 'primary', onclick: () => this.toggle()}, 'Play');
    this.step = slider('Look', {min: 0, max: 1, step: 1, value: 0,
      shown: (value) => value === 0 ? 'before the first' : String(value),
      onchange: (value) => { this.pause(); this.goTo(value - 1); }});
    this.stop = slider('Stops when surer than', {min: 0.5, max: 1, step: 0.01, value: this.threshold,
      shown: (value) => `${Math.round(100 * value)} %`,
      onchange: (value) => { this.threshold = value; this.draw(); }});
    this.root.replaceChildren(
        make('div', {class: 'controls'}, this.playButton,
            make('button', {onclick: () => { this.pause(); this.goTo(this.t - 1); }}, 'Back'),
            make('button', {onclick: () => { this.pause(); this.goTo(this.t + 1); }}, 'Step'),
            make('button', {onclick: () => this.newScene()}, 'New scene'),
            this.step.element, this.stop.element),
        make('p', {class: 'hint'}, 'The dashed circles show where a hard agent would look next: one ' +
            'and two standard deviations of its choice in training.'),
        make('div', {class: 'panels'}, ...this.panels.map((panel) => panel.element)));
  }

  looks() { return Math.max(...this.panels.map((panel) => panel.agent.facts.looks)); }

  newScene() {
    this.pause();
    const seed = anySeed();
    const first = this.panels[0].agent;
    const facts = first.scene({number: 0, seed});
    for (const panel of this.panels) {
      const own = this.fits(panel.agent, first) ? facts : panel.agent.scene({number: 0, seed});
      panel.play(own.canvas, own, seed);
    }
    this.step.input.max = this.looks();
    this.stop.element.hidden = !this.panels.some(({agent: {facts}}) => facts.classifies && !facts.stops);
    this.goTo(0);
  }

  goTo(t) {
    this.t = Math.max(-1, Math.min(this.looks() - 1, t));
    this.step.input.value = this.t + 1;
    this.step.output.textContent = this.t < 0 ? 'before the first' : String(this.t + 1);
    this.draw();
  }

  draw() { for (const panel of this.panels) panel.draw(this.t, this.threshold); }

  toggle() {
    if (this.timer) return this.pause();
    for (const panel of this.panels) panel.speak(false);  // only what a person steps to
    if (this.t === this.looks() - 1) this.goTo(-1);
    this.playButton.textContent = 'Pause';
    this.timer = setInterval(() => {
      if (this.t + 1 === this.looks() - 1) this.pause();
      this.goTo(this.t + 1);
    }, kStepMilliseconds);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.playButton.textContent = 'Play';
    for (const panel of this.panels) panel.speak(true);
  }
}
