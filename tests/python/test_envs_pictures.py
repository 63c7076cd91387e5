"""Pictures and videos from render()."""

import gymnasium as gym
import numpy as np
import pytest
from env_cases import FAMILIES, assert_same, make, make_vec

RIGHT, WRONG = (38, 150, 74), (209, 46, 46)  # the frame that marks a right or wrong answer
FINEST = (255, 193, 7)  # the square of the finest scale


def has(picture, colour):
    return bool((picture == np.array(colour, np.uint8)).all(axis=-1).any())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_can_be_drawn(family):
    env = make(family, render_mode="rgb_array")
    env.reset(seed=1)
    env.action_space.seed(1)
    pictures, ended = [env.render()], False
    assert_same(env.render(), pictures[0])  # drawing changes nothing
    while not ended:
        assert has(pictures[-1], FINEST)
        assert not has(pictures[-1], RIGHT)
        assert not has(pictures[-1], WRONG)
        _, reward, ended, _, _ = env.step(env.action_space.sample())
        pictures.append(env.render())
        assert (pictures[-1] != pictures[-2]).any()
    assert pictures[0].dtype == np.uint8
    assert {picture.shape for picture in pictures} == {pictures[0].shape}
    assert pictures[0].shape[0] % 2 == pictures[0].shape[1] % 2 == 0  # as videos require
    if family != "Catch":
        assert has(pictures[-1], RIGHT) == (reward == 1)
        assert has(pictures[-1], WRONG) == (reward == 0)


def test_the_frame_marks_the_answer():
    env = make(render_mode="rgb_array", halt=True)
    for right in (True, False):
        _, info = env.reset(seed=3)
        answer = info["label"] if right else (info["label"] + 1) % 10
        env.step({"location": np.zeros(2, np.float32), "answer": answer, "halt": 1})
        assert has(env.render(), RIGHT) == right
        assert has(env.render(), WRONG) == (not right)


def test_a_vector_environment_draws_like_single_ones():
    sync = make_vec("Bag", 3, vectorization_mode="sync", render_mode="rgb_array", min_digits=2)
    native = make_vec("Bag", 3, render_mode="rgb_array", min_digits=2)
    for envs in (sync, native):
        envs.reset(seed=1)
        envs.action_space.seed(1)
    for _ in range(9):
        assert_same(native.render(), sync.render())
        action = native.action_space.sample()
        native.step(action)
        sync.step(action)


def test_nothing_is_drawn_without_a_render_mode():
    for env in (make(), make_vec()):
        env.reset(seed=0)
        with pytest.warns(UserWarning, match="render_mode"):
            assert env.render() is None


def test_videos_are_recorded(tmp_path):
    pytest.importorskip("moviepy")
    env = gym.wrappers.RecordVideo(make("Bag", render_mode="rgb_array"), str(tmp_path / "videos"))
    env.reset(seed=0)
    ended = False
    while not ended:
        _, _, ended, _, _ = env.step(env.action_space.sample())
    env.close()
    (video,) = tmp_path.glob("videos/*.mp4")
    assert video.stat().st_size > 1000


@pytest.mark.skipif(
    not hasattr(gym.wrappers.vector, "RecordVideo"),
    reason="this Gymnasium cannot record vector environments",
)
def test_videos_of_a_vector_environment_are_recorded(tmp_path):
    pytest.importorskip("moviepy")
    envs = make_vec("Bag", 3, render_mode="rgb_array")
    envs = gym.wrappers.vector.RecordVideo(envs, str(tmp_path / "videos"), video_length=5)
    envs.reset(seed=0)
    for _ in range(6):
        envs.step(envs.action_space.sample())
    envs.close()
    (video,) = tmp_path.glob("videos/*.mp4")
    assert video.stat().st_size > 1000
