// Play: a scene under fog. Look a few times, answer, and see what the agent and random looks made of
// the same scene.
import {Episode} from 'saccade/episode';
import {anySeed, arrowOf, choice, make, more, pause, plural, slider} from 'saccade/parts';
import {RetinaView, SceneView} from 'saccade/view';

const kScenes = 10;
const kSure = 0.95;  // from here on an agent stops looking that does not stop by itself
const kStepMilliseconds = 700;
const kPlayers = ['You', 'The agent', 'Random looks'];  // the last if the agent looks about

export class Play {
  constructor(root, agents) {
    this.agents = agents;
    // Built once, so that it keeps the focus while what lies below it changes.
    this.choice = choice('Against', agents.map((one) => one.about.name), agents[0].about.name,
        (name) => this.use(agents.find((one) => one.about.name === name)));
    this.body = make('div', {});
    root.replaceChildren(this.choice.element, this.body);
    this.speed = matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : kStepMilliseconds;
    this.use(agents[0]);
  }

  use(agent) {
    this.agent = agent;
    this.players = agent.facts.gazes ? ['own', 'random'] : ['own'];
    this.scene = kScenes;  // of an earlier game
    this.zoom = 1;  // of the next look, in [-1, 1]: the widest
    this.build();
    this.begin();
  }

  build() {
    const {facts} = this.agent;
    this.view = new SceneView(this.agent, 'The scene, dark where you have not looked');
    const scene = this.view.element;
    scene.tabIndex = 0;
    scene.setAttribute('role', 'application');
    scene.setAttribute('aria-describedby', 'play-help');
    scene.addEventListener('click', (event) => this.point(event));
    scene.addEventListener('keydown', (event) => this.press(event));
    this.retina = new RetinaView(this.agent);
    this.status = make('p', {class: 'status', role: 'status'});
    this.answers = facts.classifies ? this.buttons() : this.form();
    this.results = make('div', {class: 'results'});
    this.nextButton = make('button', {class: 'primary', hidden: true, onclick: () => {
      this.begin();  // hides the button
      scene.focus({preventScroll: true});
    }}, 'Next scene');
    this.body.replaceChildren(
        make('div', {class: 'columns'},
            make('div', {}, scene, make('p', {id: 'play-help', class: 'hint'},
                'Click or tap where you want to look. With a keyboard: arrow keys move the cross ' +
                '(Shift: further), Enter looks.'),
            facts.zoom ? this.zoomSlider() : null),
            make('div', {},
                this.status,
                make('h2', {}, facts.classifies ? 'What is it?' : 'Which digits, from left to right?'),
                this.answers, this.nextButton, this.results,
                make('h2', {}, 'Your last glimpse'),
                make('p', {class: 'hint'}, `A retina sees sharply only in the middle: ` +
                    `${plural(facts.retina.scales, 'picture')} of the same number of pixels, each ` +
                    'of a wider part of the scene. ', more('looking.html', 'What a scale is')),
                this.retina.element)));
  }

  // How wide the next look is.
  zoomSlider() {
    const pixels = (zoom) => `${Math.round(this.agent.side(0, zoom))} pixels`;
    return slider('Width of your next look', {min: -1, max: 1, step: 0.1, value: this.zoom, shown: pixels,
      onchange: (zoom) => {
        this.zoom = zoom;
        if (this.state === 'looking') this.draw();
      }}).element;
  }

  buttons() {
    return make('div', {class: 'answers', role: 'group', 'aria-label': 'Your answer'},
        ...this.agent.facts.names.map((name) =>
          make('button', {onclick: () => this.answer(name)}, name)));
  }

  form() {
    const input = make('input', {'aria-label': 'Your answer', autocomplete: 'off', size: 8});
    return make('form', {class: 'answers', onsubmit: (event) => {
      event.preventDefault();
      this.answer(input.value.trim() || 'nothing');
      input.value = '';
    }}, input, make('button', {}, 'Answer'));
  }

  begin() {
    if (this.scene === kScenes) {
      this.score = ['you', ...this.players].map(() => ({looks: 0, right: 0}));
      this.scene = 0;
    }
    ++this.scene;
    this.seed = anySeed();
    this.facts = this.agent.scene({number: 0, seed: this.seed});
    this.places = [];
    this.glimpses = [];
    this.cross = [0, 0];
    this.state = 'looking';
    this.round = (this.round ?? 0) + 1;
    this.results.replaceChildren();
    this.nextButton.hidden = true;
    this.enable(true);
    this.retina.show(null, this.zoom);
    this.draw();
    this.say(`Scene ${this.scene} of ${kScenes}. You have ${plural(this.agent.facts.looks, 'look')}.`);
  }

  enable(on) {
    for (const button of this.answers.querySelectorAll('button, input')) button.disabled = !on;
  }

  say(text) { this.status.textContent = text; }

  point(event) {
    event.preventDefault();
    this.view.element.focus({preventScroll: true});
    this.look(this.view.locationOf(event));
  }

  press(event) {
    if (this.state !== 'looking') return;
    const move = arrowOf(event.key);
    if (move) {
      const far = event.shiftKey ? 0.2 : 0.05;
      this.cross = this.cross.map((value, i) => Math.max(-1, Math.min(1, value + far * move[i])));
      this.draw();
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.look(this.cross);
    } else {
      return;
    }
    event.preventDefault();
  }

  look(place) {
    if (this.state !== 'looking') return;
    const left = this.agent.facts.looks - this.places.length;
    if (left === 0) return this.say('No look is left: what is it?');
    this.cross = place;
    this.places.push([...place, this.zoom]);
    // The other parts of the page show the agent scenes of their own.
    this.glimpses.push(this.agent.look(this.facts.canvas, ...this.places.at(-1)));
    this.retina.show(this.glimpses.at(-1), this.zoom);
    this.draw();
    this.say(left === 1 ? 'That was your last look: what is it?' :
        `${plural(left - 1, 'look')} left. Answer when you are sure.`);
  }

  draw() {
    this.view.clear();
    // The coarse scales of a later glimpse do not hide what an earlier one showed sharply.
    for (let s = this.agent.facts.retina.scales - 1; s >= 0; --s)
      this.places.forEach((place, i) => this.view.glimpse(this.glimpses[i], place, s));
    if (this.state === 'looking' && this.agent.facts.zoom)
      this.view.boxes([...this.cross, this.zoom], undefined, '--next');
    this.places.forEach((place, i) => this.view.boxes(place, i + 1));
    if (this.state === 'looking') this.view.cross(this.cross, '--next');
  }

  async answer(answer) {
    if (this.state !== 'looking') return;
    if (this.places.length === 0) return this.say('Look at least once.');
    this.state = 'watching';
    this.enable(false);
    const round = this.round;
    const own = {answer, looks: this.places.length};
    const turns = [own, ...this.players.map((player) => this.turn(player))];
    this.drawTurn(turns[0]);
    this.say(`It was ${this.facts.answer}. You said ${answer}. Now the agent looks.`);
    this.show(turns.slice(0, 1));
    for (let player = 1; player < turns.length; ++player) {
      await this.replay(turns[player], round);
      if (round !== this.round) return;
      this.show(turns.slice(0, player + 1));
    }
    this.drawTurn(turns[1]);
    this.finish(turns);
  }

  turn(player) {
    this.agent.canvas = this.facts.canvas;
    const episode = new Episode(this.agent, this.agent.play({player, seed: this.seed}));
    const looks = episode.stopsAfter(kSure);
    return {episode, looks, answer: episode.answer(looks)};
  }

  async replay(turn, round) {
    for (let looks = 0; looks <= turn.looks; ++looks) {
      this.drawTurn(turn, looks);
      await pause(this.speed);
      if (round !== this.round) return;
    }
  }

  // The first looks of a turn, on the whole scene; of many places only those of the last look.
  drawTurn(turn, looks = turn.looks) {
    this.view.scene(this.facts.canvas);
    if (!turn.episode) return this.places.forEach((place, i) => this.view.boxes(place, i + 1));
    for (let t = this.agent.facts.spreads ? Math.max(0, looks - 1) : 0; t < looks; ++t)
      this.view.look(turn.episode, t, '--agent');
  }

  show(turns) {
    const right = (turn) => turn.answer === this.facts.answer;
    this.results.replaceChildren(make('table', {},
        make('caption', {}, `The answer is ${this.facts.answer}`),
        make('thead', {}, make('tr', {}, ...['', 'Looks', 'Answer', ''].map((title) =>
          make('th', {scope: 'col'}, title)))),
        make('tbody', {}, ...turns.map((turn, i) => make('tr', {},
            make('th', {scope: 'row'}, make('button', {class: 'plain', title: 'Show these looks',
              onclick: () => this.drawTurn(turn)}, kPlayers[i])),
            make('td', {}, turn.looks), make('td', {}, turn.answer),
            make('td', {class: right(turn) ? 'right' : 'wrong'}, right(turn) ? 'right' : 'wrong'))))));
  }

  finish(turns) {
    turns.forEach((turn, i) => {
      this.score[i].looks += turn.looks;
      this.score[i].right += turn.answer === this.facts.answer ? 1 : 0;
    });
    const last = this.scene === kScenes;
    this.results.append(make('table', {class: 'score'},
        make('caption', {}, `After ${plural(this.scene, 'scene')}${last ? ': the end' : ` of ${kScenes}`}`),
        make('thead', {}, make('tr', {}, ...['', 'Right', 'Looks'].map((title) =>
          make('th', {scope: 'col'}, title)))),
        make('tbody', {}, ...this.score.map((score, i) => make('tr', {},
            make('th', {scope: 'row'}, kPlayers[i]), make('td', {}, score.right),
            make('td', {}, score.looks))))));
    this.state = 'over';
    this.say(`It was ${this.facts.answer}. ` + turns.map((turn, i) =>
      `${kPlayers[i]}: ${turn.answer} after ${plural(turn.looks, 'look')}`).join('. ') + '.');
    this.nextButton.textContent = last ? 'Play again' : 'Next scene';
    this.nextButton.hidden = false;
    this.nextButton.focus({preventScroll: true});
  }
}
