"""ap_gym's wrappers and checks on the environments.

ap_gym's own loss tests use no environment. Its accuracy tests concern its log wrappers, which are
applied to our environments here.
"""

import warnings

import numpy as np
import pytest
from env_cases import SMALL, assert_same, make_vec, settings_of
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from saccade import InputError

ap_gym = pytest.importorskip("ap_gym")

import saccade.ap_gym as ours

ID = "saccade/Translated60-v0"


def action_of(envs, prediction):
    return {"action": envs.inner_action_space.sample(), "prediction": prediction}


def test_gymnasiums_checks_pass():
    env = ours.make(ID, **SMALL, render_mode="rgb_array")
    assert isinstance(env, ap_gym.BaseActivePerceptionEnv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Logits have no bounds, and there is no spec.
        warnings.filterwarnings("ignore", message=".*(Box action space|alternative render modes)")
        check_env(env)


def test_shapes_match_ap_gyms_image_spaces():
    colours = {"data": {}, "images": np.zeros((2, 9, 9, 3), np.uint8), "labels": [0, 1]}
    envs = ours.make_vec(ID, 3, **{**SMALL, **colours})
    assert isinstance(envs, ap_gym.ActiveClassificationVectorEnv)
    assert isinstance(envs.single_observation_space["glimpse"], ap_gym.ImageSpace)
    assert envs.single_observation_space["glimpse"].shape == (8, 8, 2 * 3)
    seen, _ = envs.reset(seed=0)
    assert seen in envs.observation_space
    assert envs.single_prediction_space.shape == (2,)


def test_observations_match_the_gymnasium_environment():
    plain = make_vec("Translated60", 3, **SMALL)
    envs = ours.make_vec(ID, 3, **SMALL)
    seen, _ = envs.reset(seed=2)
    other, _ = plain.reset(seed=2)
    logits = np.random.default_rng(0).normal(size=(3, 10)).astype(np.float32)
    for step in range(9):
        assert (np.moveaxis(seen["glimpse"], -1, 1) == other["glimpse"][:, :, 0]).all()
        assert (seen["glimpse_pos"] == other["location"]).all()
        assert seen["time_step"] == pytest.approx(2 * other["step"] / 3 - 1)
        action = action_of(envs, logits)
        seen, _, ended, _, info = envs.step(action)
        other, _, also, _, facts = plain.step(
            {"location": action["action"], "answer": logits.argmax(-1)}
        )
        assert (ended == also).all()
        assert_same(info["prediction"]["target"], facts["label"])


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_reward_is_minus_the_price_and_the_loss(mode):
    envs = ours.make_vec(ID, 4, **SMALL, look_price=0.25, autoreset_mode=mode)
    _, info = envs.reset(seed=0)
    logits = np.random.default_rng(1).normal(size=(4, 10)).astype(np.float32)
    logits[[0, 1], info["label"][:2]] = 5.0  # two are right
    for step in range(1, 4):
        labels = info["label"]
        _, rewards, ended, truncated, info = envs.step(action_of(envs, logits))
        assert (ended == (step == 3)).all()
        assert not truncated.any()
        probability = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        loss = -np.log(probability[np.arange(4), labels]) / np.log(10)
        assert (info["prediction"]["target"] == labels).all()
        assert info["prediction"]["loss"] == pytest.approx(loss, rel=1e-5)
        assert info["base_reward"].tolist() == [0.0 if step == 3 else -0.25] * 4
        assert rewards == pytest.approx(info["base_reward"] - loss, rel=1e-5)
    assert ("final_obs" in info) == (mode is AutoresetMode.SAME_STEP)
    if mode is AutoresetMode.SAME_STEP:
        for final in info["final_obs"]:
            assert final in envs.single_observation_space
            assert final["time_step"] == 1.0


def test_ap_gyms_log_wrappers_report_accuracy():
    envs = ap_gym.ActiveClassificationVectorLogWrapper(ours.make_vec(ID, 3, **SMALL))
    _, info = envs.reset(seed=0)
    logits = np.zeros((3, 10), np.float32)
    logits[np.arange(3), info["label"]] = [1.0, 2.0, -1.0]
    for _ in range(3):
        _, _, ended, _, info = envs.step(action_of(envs, logits))
    assert ended.all()
    assert info["stats"]["scalar"]["final_accuracy"].tolist() == [1.0, 1.0, 0.0]
    share = np.exp(2.0) / (np.exp(2.0) + 9)
    assert info["stats"]["scalar"]["avg_correct_label_prob"][1] == pytest.approx(share)

    env = ap_gym.ActiveClassificationLogWrapper(
        ap_gym.TimeLimit(ours.make(ID, **SMALL), 2, issue_termination=True)
    )
    seen, info = env.reset(seed=0)
    assert seen["time_step"] == -1.0
    label = int(info["label"])
    for step in (1, 2):
        right = np.eye(10, dtype=np.float32)[(label + step) % 10 if step == 1 else label]
        action = {"action": np.zeros(2, np.float32), "prediction": right}
        seen, _, terminated, _, info = env.step(action)
        assert terminated == (step == 2)
    assert seen["time_step"] == 1.0
    assert info["stats"]["scalar"]["final_accuracy"] == 1.0
    assert info["stats"]["scalar"]["avg_accuracy"] == 0.5
    assert env.loss_fn.blind_guessing_expected_value == pytest.approx(1.0)


def test_an_agent_learns_from_the_loss():
    torch = pytest.importorskip("torch")
    envs = ours.make_vec(
        "saccade/Centered28-v0", 64, data="synthetic", patch_size=14, scales=2, first="center"
    )
    net = torch.nn.Sequential(
        torch.nn.Flatten(),
        torch.nn.Linear(14 * 14 * 2, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 10),
    )
    adam = torch.optim.Adam(net.parameters(), 3e-3)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    seen, _ = envs.reset(seed=0)
    losses = []
    for _ in range(300):
        prediction = net(torch.from_numpy(np.ascontiguousarray(seen["glimpse"])))
        before = seen["time_step"]
        action = {"action": np.zeros((64, 2)), "prediction": prediction.detach().numpy()}
        seen, _, _, _, info = envs.step(action)
        if (before == 1.0).all():
            continue  # this step started the next episode
        target = torch.from_numpy(info["prediction"]["target"])
        loss = envs.loss_fn.torch(prediction, target, (64,)).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    torch.set_num_threads(threads)
    assert losses[0] == pytest.approx(1.0, abs=0.1)
    assert np.mean(losses[-10:]) < 0.6


@pytest.mark.parametrize("family", ["Transcribe", "Catch"])
def test_only_class_answers_are_supported(family):
    with pytest.raises(InputError, match="allowed: families that answer with a class"):
        ours.make_vec(f"saccade/{family}-v0", 2, **settings_of(family))


@pytest.mark.parametrize(
    ("make", "more"),
    [
        (ours.make_vec, {"flat": True}),
        (ours.make_vec, {"halt": True}),
        (ours.make, {"threads": 2}),
        (ours.make, {"autoreset_mode": "Disabled"}),
    ],
)
def test_unsupported_arguments_are_refused(make, more):
    with pytest.raises(InputError, match=f"{next(iter(more))}: "):
        make(ID, **SMALL, **more)


def test_invalid_predictions_are_refused():
    envs = ours.make_vec(ID, 2, **SMALL)
    envs.reset(seed=0)
    for prediction in (np.zeros((2, 9)), np.full((2, 10), np.nan), np.zeros((2, 10), "U1")):
        with pytest.raises(InputError, match="action 'prediction'"):
            envs.step(action_of(envs, prediction))
