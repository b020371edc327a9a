"""Online learners: every algorithm, one by one or in arrays, pickled at any time."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robust_td as rtd
from conftest import DISCOUNT, walk

#: What a stream cannot be measured for.
NEEDS: dict[str, Any] = {"horizon": 2000, "phi_inf": 8.0}
#: What methods need beyond that.
MORE: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("alg1", "alg1-const", "alg1-doubling", "td-lambda", "lee26-mixfree"), {"c": 0.5}),
    **dict.fromkeys(("alg1-whitened", "alg1-scaled"), {"c": 0.5}),
    "clipped-td": {"threshold": 10},
    **dict.fromkeys(("bhandari-a", "liu-olshevsky", "adatd"), {"radius": 20}),
    **dict.fromkeys(("li-exp", "li-exp-reg", "mitra"), {"step": 0.1}),
    "bhandari-b": {"radius": 20, "step": 0.1},
    "bhandari-c": {"radius": 20, "omega": 0.1},
    "lee26": {"c": 0.5, "tau_mix": 5},
    "patil-tail": {"drop": 1},
    "patil-reg": {"drop": 1, "lambda_": 0.1},
    "samsonov": {"drop": 1, "step": 0.1},
    "t-dog": {"lg": 100},
}
#: These need the exact problem.
MODELS = ("srikant-ying", "td-const-certified")
LEARNERS = [algorithm.id for algorithm in rtd.algorithms() if algorithm.learns_from_logs and algorithm.id not in MODELS]


def made(id: str) -> rtd.OnlineTD:
    needs = {} if id == "auto" else NEEDS
    return rtd.OnlineTD(discount=DISCOUNT, dimension=2, algorithm=id, **{**needs, **MORE.get(id, {})})


@pytest.mark.parametrize("id", LEARNERS)
def test_pickled_learners_go_on_to_the_same_bits(id: str) -> None:
    log = walk(600)
    obs, reward, following = log["obs"], log["reward"], log["next_obs"]
    ends = {"terminated": np.arange(600) % 97 == 96, "truncated": log["truncated"]}
    whole, parts, single = made(id), made(id), made(id)
    whole.learn_many(obs, reward, following, **ends)
    cut = {name: flags[:300] for name, flags in ends.items()}
    parts.learn_many(np.asfortranarray(obs[:300]), reward[:300], following[:300], **cut)
    parts = pickle.loads(pickle.dumps(parts))
    rest = {name: flags[300:] for name, flags in ends.items()}
    parts.learn_many(obs[300:], reward[300:], following[300:], **rest)
    for t in range(600):
        flags = {name: bool(values[t]) for name, values in ends.items()}
        single.learn_one(obs[t], reward[t], None if flags["terminated"] else following[t], **flags)
    assert whole.steps == parts.steps == single.steps == 600
    assert np.array_equal(whole.theta, parts.theta) and np.array_equal(whole.theta, single.theta)
    assert np.array_equal(whole.value(obs[:9]), parts.value(obs[:9]))
    assert whole.value(obs[0]) == whole.value(obs[:1])[0] == whole.predict_one(obs[0])


def test_methods_that_need_actions_are_refused() -> None:
    others = [algorithm.id for algorithm in rtd.algorithms() if not algorithm.learns_from_logs]
    assert "q-learning" in others and len(LEARNERS) + len(others) >= 39
    for id in others:
        with pytest.raises(rtd.Error, match="choices of actions"):
            rtd.OnlineTD(discount=0.9, dimension=2, algorithm=id, **NEEDS)
    for id in MODELS:
        with pytest.raises(rtd.Error, match="needs the exact problem"):
            rtd.OnlineTD(discount=0.9, dimension=2, algorithm=id, **NEEDS)


def test_the_default_is_the_answer_of_a_stream(command: Any, tmp_path: Path) -> None:
    log = walk(3000)
    td = rtd.OnlineTD(discount=DISCOUNT, dimension=2)
    td.learn_many(log["obs"], log["reward"], log["next_obs"], truncated=log["truncated"])
    fit = rtd.evaluate(log, discount=DISCOUNT, features="identity")
    assert td.theta == pytest.approx(fit.theta, rel=1e-8)
    assert td.algorithm == "auto" and not td.diverged


def test_a_named_algorithm_is_that_of_the_log() -> None:
    log = walk(3000)
    fit = rtd.evaluate(log, discount=DISCOUNT, algorithm="alg1", c=0.5)
    report = fit.to_dict()
    td = rtd.OnlineTD(
        discount=DISCOUNT, dimension=2, algorithm="alg1", c=0.5, horizon=3000, phi_inf=report["phi_inf"]
    )
    td.learn_many(log["obs"], log["reward"], log["next_obs"], truncated=log["truncated"])
    assert np.array_equal(td.theta, fit.theta)


def test_learning_converges_to_the_truth() -> None:
    # Two states that swap, reward 1 for leaving the first: V = 1 / (1 - 0.81), 0.9 V.
    states = np.eye(2)
    td = rtd.OnlineTD(discount=0.9, dimension=2)
    for t in range(100):
        td.learn_one(states[t % 2], 1.0 - t % 2, states[(t + 1) % 2])
    assert td.value(states) == pytest.approx([1 / 0.19, 0.9 / 0.19])


def test_wrong_input_is_named_and_changes_nothing() -> None:
    td = rtd.OnlineTD(discount=0.9, dimension=2)
    good = np.ones((3, 2))
    cases: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((good[:, :1], np.ones(3), good), {}, "a row of X has 1 numbers, but the dimension is 2"),
        ((good, np.ones(2), good), {}, "reward has 2 rows, but X has 3"),
        ((good, np.ones(3), good[:2]), {}, "X_next is 2 x 2, but X is 3 x 2"),
        ((good, [1, np.nan, 1], good), {}, r"reward\[1\] is NaN"),
        ((good * [[1], [np.inf], [1]], np.ones(3), good), {}, r"X\[1, 0\] is inf"),
        ((good, np.ones(3), good * np.nan), {}, r"X_next\[0, 0\] is NaN"),
        ((good, np.ones(3), good), {"terminated": [0, 1]}, "terminated has 2 rows"),
        ((good, np.ones(3), good), {"terminated": [0, 1, 2]}, r"terminated\[2\] is 2.0, but must be a flag"),
        ((good, np.ones(3), good), {"rho": [1, -1, 1]}, r"rho\[1\] is -1"),
    ]
    for arguments, options, words in cases:
        with pytest.raises(rtd.Error, match=words):
            td.learn_many(*arguments, **options)
    with pytest.raises(rtd.Error, match="next_x is required"):
        td.learn_one([1, 2], 1.0)
    with pytest.raises(rtd.Error, match="x has 3 numbers"):
        td.value([1, 2, 3])
    assert td.steps == 0
    # What follows a terminated row is not looked at.
    td.learn_many(good, np.ones(3), good * np.nan, terminated=True)
    assert td.steps == 3
    for options in ({"discount": 1.5}, {"dimension": 0}, {"algorithm": "alg2"}, {"radius": 1}, {"dimension": 2.5}):
        with pytest.raises(rtd.Error):
            rtd.OnlineTD(**{"discount": 0.9, "dimension": 2, **options})
    with pytest.raises(rtd.Error, match="phi_inf is required"):
        rtd.OnlineTD(discount=0.9, dimension=2, algorithm="alg1")


@pytest.mark.parametrize("algorithm", ["auto", "alg1"])
def test_what_is_refused_late_teaches_nothing(algorithm: str) -> None:
    options = {} if algorithm == "auto" else {"phi_inf": 10, "c": 1, "horizon": 100_000}
    log = walk(20_000)
    obs, reward, following = log["obs"], log["reward"], log["next_obs"].copy()
    td = rtd.OnlineTD(DISCOUNT, 2, algorithm, **options)
    td.learn_many(obs[:100], reward[:100], following[:100])
    before = pickle.dumps(td)
    following[19_990, 1] = np.inf
    with pytest.raises(rtd.Error, match=r"X_next\[19990, 1\] is inf"):
        td.learn_many(obs, reward, following)
    assert pickle.dumps(td) == before
    # What follows a terminated row is not looked at.
    td.learn_many(obs, reward, following, terminated=np.arange(20_000) == 19_990)
    assert td.steps == 20_100
