"""The episodes there are fixtures of: every kind in the tables of attention/ and agent/ at least
once, with the settings beside it varied from one to the next."""

from cores import KINDS, RECURRENT

SCORES = ["dot", "scaled_dot", "general", "additive", "location_free"]
NEEDS_EQUAL_WIDTHS = ["dot", "scaled_dot"]
WITHOUT_QUERY = ["location_free"]
READS_OF_A_STATE = ["last", "mean"]  # without settings of their own; a decoder can have them
FIRST = ["random", "center", "learned"]


def point_episodes():
    """Every core, every estimate of the advantage; a control, in which no look is learned."""
    learned = {"attention.glimpse.first": "learned", "attention.glimpse.learn_std": True}
    return {f"core_{kind}": learned | {"model.core": kind} for kind in KINDS} | {
        "core_rnn": learned | {"training.step_loss": 0.3},
        "core_lstm": {"model.core": "lstm", "attention.glimpse.first": "center",
                      "reinforce.reward": "probability"},
        "core_gru": learned | {"model.core": "gru", "reinforce.advantage": "constant",
                               "reinforce.constant": 0.2},
        "core_feedforward": {"model.core": "feedforward", "reinforce.advantage": "ema",
                             "reinforce.reward": "probability"},
        "core_attention": learned | {"model.core": "attention", "model.heads": 2, "model.depth": 2,
                                     "reinforce.advantage": "leave_one_out",
                                     "reinforce.reward": "probability", "reinforce.rollouts": 2,
                                     "training.step_loss": 0.3},
        "gain": learned | {"reinforce.reward": "gain", "reinforce.trace": 0.7,
                           "training.step_loss": 0.5},
        "reward_log": learned | {"reinforce.reward": "log"},
        "reward_clipped": learned | {"reinforce.reward": "clipped", "training.step_loss": 0.3},
        "gae": learned | {"reinforce.advantage": "gae", "reinforce.trace": 0.6,
                          "reinforce.reward": "gain"},
        "critic_mlp": learned | {"reinforce.critic": "mlp", "reinforce.critic_hidden": 3,
                                 "reinforce.reward": "probability"},
        "critic_privileged": learned | {"reinforce.critic": "privileged",
                                        "reinforce.critic_hidden": 3, "model.core": "gru",
                                        "reinforce.advantage": "gae", "reinforce.trace": 0.8,
                                        "reinforce.reward": "gain"},
        "no_advantage": learned | {"reinforce.advantage": "none"},
        "control": {"attention.glimpse.kind": "scan"},
        "gate": {"attention.input.kind": "gate", "attention.input.alpha": 2.0,
                 "attention.input.gain": 5.0},
    }


def grid_episodes():
    """Hard and soft, by location and by content with each score, of features and of pixels."""
    grid = {"attention.glimpse.grid": (2, 3), "attention.glimpse.stride": 2,
            "attention.glimpse.temperature": 0.7}
    penalties = {"attention.glimpse.entropy": 0.05, "attention.glimpse.coverage": 0.3,
                 "attention.glimpse.row_penalty": 0.2}
    episodes = {}
    for i, score in enumerate([None] + SCORES):
        placed = {"attention.glimpse.addressing": "location"}
        if score is not None:
            placed = {"attention.glimpse.addressing": "content", "attention.glimpse.score": score,
                      "attention.glimpse.score_hidden": 3}
        if score in NEEDS_EQUAL_WIDTHS:
            placed["model.feature_size"] = 4
        name = score or "location"
        episodes[f"hard_{name}"] = grid | placed | {
            "attention.glimpse.kind": "hard_categorical", "attention.glimpse.first": FIRST[i % 3]}
        for j, expect in enumerate(["features", "pixels"]):
            episodes[f"soft_{name}_{expect}"] = grid | placed | penalties | {
                "attention.glimpse.kind": "soft_grid", "attention.glimpse.expect": expect,
                "attention.glimpse.first": FIRST[(i + j + 1) % 3]}
    episodes["hard_location"] |= {"attention.glimpse.tiles": (2, 3)}
    episodes["gate_learned"] = episodes["soft_additive_features"] | {
        "attention.input.kind": "gate", "attention.input.alpha": 1.5,
        "attention.input.learn_alpha": True, "model.core": "lstm"}
    return episodes


SAMPLED = {"attention.glimpse.stop": "sampled", "attention.glimpse.stop_price": 0.05}
EXPECTED = {"attention.glimpse.stop": "expected", "attention.glimpse.stop_price": 0.05,
            "attention.glimpse.stop_prior": 0.3, "attention.glimpse.stop_prior_weight": 0.2}


def stop_episodes():
    """Every rule of a stop, with looks of REINFORCE, of backpropagation and of a control."""
    sampled, expected = SAMPLED, EXPECTED
    learned = {"attention.glimpse.first": "learned"}
    grid = grid_episodes()
    episodes = {
        "confidence": {"attention.glimpse.stop": "confidence"},
        "sampled": sampled | learned | {"reinforce.reward": "probability",
                                        "training.step_loss": 0.3},
        "sampled_correct": sampled | {"model.core": "gru", "reinforce.advantage": "constant",
                                      "reinforce.constant": 0.2},
        "sampled_gain": sampled | learned | {"reinforce.reward": "gain",
                                             "reinforce.advantage": "gae",
                                             "reinforce.trace": 0.6, "model.core": "lstm"},
        "sampled_soft": sampled | grid["soft_general_features"] | {
            "reinforce.reward": "probability"},
        "sampled_control": sampled | {"attention.glimpse.kind": "scan", "training.step_loss": 0.3},
        "expected": expected | learned | {"reinforce.reward": "probability",
                                          "training.step_loss": 0.3},
        "expected_hard": expected | grid["hard_general"] | {"model.core": "gru",
                                                            "reinforce.reward": "probability"},
        "expected_soft": expected | grid["soft_location_features"] | {
            "attention.hidden.kind": "mean"},
        "expected_soft_point": expected | learned | SMOOTH | {
            "attention.glimpse.kind": "soft_point", "model.core": "lstm"},
    }
    return {f"stop_{name}": own for name, own in episodes.items()}


SMOOTH = {"sight.patch": 2, "sight.scales": 3}
RELATIVE = {"attention.glimpse.moves": "relative", "attention.glimpse.max_step": 0.5}
WHOLE = {"attention.glimpse.kind": "whole", "attention.glimpse.size": (5, 3)}


def canvas_episodes():
    two = {"sight.channels": 2}
    return {
        "window": two | {"attention.glimpse.kind": "soft_gaussian",
                         "attention.glimpse.first": "learned", "attention.glimpse.filters": 3},
        "soft_point": two | {"attention.glimpse.kind": "soft_point",
                             "attention.glimpse.first": "learned"} | SMOOTH,
        "window_detached": {"attention.glimpse.kind": "soft_gaussian",
                            "attention.glimpse.first": "learned", "attention.glimpse.filters": 3,
                            "attention.glimpse.detach_state": True},
        "soft_point_detached": {"attention.glimpse.kind": "soft_point",
                                "attention.glimpse.first": "learned",
                                "attention.glimpse.detach_state": True} | SMOOTH,
        "pathwise": two | SMOOTH | {"reinforce.estimator": "pathwise", "training.step_loss": 0.3,
                                    "attention.glimpse.first": "learned",
                                    "attention.glimpse.learn_std": True},
        "both": SMOOTH | {"reinforce.estimator": "both", "reinforce.reward": "probability",
                          "attention.glimpse.learn_std": True},
        "relative": SMOOTH | RELATIVE | {"attention.glimpse.first": "learned",
                                         "reinforce.reward": "probability"},
        "relative_both": SMOOTH | RELATIVE | {"reinforce.estimator": "both",
                                              "training.step_loss": 0.3,
                                              "attention.glimpse.learn_std": True},
        "relative_pathwise": two | SMOOTH | RELATIVE | {"reinforce.estimator": "pathwise",
                                                        "attention.glimpse.first": "learned"},
        "relative_soft_point": two | SMOOTH | RELATIVE | {
            "attention.glimpse.kind": "soft_point", "attention.glimpse.first": "learned",
            "training.step_loss": 0.3},
        "relative_soft_point_detached": SMOOTH | RELATIVE | {
            "attention.glimpse.kind": "soft_point", "attention.glimpse.first": "center",
            "attention.glimpse.detach_state": True},
        "relative_hard": SMOOTH | RELATIVE | {
            "attention.glimpse.kind": "hard_categorical", "attention.glimpse.grid": (3, 3),
            "attention.glimpse.addressing": "location", "attention.glimpse.temperature": 0.7,
            "attention.glimpse.first": "learned", "reinforce.reward": "probability"},
        "whole_rows": WHOLE | two | {"training.step_loss": 0.3},
        "whole_at_once": WHOLE | two | {"attention.glimpse.order": "at_once"},
        "whole_unshrunk": {"attention.glimpse.kind": "whole"},
        "mlp": {"model.kind": "mlp", "model.canvas_hidden": 4},
        "cnn": two | {"model.kind": "cnn", "model.channels": (2, 3), "model.kernel_size": 3},
    }


def zoom_episodes():
    """A third number of every point: sampled, derived, both, and of a control."""
    zoom = {"attention.glimpse.zoom": (1.0, 2.5), "attention.glimpse.zoom_std": 0.3}
    learned = {"attention.glimpse.first": "learned"}
    two = {"sight.patch": 2, "sight.scales": 2}
    return {name: own | zoom for name, own in {
        "zoom_hard": learned | {"attention.glimpse.learn_std": True, "reinforce.reward": "gain"},
        "zoom_random_first": {"model.core": "gru"},
        "zoom_soft_point": learned | two | {"attention.glimpse.kind": "soft_point",
                                            "sight.channels": 2},
        "zoom_pathwise": learned | two | {"reinforce.estimator": "pathwise",
                                          "attention.glimpse.learn_std": True},
        "zoom_both": two | {"reinforce.estimator": "both", "reinforce.reward": "probability"},
        "zoom_relative": learned | two | {"reinforce.estimator": "both",
                                          "attention.glimpse.moves": "relative",
                                          "attention.glimpse.max_step": 0.4},
        "zoom_control": {"attention.glimpse.kind": "scan"},
    }.items()}


def context_episodes():
    """The canvas shrunk, with every family that a locator places."""
    context = {"model.context": "thumbnail", "model.context_size": 4, "model.context_hidden": 3}
    grid, canvas = grid_episodes(), canvas_episodes()
    episodes = {"point": {"attention.glimpse.first": "learned", "sight.channels": 2,
                          "attention.glimpse.learn_std": True, "reinforce.reward": "gain"},
                "random_first": {"reinforce.reward": "probability"}}
    episodes |= {name: canvas[name] for name in ["window", "soft_point", "pathwise", "both"]}
    episodes |= {name: grid[name] for name in ["hard_location", "soft_location_features",
                                               "soft_location_pixels"]}
    return {f"context_{name}": own | context for name, own in episodes.items()}


def filter_episodes():
    """Convolutions of the glimpse, with every family that has a glimpse network."""
    filters = {"conv": {"model.glimpse_network": "conv", "model.glimpse_filters": 3,
                        "model.glimpse_kernel": 2, "model.glimpse_stride": 1},
               "residual": {"model.glimpse_network": "residual", "model.glimpse_filters": 2,
                            "model.glimpse_stages": 2, "model.glimpse_blocks": 2}}
    retina = {"sight.patch": 3, "sight.scales": 2}
    grid, canvas = grid_episodes(), canvas_episodes()
    episodes = {"point": retina | {"attention.glimpse.first": "learned", "sight.channels": 2},
                "window": canvas["window"], "soft_point": canvas["soft_point"] | retina}
    episodes |= {name: grid[name] | retina for name in [
        "hard_location", "soft_general_features", "soft_general_pixels"]}
    return {f"{network}_{name}": own | of_network for network, of_network in filters.items()
            for name, own in episodes.items()}


def hidden_episodes():
    """Every read of the states, with lengths, and some with a mask that forbids the first state."""
    base = WHOLE | {"training.step_loss": 0.3, "sight.lengths": True}
    masked = {"attention.hidden.mask": "01101"}
    episodes = {f"hidden_{kind}": base | masked | {"attention.hidden.kind": kind}
                for kind in READS_OF_A_STATE}
    episodes |= {
        "hidden_self": base | masked | {
            "attention.hidden.kind": "self", "attention.hidden.score_hidden": 3,
            "attention.hidden.hops": 2, "attention.hidden.penalty": 0.1},
    }
    pairs = [(score, query) for score in SCORES for query in ["last", "mean"]
             if score not in WITHOUT_QUERY] + [(score, "none") for score in WITHOUT_QUERY]
    for i, (score, query) in enumerate(pairs):
        attend = base | {"attention.hidden.kind": "attend", "attention.hidden.score": score,
                         "attention.hidden.score_hidden": 3, "attention.hidden.query": query}
        output = ["context", "context_and_last"]
        position = "predicted" if query != "none" and i % 4 < 2 else "current"
        episodes[f"hidden_{score}_{query}"] = attend | (masked if i % 2 else {}) | {
            "attention.hidden.output": output[i % 2]}
        episodes[f"hidden_{score}_{query}_local"] = attend | ({} if i % 2 else masked) | {
            "attention.hidden.area": "local", "attention.hidden.position": position,
            "attention.hidden.window": 1 + i % 2, "attention.hidden.output": output[(i + 1) % 2]}
    return episodes


def sequence_episodes():
    """Every core of a decoder with every context, the scores spread over them."""
    base = WHOLE | {"sight.answer": "sequence", "sight.classes": 4, "sight.symbols": 3,
                    "sight.lengths": True, "decoder.hidden_size": 3}
    point = {"attention.glimpse.kind": "hard_gaussian", "attention.glimpse.learn_std": True}
    attend = lambda score: {"attention.hidden.kind": "attend", "attention.hidden.score": score,
                            "attention.hidden.score_hidden": 3}
    local = {"attention.hidden.area": "local", "attention.hidden.window": 1}
    episodes = {
        "decoder_rnn_attend": attend("dot") | local | {"decoder.hidden_size": 4},
        "decoder_lstm_attend": attend("additive") | local | {
            "attention.hidden.position": "predicted", "attention.hidden.mask": "11011"},
        "decoder_gru_attend": attend("general") | point,
        "decoder_location_free": attend("location_free") | {"attention.hidden.mask": "10110"},
        "decoder_gain": attend("general") | point | {"reinforce.reward": "gain",
                                                     "reinforce.trace": 0.7},
        "decoder_log": attend("general") | point | {"reinforce.reward": "log"},
        "decoder_clipped": attend("general") | point | {"reinforce.reward": "clipped"},
        "decoder_scaled_dot": attend("scaled_dot") | point | {
            "decoder.hidden_size": 4, "reinforce.reward": "probability"},
    }
    scored = [own["attention.hidden.score"] for own in episodes.values()]
    for score in SCORES:
        if score not in scored:
            episodes[f"decoder_{score}"] = attend(score) | {"decoder.hidden_size": 4}
    for core in RECURRENT:
        episodes.setdefault(f"decoder_{core}_attend", attend("dot") | {"decoder.hidden_size": 4})
        for kind in READS_OF_A_STATE:
            episodes[f"decoder_{core}_{kind}"] = {"attention.hidden.kind": kind}
    for name, own in episodes.items():
        core = name.split("_")[1]
        episodes[name] = base | {"decoder.core": core if core in RECURRENT else "gru"} | own
    return episodes


def sequence_stop_episodes():
    attend, last = (sequence_episodes()[f"decoder_gru_{kind}"] for kind in ["attend", "last"])
    point = {"attention.glimpse.kind": "hard_gaussian", "attention.glimpse.first": "learned"}
    episodes = {
        "sampled": attend | SAMPLED | {"reinforce.reward": "probability"},
        "sampled_gain": attend | SAMPLED | {"reinforce.reward": "gain",
                                            "reinforce.advantage": "gae",
                                            "reinforce.trace": 0.6, "model.core": "lstm"},
        "expected": attend | EXPECTED | {"reinforce.reward": "probability"},
        "expected_gain": last | EXPECTED | point | {"reinforce.reward": "gain",
                                                    "reinforce.trace": 0.7},
    }
    return {f"stop_sequence_{name}": own for name, own in episodes.items()}


def action_episodes():
    base = {"sight.answer": "actions", "attention.glimpse.num_glimpses": 4,
            "reinforce.discount": 0.9, "reinforce.action_entropy": 0.02}
    grid = grid_episodes()
    return {
        "actions_point": {"attention.glimpse.first": "learned"} | base,
        "actions_shared": base | {"reinforce.shared_baseline": True, "model.core": "gru"},
        "actions_hard": grid["hard_general"] | base,
        "actions_soft": grid["soft_location_features"] | base,
        "actions_soft_point": {"attention.glimpse.kind": "soft_point",
                               "attention.glimpse.first": "center"} | SMOOTH | base,
        "actions_gae": base | {"reinforce.advantage": "gae", "reinforce.trace": 0.6},
        "actions_control": {"attention.glimpse.kind": "center"} | base,
    }


def every_episode():
    return (point_episodes() | zoom_episodes() | grid_episodes() | canvas_episodes()
            | context_episodes() | filter_episodes() | stop_episodes() | hidden_episodes()
            | sequence_episodes() | sequence_stop_episodes() | action_episodes())
