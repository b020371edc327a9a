"""Policies that were not followed: the answers of the command, and a plain computation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robust_td as rtd

LOGGED = np.array([[0.5, 0.5], [0.3, 0.7], [0.6, 0.4]])
TARGET = np.array([[0.8, 0.2], [0.5, 0.5], [0.3, 0.7]])
OPTIONS: dict[str, Any] = {"discount": 0.9, "features": "one-hot(column=0)"}


@pytest.fixture(scope="module")
def shop() -> dict[str, Any]:
    """Episodes of three states and two actions that terminate with probability 0.2."""
    rng = np.random.default_rng(3)
    rows = []
    for episode in range(60):
        state, ends = int(rng.integers(3)), False
        while not ends:
            action = int(rng.random() < LOGGED[state, 1])
            following = (state + action + int(rng.random() < 0.4)) % 3
            ends = bool(rng.random() < 0.2)
            rows.append((state, action, state - action + rng.normal(), following, ends, episode))
            state = following
    columns = [np.array(column) for column in zip(*rows)]
    state, action, reward, following, terminated, number = columns
    return {
        "obs": state.reshape(-1, 1).astype(float),
        "action": action,
        "reward": reward,
        "next_obs": following.reshape(-1, 1).astype(float),
        "terminated": terminated,
        "episode": number,
        "target": TARGET[state],
        "next_target": TARGET[following],
        "behaviour_prob": LOGGED[state, action],
    }


def per_decision(log: dict[str, Any]) -> float:
    """Importance sampling by a plain loop."""
    total, weight, power = 0.0, 1.0, 1.0
    rows = zip(log["obs"][:, 0].astype(int), log["action"], log["reward"], log["terminated"])
    for state, action, reward, ends in rows:
        weight *= TARGET[state, action] / LOGGED[state, action]
        total += power * weight * reward
        power *= 0.9
        if ends:
            weight, power = 1.0, 1.0
    return total / log["terminated"].sum()


def test_arrays_tables_and_files_agree_with_a_plain_loop(shop: dict[str, Any], tmp_path: Path, command: Any) -> None:
    import pandas

    fit = rtd.evaluate(shop, **OPTIONS)
    found = fit.off_policy
    assert found is not None and found["actions"] == ["0", "1"] and found["target"] == "probabilities"
    methods = [estimate["method"] for estimate in found["estimates"]]
    assert methods == ["least-squares", "per-decision", "weighted", "doubly-robust"]
    assert found["estimates"][1]["value"] == pytest.approx(per_decision(shop), rel=1e-12)
    start = fit.start_value
    assert start is not None and start.value == found["estimates"][0]["value"]

    table = pandas.DataFrame({name: shop[name] for name in ("action", "reward", "terminated", "episode", "behaviour_prob")})
    for name in ("obs", "next_obs", "target", "next_target"):
        for k in range(shop[name].shape[1]):
            table[f"{name}_{k}"] = shop[name][:, k]
    again = rtd.evaluate(table, **OPTIONS)
    assert again.off_policy == found
    table.to_csv(tmp_path / "log.csv", index=False)
    told = command("evaluate", tmp_path / "log.csv", "--discount", 0.9, "--features", "one-hot(column=0)", "--json")
    assert told["off_policy"] == found and told["start_value"]["value"] == start.value


def test_values_of_actions_and_of_policies(shop: dict[str, Any], tmp_path: Path) -> None:
    fit = rtd.evaluate(shop, **OPTIONS)
    obs, action = np.array([[0.0], [2.0]]), np.array([1, 0])
    q = fit.predict({"obs": obs, "action": action})
    assert q == pytest.approx(fit.predict(np.array([[0.0, 0.0, 1.0], [2.0, 1.0, 0.0]])), abs=0)
    both = [fit.predict({"obs": obs, "action": np.full(2, k)}) for k in range(2)]
    v = fit.predict_interval({"obs": obs, "target": TARGET[[0, 2]]})
    assert v.value == pytest.approx(TARGET[[0, 2], 0] * both[0] + TARGET[[0, 2], 1] * both[1])
    assert np.all((v.lower < v.value) & (v.value < v.upper))
    fit.save(tmp_path / "model.json")
    assert np.array_equal(rtd.load(tmp_path / "model.json").predict({"obs": obs, "action": action}), q)
    with pytest.raises(rtd.Error, match="action"):
        fit.predict({"obs": obs})


def test_actions_without_a_policy_are_ignored(shop: dict[str, Any]) -> None:
    names = ("obs", "reward", "next_obs", "terminated", "episode")
    plain = rtd.evaluate({name: shop[name] for name in names}, **OPTIONS)
    # Actions that are vectors cannot be read, and need not be.
    with_action = {**{name: shop[name] for name in names}, "action": np.zeros((len(shop["reward"]), 2))}
    assert rtd.evaluate(with_action, **OPTIONS).start_value == plain.start_value
    assert plain.off_policy is None


def test_names_of_actions(shop: dict[str, Any]) -> None:
    named = {**shop, "action": np.array(["stay", "go"])[shop["action"]]}
    for name in ("target", "next_target"):
        weights = named.pop(name)
        named |= {f"{name[:-6]}p_stay": weights[:, 0], f"{name[:-6]}p_go": weights[:, 1]}
    columns = {"target": "p_*", "next_target": "next_p_*"}
    fit = rtd.evaluate(named, columns=columns, **OPTIONS)
    assert fit.off_policy is not None and fit.off_policy["actions"] == ["stay", "go"]
    assert fit.start_value == rtd.evaluate(shop, **OPTIONS).start_value
    with pytest.raises(rtd.Error, match="row 3, column target: the probabilities of all actions sum to"):
        bad = {**shop, "target": shop["target"].copy()}
        bad["target"][2] *= 0.5
        rtd.evaluate(bad, **OPTIONS)


def test_unknown_intervals_have_a_reason_and_inspect_shows_the_policy(shop: dict[str, Any]) -> None:
    fit = rtd.evaluate(shop, **OPTIONS)
    assert fit.off_policy is not None
    for estimate in fit.off_policy["estimates"]:
        assert (estimate["upper"] is None) == ("reason" in estimate)
    # 60 episodes do not have those that would carry the weight.
    weighted = fit.off_policy["estimates"][2]
    assert "so skewed" in weighted["reason"] and weighted["weight_skewness"] > 0.5
    policy = rtd.inspect(shop).to_dict()["policy"]
    assert [action["name"] for action in policy["actions"]] == ["0", "1"]
    assert policy["behaviour_prob"]["min"] == LOGGED.min()
    assert 0 < policy["effective_rows"] <= len(shop["reward"])


def test_arrays_are_taken_in_order_and_tables_by_name(shop: dict[str, Any]) -> None:
    import pandas

    names = ("action", "reward", "terminated", "episode", "behaviour_prob")
    table = pandas.DataFrame({name: shop[name] for name in names})
    table["state"] = shop["obs"][:, 0]
    table[["target_0", "target_1"]] = shop["target"]
    fit = rtd.evaluate(table, discount=0.9, features="one-hot(state)")
    obs, target = np.array([[0.0], [2.0]]), TARGET[[0, 2]]
    value = fit.predict({"obs": obs, "target": target})
    by_name = pandas.DataFrame({"state": obs[:, 0], "target_0": target[:, 0], "target_1": target[:, 1]})
    assert np.array_equal(fit.predict(by_name), value)
    with pytest.raises(rtd.Error, match="no column is named state"):
        fit.predict(by_name.rename(columns={"state": "obs_0"}))
