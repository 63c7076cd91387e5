// What an agent did in an episode, as the page shows it.

const row = (array, t) => {
  const width = array.shape.slice(1).reduce((product, side) => product * side, 1);
  return array.data.subarray(t * width, (t + 1) * width);
};

export class Episode {
  constructor(agent, arrays) {
    this.agent = agent;
    this.arrays = arrays;
    this.looks = agent.facts.looks;
  }

  /** Where look t went: {places: [[x, y, weight], ...], size: [half width, half height]}. */
  gaze(t) {
    const {gaze_places: places, gaze_weights: weights, gaze_size: size} = this.arrays;
    if (!places || t < 0 || t >= this.looks) return null;
    const at = row(places, t);
    return {
      places: Array.from(row(weights, t), (weight, k) => [at[2 * k], at[2 * k + 1], weight]),
      size: row(size, t),
    };
  }

  /** The location of look t, of an agent that looks at one place at a time: [x, y] or [x, y, zoom]. */
  location(t) { return Array.from(row(this.arrays.locations, t)); }

  /**
   * Where the agent meant look t to go, with the standard deviations of its choice in training:
   * [x, y, by x, by y]; null for others than learned points.
   */
  mean(t) {
    const {means, deviations} = this.arrays;
    if (!means || t >= this.looks || Number.isNaN(row(means, t)[0])) return null;
    return [...row(means, t), ...row(deviations, t)];
  }

  /** The probability of each class after look t; null for an agent that spells. */
  beliefs(t) {
    if (!this.agent.facts.classifies || t < 0) return null;
    return Array.from(row(this.arrays.probabilities, t));
  }

  /**
   * The number of looks after which it stops: the first that is surer than the threshold, which an
   * agent that stops by itself has.
   */
  stopsAfter(threshold) {
    const {sureness} = this.arrays;
    if (!sureness) return this.looks;
    const {stops, stop_threshold: own} = this.agent.facts;
    const first = sureness.data.findIndex((sure) => sure > (stops ? own : threshold));
    return first < 0 ? this.looks : first + 1;
  }

  /** Its answer after that many looks; one that spells answers after the last. */
  answer(looks = this.looks) {
    const {names} = this.agent.facts;
    const beliefs = this.beliefs(looks - 1);
    if (beliefs) return names[beliefs.indexOf(Math.max(...beliefs))];
    return this.arrays.answer || 'nothing';
  }
}
