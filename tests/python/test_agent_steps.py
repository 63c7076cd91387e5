"""Single steps: the looks of a rollout, each taken once, whatever the agent and its past."""

import copy
import pickle

import numpy as np
import pytest
import saccade
from test_agents import SMALL, runs, some_images  # noqa: F401

GLIMPSES = 4
# What a step must remember: other cores, gates, reads of the states, contexts, moves, answers.
KINDS = {
    "lstm": {"model": {"core": "lstm"}},
    "gru with a gate": {"model": {"core": "gru"}, "attention": {"input": {"kind": "gate"}}},
    "feedforward": {"model": {"core": "feedforward"}},
    "attention core": {"model": {"core": "attention"}},
    "attend": {"attention": {"hidden": {"kind": "attend"}}},
    "self": {"attention": {"hidden": {"kind": "self", "hops": 2, "score_hidden": 8}}},
    "mean": {"attention": {"hidden": {"kind": "mean"}}},
    "masked": {"attention": {"hidden": {"kind": "attend", "mask": "0011"}}},
    "moves": {"attention": {"glimpse": {"moves": "relative", "max_step": 0.3}}},
    "zoom": {"attention": {"glimpse": {"zoom": {"from": 1, "to": 2}}}},
    "context": {"model": {"context": "thumbnail"}},
    "stops": {"attention": {"glimpse": {"stop": "sampled"}}},
    "embeddings": {"attention": {"glimpse": {"kind": "soft_grid", "grid": [3, 3], "stride": 6}}},
    "choices": {"attention": {"glimpse": {"kind": "hard_categorical", "grid": [3, 3], "stride": 6}}},
    "window": {"attention": {"glimpse": {"kind": "soft_gaussian", "filters": 6}}},
    "smooth": {"attention": {"glimpse": {"kind": "soft_point"}}},
}


def merged(*configs):
    result = {}
    for config in configs:
        for key, value in config.items():
            nested = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = merged(result[key], value) if nested else value
    return result


@pytest.fixture(scope="module", params=KINDS)
def agent(request, tmp_path_factory):
    base = {"attention": {"glimpse": {"kind": "hard_gaussian", "num_glimpses": GLIMPSES}}}
    folder = tmp_path_factory.mktemp("steps") / "run"
    saccade.train(merged(SMALL, base, KINDS[request.param]), out=folder, threads=1)
    return saccade.load(folder, threads=2)


@pytest.mark.parametrize("readout", ["deterministic", "sampled", "argmax"])
def test_steps_are_those_of_a_rollout(agent, readout):
    images = some_images(103)  # more than are played together
    whole = agent.rollout(images, readout=readout, seed=5)
    state = agent.start(images, readout=readout, seed=5)
    for t in range(GLIMPSES):
        look = agent.step(state)
        np.testing.assert_array_equal(look.locations, whole.locations[:, t])
        np.testing.assert_array_equal(look.probabilities, whole.probabilities[:, t])
        np.testing.assert_array_equal(look.glimpses, whole.glimpses[:, t])
        if t + 1 < GLIMPSES:
            np.testing.assert_array_equal(look.next_locations, whole.locations[:, t + 1])
    assert look.next_locations is None


def test_copies_go_their_own_ways_as_if_alone(agent):
    """They share their memory, so each must come back to its own past."""
    images, places = some_images(3), np.full((3, 2), 0.25)
    if agent.rollout(images).locations.shape[2] == 3:
        places = np.full((3, 3), 0.25)
    points = agent._facts["points"]

    def alone(turns):
        state = agent.start(images, readout="sampled", seed=2)
        return [agent.step(state, places if points and turn else None) for turn in turns][-1]

    ways = {(False,): agent.start(images, readout="sampled", seed=2)}
    agent.step(ways[(False,)])
    for _ in range(GLIMPSES - 1):  # every state, each turn once with and once without a place
        after = {}
        for turns, state in ways.items():
            for turn in (True, False):
                branch = state.copy()
                look = agent.step(branch, places if points and turn else None)
                after[(*turns, turn)] = branch
                wanted = alone((*turns, turn))
                np.testing.assert_array_equal(look.locations, wanted.locations)
                np.testing.assert_array_equal(look.probabilities, wanted.probabilities)
                if look.next_locations is not None:
                    np.testing.assert_array_equal(look.next_locations, wanted.next_locations)
        ways = after


class Counter:
    """Counts the looks that are taken."""

    def __init__(self, steps):
        self.steps, self.looks = steps, 0

    def __getattr__(self, name):
        return getattr(self.steps, name)

    def take(self, *arguments):
        self.looks += 1
        self.steps.take(*arguments)


def counted(agent, state):
    state._played = agent._play(state)
    state._played._steps = Counter(state._played._steps)
    return state._played._steps


def test_a_step_takes_one_look_and_a_branch_those_that_differ(runs, monkeypatch):  # noqa: F811
    agent = saccade.load(runs["points"])
    monkeypatch.setattr(saccade.steps.Played, "belongs_to", lambda self, agent: True)
    state = agent.start(some_images(2))
    counter = counted(agent, state)
    for looks in (1, 2, 3):
        agent.step(state)
        assert counter.looks == looks
    for looks in (4, 5):  # two branches from the same place
        agent.step(state.copy(), np.zeros((2, 2)))
        assert counter.looks == looks
    agent.step(state)
    assert counter.looks == 6


def test_a_state_follows_the_weights_and_the_agent(runs):  # noqa: F811
    agent, other = saccade.load(runs["points"]), saccade.load(runs["points"])
    images, places = some_images(3), np.full((3, 2), -0.5)
    weights = {"core.weight": 0.5 * agent.parameters["core.weight"]}

    def last(agents, edit=None):
        state = agents[0].start(images)
        for step, each in enumerate(agents):
            if step == 2 and edit is not None:
                edit.set_parameters(weights)
            look = each.step(state, places)
        return look.probabilities

    before = last([agent] * 3)
    np.testing.assert_array_equal(last([agent, other, agent]), before)
    changed = agent.with_parameters(weights)
    wanted = last([changed] * 3)
    assert (wanted != before).any()
    np.testing.assert_array_equal(last([agent, agent, changed]), wanted)
    np.testing.assert_array_equal(last([other] * 3, edit=other), wanted)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_states_can_be_stored(runs, copied):  # noqa: F811
    agent = saccade.load(runs["points"])
    state = agent.start(some_images(3))
    agent.step(state), agent.step(state, np.zeros((3, 2)))
    twin = copied(state)
    assert twin.step == 2
    np.testing.assert_array_equal(agent.step(twin).probabilities, agent.step(state).probabilities)


def test_what_was_returned_can_be_written_to(runs):  # noqa: F811
    agent = saccade.load(runs["points"])
    places = np.zeros((3, 2), np.float32)
    state, twin = agent.start(some_images(3)), agent.start(some_images(3))
    agent.step(twin, places)
    look = agent.step(state, places)
    places[:], look.locations[:], look.next_locations[:] = 1, 1, 1
    state._played = None  # so that the past is taken again
    np.testing.assert_array_equal(agent.step(state).probabilities, agent.step(twin).probabilities)


def sequences(tmp_path, hidden):
    config = {
        "name": "words",
        "scene": {"kind": "transcribe", "num_digits": 2, "canvas": [28, 56]},
        "attention": {"hidden": hidden, "glimpse": {"num_glimpses": 3}},
    }
    saccade.train(merged(SMALL, config), out=tmp_path / "run", threads=1)
    return saccade.load(tmp_path / "run")


@pytest.mark.parametrize(
    "hidden", [{"kind": "attend"}, {"kind": "last"}, {"kind": "attend", "mask": "001"}]
)
def test_sequences_are_those_of_all_looks_so_far(tmp_path, hidden):
    agent = sequences(tmp_path, hidden)
    images = np.random.default_rng(3).integers(0, 256, (3, 28, 56), dtype=np.uint8)
    whole = agent.rollout(images)
    state = agent.start(images)
    looks = [agent.step(state) for _ in range(3)]
    np.testing.assert_array_equal(looks[-1].probabilities, whole.probabilities)
    for look in looks[:-1]:
        sums = look.probabilities.sum(-1)
        if "mask" in hidden:
            assert not sums.any()
        else:
            np.testing.assert_allclose(sums, 1, atol=1e-5)
            assert (look.probabilities != whole.probabilities).any()


@pytest.mark.parametrize("model", ["whole", "cnn"])
def test_agents_that_see_the_whole_canvas(tmp_path, model):
    kind = {"attention": {"glimpse": {"kind": "whole", "order": "rows", "size": [4, 4]}}}
    if model == "cnn":
        kind = {"model": {"kind": "cnn", "channels": [4, 4], "kernel_size": 3}}
    saccade.train(merged(SMALL, kind), out=tmp_path / "run", threads=1)
    agent = saccade.load(tmp_path / "run")
    whole = agent.rollout(some_images(3))
    state = agent.start(some_images(3))
    for t in range(agent.num_glimpses):
        look = agent.step(state)
        np.testing.assert_array_equal(look.probabilities, whole.probabilities[:, t])
        assert look.glimpses is None and not look.locations.any()


def test_a_state_keeps_the_images_that_it_began_with(runs):  # noqa: F811
    agent = saccade.load(runs["points"], threads=1)
    images = some_images(2)
    state, wanted = agent.start(images), agent.start(images.copy())
    for each in (state, wanted):
        agent.step(each)
    images[:] = 0
    twin = copy.deepcopy(state)  # which plays again
    one, other = agent.step(twin), agent.step(wanted)
    np.testing.assert_array_equal(one.probabilities, other.probabilities)


@pytest.mark.parametrize("shape", [(), (2, 5), (2, 8, 8, 1, 2), (3, 2, 1, 8, 8)])
def test_glimpses_of_another_shape_are_refused(runs, shape):  # noqa: F811
    agent = saccade.load(runs["points"], threads=1)
    places = np.zeros((2, 2))
    for right in ((2, 128), (2, 2, 1, 8, 8)):
        agent.step(agent.start(size=2), places, np.zeros(right))
    with pytest.raises(saccade.InputError, match="^glimpses: shape"):
        agent.step(agent.start(size=2), places, np.zeros(shape))


def test_what_has_no_effect_or_no_name_is_refused(runs):  # noqa: F811
    agent = saccade.load(runs["points"], threads=1)
    for words, call in {
        "readout: 'x'; allowed: deterministic, sampled, argmax": lambda: agent.start(
            some_images(1), readout="x"
        ),
        "readout: None": lambda: agent.rollout(scenes=2, readout=None),
        "split: 3; allowed: train, valid, test": lambda: agent.rollout(scenes=2, split=3),
        "beam: 9, but this agent has no decoder": lambda: agent.rollout(scenes=2, beam=9),
        "scenes: has no effect with images": lambda: agent.saliency(some_images(1), scenes=7),
        "step: 2.0; allowed: an integer": lambda: agent.saliency(some_images(1), step=2.0),
        "scenes: 2.5; allowed: an integer": lambda: agent.gradients(scenes=2.5),
        "episodes: 1.5; allowed: an integer": lambda: saccade.evaluate(agent, episodes=1.5),
        "episodes: True; allowed: an integer": lambda: saccade.evaluate(agent, episodes=True),
        "draws: 'x'; allowed: an integer": lambda: saccade.evaluate(agent, draws="x"),
        "resume: 1; allowed: True, False": lambda: saccade.train(SMALL, resume=1),
        "jobs: 2.5; allowed: an integer": lambda: saccade.study(SMALL, jobs=2.5),
        "force: 1; allowed: True, False": lambda: saccade.compare(runs["points"], force=1),
        "names: [1]; allowed: texts": lambda: saccade.record(agent, names=[1]),
    }.items():
        with pytest.raises(saccade.InputError) as error:
            call()
        assert str(error.value).startswith(words)


def test_states_are_told_apart_by_being_others(runs):  # noqa: F811
    agent = saccade.load(runs["points"], threads=1)
    state, other = (agent.start(some_images(2)) for _ in range(2))
    assert state == state and state != other
    assert len({state, other, agent.step(state), agent.rollout(some_images(2))}) == 4
