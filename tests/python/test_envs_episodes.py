"""Episodes: observations, answers, rewards and settings."""

import os
import pathlib
import threading

import gymnasium as gym
import numpy as np
import pytest
import saccade
from env_cases import FAMILIES, SMALL, assert_same, make, make_vec, play
from gymnasium.vector import AutoresetMode

# Ten digits that are easy to tell apart: each is a square of a different brightness.
IMAGES = np.zeros((10, 9, 9), np.uint8)
IMAGES[:, 2:7, 2:7] = 20 * np.arange(1, 11)[:, None, None]
LABELS = np.arange(10)
WHOLE = {
    "data": {"augmentation": {"rotation": 0}},
    "images": IMAGES,
    "labels": LABELS,
    "canvas": [9, 9],
    "patch_size": 9,
    "first": "center",
}


def at(x, y, answer, **more):
    return {"location": np.array([x, y], np.float32), "answer": answer, **more}


def test_observations_show_the_image_and_info_has_its_label():
    env = make(**WHOLE, num_glimpses=3)
    for seed in range(20):
        seen, info = env.reset(seed=seed)
        assert seen["glimpse"].shape == (1, 1, 9, 9)
        assert (np.rint(seen["glimpse"][0, 0] * 255) == IMAGES[info["label"]]).all()
        assert (seen["location"] == 0).all()
        assert seen["step"] == 0
        assert info["box"].tolist() == [0, 0, 9, 9]
        assert info["on_target"] is True


def test_the_last_answer_counts():
    for right in (False, True):
        env = make(**WHOLE, num_glimpses=3)
        _, info = env.reset(seed=4)
        wrong = (info["label"] + 1) % 10
        for step in (1, 2, 3):
            last = step == 3
            answer = info["label"] if last == right else wrong
            seen, reward, terminated, truncated, info = env.step(at(0.5, -1.0, answer))
            assert (reward, terminated, truncated) == (float(last and right), last, False)
            assert seen["step"] == step
            assert seen["location"].tolist() == [0.5, -1.0]


def test_glimpses_have_a_price_and_halting_ends_the_episode():
    env = make(**WHOLE, num_glimpses=4, look_price=0.25, halt=True)
    _, info = env.reset(seed=0)
    _, reward, terminated, _, _ = env.step(at(0, 0, 0, halt=0))
    assert (reward, terminated) == (-0.25, False)
    _, reward, terminated, _, _ = env.step(at(0, 0, info["label"], halt=1))
    assert (reward, terminated) == (1.0, True)
    _, info = env.reset()
    _, reward, terminated, _, _ = env.step(at(0, 0, (info["label"] + 1) % 10, halt=1))
    assert (reward, terminated) == (0.0, True)


def test_a_bag_ends_with_its_digits():
    env = make("Bag", min_digits=1, num_glimpses=20)
    lengths = set()
    for seed in range(30):
        _, info = env.reset(seed=seed)
        digits = int((info["box"][:, 2] > 0).sum())
        steps, terminated = 0, False
        while not terminated:
            _, _, terminated, _, _ = env.step(at(0, 0, 0))
            steps += 1
        assert steps == digits
        lengths.add(steps)
    assert len(lengths) > 4


def test_a_sequence_is_right_up_to_its_end_mark():
    env = make("Transcribe", num_glimpses=1, min_digits=1)
    for seed in range(10):
        for wrong_at in (None, 0, "after"):
            _, info = env.reset(seed=seed)
            symbols = info["label"].copy()
            length = int((symbols >= 0).sum())
            assert symbols[length - 1] == 10  # the end mark
            if wrong_at == 0:
                symbols[0] = (symbols[0] + 1) % 11
            symbols[length:] = 3
            _, reward, terminated, _, _ = env.step(at(0, 0, symbols))
            assert terminated
            assert reward == (0.0 if wrong_at == 0 else 1.0)


def test_catch_rewards_each_ball():
    whole = {"patch_size": 24, "scales": 1, "num_glimpses": 46}
    envs = make_vec("Catch", 50, **whole, autoreset_mode="Disabled")
    seen, info = envs.reset(seed=0)
    assert "label" not in info
    total = np.zeros(50)
    for _ in range(46):
        paddle = seen["glimpse"][:, 0, 0, -1].argmax(axis=-1)
        follow = np.sign(info["box"][:, 0] - paddle) + 1
        action = {"location": np.zeros((50, 2), np.float32), "answer": follow}
        seen, rewards, terminated, _, info = envs.step(action)
        total += rewards
    assert terminated.all()
    assert 1.2 < total.mean() <= 2.0  # balls; a paddle that does not follow catches one in six


def test_a_search_shows_its_cue_first():
    whole = {"patch_size": 100, "scales": 1, "first": "center", "num_glimpses": 2}
    envs = make_vec("Search", 30, **whole, autoreset_mode="Disabled")
    seen, facts = envs.reset(seed=4)

    def ink(seen, boxes):
        """How much ink there is in each box (N, K), and how much there is in all (N)."""
        canvas = seen["glimpse"][:, 0, 0]
        inside = [
            [image[y : y + height, x : x + width].sum() for x, y, width, height in places]
            for image, places in zip(canvas, boxes)
        ]
        return np.array(inside), canvas.sum(axis=(1, 2))

    assert (facts["box"][:, 0] == [36, 36, 28, 28]).all() and not facts["box"][:, 1:].any()
    inside, everywhere = ink(seen, facts["box"])
    assert (inside[:, 0] > 0).all()
    np.testing.assert_allclose(inside.sum(axis=1), everywhere, rtol=1e-5)

    action = {"location": np.zeros((30, 2), np.float32), "answer": 1 - facts["label"]}
    seen, rewards, terminated, _, info = envs.step(action)
    assert not rewards.any() and not terminated.any()
    assert_same(info["label"], facts["label"])
    inside, everywhere = ink(seen, info["box"])
    digits = (info["box"][:, :, 2] > 0).sum(axis=1)
    assert {1, 8} <= set(digits) <= set(range(1, 9))
    assert ((inside > 0).sum(axis=1) == digits).all()
    np.testing.assert_allclose(inside.sum(axis=1), everywhere, rtol=1e-5)
    _, rewards, terminated, _, _ = envs.step({**action, "answer": info["label"]})
    assert rewards.all() and terminated.all()
    assert envs.class_names == ["absent", "present"]


def test_a_circle_or_a_square():
    env = make("CircleSquare", patch_size=28, scales=1, first="center", num_glimpses=1)
    assert env.class_names == ["square", "circle"]
    labels = []
    for seed in range(20):
        seen, info = env.reset(seed=seed)
        x, y, width, height = info["box"]
        shape = seen["glimpse"][0, 0, y : y + height, x : x + width]
        if shape.shape == (9, 9):  # a shape may lie across the edge
            corners = shape[[0, 0, -1, -1], [0, -1, 0, -1]]
            assert (corners == shape[4, 4]).all() == (info["label"] == 0)
            labels.append(info["label"])
        _, reward, terminated, _, _ = env.step(at(0, 0, info["label"]))
        assert reward == 1 and terminated
    assert set(labels) == {0, 1}


def test_a_zoom_is_the_third_number_of_a_location():
    env, near = make(zoom=(1, 3), first="center"), make(first="center")
    seen, _ = env.reset(seed=3)
    assert seen["location"].tolist() == [0.0, 0.0, 1.0]
    assert env.location_size == 3 and near.location_size == 2
    action = {"location": np.array([0, 0, -1], np.float32), "answer": 0}
    closest = env.step(action)[0]["glimpse"]
    assert closest.tobytes() != seen["glimpse"].tobytes()
    np.testing.assert_allclose(closest, near.reset(seed=3)[0]["glimpse"], atol=1e-6)
    assert closest.sum() > seen["glimpse"].sum()  # a digit fills less of a wide look


def test_flat_spaces_hold_the_same_values():
    flat, plain = make(flat=True, halt=True), make(halt=True)
    seen, _ = flat.reset(seed=3)
    other, _ = plain.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert seen[:-3].tobytes() == other["glimpse"].tobytes()
        assert seen[-3:-1].tobytes() == other["location"].tobytes()
        assert seen[-1] == np.float32(other["step"] / 6)
        action = rng.uniform(-1, 1, 13).astype(np.float32)
        seen, *results = flat.step(action)
        other, *others = plain.step(
            at(*action[:2], int(action[2:12].argmax()), halt=int(action[12] > 0))
        )
        assert_same(results, others)
        if results[1]:
            seen, _ = flat.reset()
            other, _ = plain.reset()


@pytest.mark.parametrize("family", FAMILIES)
def test_threads_do_not_change_the_results(family):
    one = play(make_vec(family, 70, threads=1), 15)
    for threads in (2, 5):
        assert_same(play(make_vec(family, 70, threads=threads), 15), one)


def test_seeds():
    env = make(patch_size=28)
    first = [env.reset(seed=1), env.reset(), env.reset()]
    again = [env.reset(seed=1), env.reset(), env.reset()]
    assert_same(first, again)
    for i in range(3):
        for j in range(i):
            assert first[i][0]["glimpse"].tobytes() != first[j][0]["glimpse"].tobytes()
    seen = [env.reset(seed=seed)[0]["location"].tobytes() for seed in (0, 1, 2, 2**30 - 1, 10**12)]
    assert len(set(seen)) == 5
    one, other = make(), make()
    assert one.reset()[0]["location"].tobytes() != other.reset()[0]["location"].tobytes()


def test_splits_have_different_digits_and_evaluations_repeat():
    seen = {}
    for split in ("train", "valid", "test"):
        seen[split] = play(make_vec(split=split), 20)
        assert_same(play(make_vec(split=split), 20), seen[split])
    assert seen["valid"][0][0]["glimpse"].tobytes() != seen["test"][0][0]["glimpse"].tobytes()
    assert seen["train"][0][0]["glimpse"].tobytes() != seen["test"][0][0]["glimpse"].tobytes()


def test_settings_have_their_yaml_names():
    by_name = make_vec(
        "Cluttered60", canvas=[40, 50], num_distractors=2, patch_size=6, rotation=20, scales=2
    )
    by_section = gym.make_vec(
        "saccade/Cluttered60-v0",
        num_envs=5,
        scene={"canvas": (40, 50), "num_distractors": np.int64(2)},
        retina={"patch_size": 6, "scales": 2},
        data={"source": "synthetic", "augmentation": {"rotation": 20.0}},
    )
    assert_same(play(by_name, 10), play(by_section, 10))
    plain = make_vec("Cluttered60", canvas=[40, 50], num_distractors=2, patch_size=6, scales=2)
    assert (
        plain.reset(seed=3)[0]["glimpse"].tobytes() != by_name.reset(seed=3)[0]["glimpse"].tobytes()
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_families_match_their_presets(family):
    yaml = pytest.importorskip("yaml")
    folder = pathlib.Path(__file__).parents[2] / "experiments"
    preset = yaml.safe_load((folder / f"{saccade.envs.FAMILIES[family]}.yaml").read_text())
    env, retina, glimpse = make(family), preset["retina"], preset["attention"]["glimpse"]
    assert env.glimpse_shape == (retina["scales"], 1, retina["patch_size"], retina["patch_size"])
    assert env.num_glimpses == glimpse["num_glimpses"]
    # Giving the preset's values explicitly changes nothing.
    explicit = {"scene": preset["scene"], "retina": retina}
    first = "center" if glimpse.get("first") == "center" else "random"
    assert_same(play(make_vec(family), 5), play(make_vec(family, first=first, **explicit), 5))


def test_own_images_are_the_same_as_bytes_and_as_floats():
    colours = np.random.default_rng(0).integers(0, 256, (20, 12, 10, 3), np.uint8)
    labels = np.arange(20) % 4
    common = {"canvas": [20, 20], "patch_size": 8, "labels": labels}
    bytes_seen = play(make_vec("Translated60", images=colours, data={}, **common), 10)
    assert bytes_seen[0][0]["glimpse"].shape == (5, 3, 3, 8, 8)
    numbers = colours.astype(np.float64) / 255.0
    assert_same(play(make_vec("Translated60", images=numbers, data={}, **common), 10), bytes_seen)
    backwards = np.asfortranarray(colours)
    assert_same(play(make_vec("Translated60", images=backwards, data={}, **common), 10), bytes_seen)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_memory_does_not_grow_over_a_hundred_thousand_steps():
    envs = make_vec("Translated60", 3, **SMALL, autoreset_mode=AutoresetMode.SAME_STEP, threads=1)
    envs.reset(seed=0)
    actions = [envs.action_space.sample() for _ in range(7)]

    def steps(count):
        for step in range(count):
            envs.step(actions[step % 7])

    steps(20_000)
    before = resident_bytes()
    steps(100_000)
    assert resident_bytes() - before < 3 * 2**20


def test_threads_that_step_the_same_environments_take_turns():
    envs = make_vec("Cluttered60", num_envs=2000, autoreset_mode="Disabled", num_glimpses=250)
    envs.reset(seed=1)
    envs.action_space.seed(1)
    action = envs.action_space.sample()
    threads = [threading.Thread(target=lambda: [envs.step(action) for _ in range(60)]) for _ in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    observation, *_ = envs.step(action)
    assert (observation["step"] == 241).all()
