"""Collecting from Gymnasium: the transitions of vector environments are those of single ones."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import robust_td as rtd


class Corridor(gymnasium.Env[Any, Any]):
    """Walks right; terminates with reward 1 after ``length`` steps, or is truncated after ``limit``."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, length: int = 5, limit: int = 100, discrete: bool = False, most: int = 20) -> None:
        self.length, self.limit, self.discrete = length, limit, discrete
        self.action_space = gymnasium.spaces.Discrete(2)
        box = gymnasium.spaces.Box(0, most, (1,), dtype=np.float32)
        self.observation_space = gymnasium.spaces.Discrete(most) if discrete else box

    def _look(self) -> Any:
        return self.place if self.discrete else np.array([self.place], dtype=np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.time = 0, 0
        return self._look(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in (0, 1)
        self.place += 1
        self.time += 1
        ended = self.place == self.length
        return self._look(), float(ended), ended, not ended and self.time == self.limit, {}


def check(log: rtd.Transitions, length: int, limit: int) -> None:
    """Every transition leads one place on; nothing leads from an end to a start."""
    assert np.array_equal(log["next_obs"], log["obs"] + 1)
    assert np.array_equal(log["terminated"], log["next_obs"][:, 0] == length)
    cut = (log["next_obs"][:, 0] == limit) & ~log["terminated"]
    assert np.all(log["truncated"][cut])
    # Rows of an episode are together, and start at 0.
    starts = np.flatnonzero(np.diff(log["episode"], prepend=-1))
    assert np.all(log["obs"][starts, 0] == 0) and len(starts) == log.episodes


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED])
@pytest.mark.parametrize(("length", "limit"), [(5, 100), (9, 3)])
def test_vector_environments_reset_in_every_way(mode: AutoresetMode, length: int, limit: int) -> None:
    # Environments of different lengths do not end together.
    env = SyncVectorEnv([lambda: Corridor(length, limit)] * 3, autoreset_mode=mode)
    log = rtd.collect(env, lambda obs: np.zeros(len(obs), dtype=int), steps=200)
    assert log.steps == 200
    check(log, length, limit)
    fit = rtd.evaluate(log, discount=0.5, features="polynomial(degree=3) + bias")
    if length == 5:
        # The reward comes with the last step: V(place) = 0.5^(4 - place).
        assert fit.predict(np.array([[4.0], [3.0]])) == pytest.approx([1.0, 0.5], abs=0.1)
    else:
        # Truncation is no end: there is never a reward, but no value of 0 by force either.
        assert not log["terminated"].any()


def test_environments_that_end_apart() -> None:
    for mode in AutoresetMode:
        makes = [lambda length=length: Corridor(length) for length in (3, 4, 7)]
        log = rtd.collect(SyncVectorEnv(makes, autoreset_mode=mode), lambda obs: np.zeros(3, dtype=int), steps=101)
        assert log.steps == 101
        assert np.array_equal(log["next_obs"], log["obs"] + 1)
        assert np.all(log["reward"] == log["terminated"])


def test_a_single_environment() -> None:
    log = rtd.collect(Corridor(), lambda obs: 0, steps=52)
    assert log.steps == 52 and log.episodes == 11
    check(log, 5, 100)
    # The last episode was still under way.
    assert log["truncated"].tolist() == [False] * 51 + [True]
    assert rtd.inspect(log).transitions == 52
    assert len(log.to_pandas()) == 52


def test_discrete_observations_are_states() -> None:
    log = rtd.collect(Corridor(discrete=True), lambda obs: 0, steps=200)
    fit = rtd.evaluate(log, discount=0.5)
    assert fit.predict(np.arange(5)) == pytest.approx(0.5 ** np.arange(4, -1, -1), rel=1e-6)
    env = SyncVectorEnv([lambda: Corridor(discrete=True)] * 2)
    many = rtd.collect(env, lambda obs: np.zeros(2, dtype=int), steps=200)
    assert rtd.evaluate(many, discount=0.5).predict(4) == pytest.approx([1.0], rel=1e-6)


def test_other_observations_are_refused_with_a_remedy() -> None:
    class Dictionary(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space = gymnasium.spaces.Dict({"a": self.observation_space})

        def _look(self) -> Any:
            return {"a": np.array([self.place], dtype=np.float32)}

    with pytest.raises(rtd.Error, match="Dict space.*FlattenObservation"):
        rtd.collect(Dictionary(), lambda obs: 0, steps=5)
    flat = gymnasium.wrappers.FlattenObservation(Dictionary())
    check(rtd.collect(flat, lambda obs: 0, steps=50), 5, 100)

    class Picture(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space = gymnasium.spaces.Box(0, 1, (2, 3))

    with pytest.raises(rtd.Error, match="2 x 3"):
        rtd.collect(Picture(), lambda obs: 0, steps=5)
    with pytest.raises(rtd.Error, match="steps is 0"):
        rtd.collect(Corridor(), lambda obs: 0, steps=0)
    with pytest.raises(rtd.Error, match="must be a function"):
        rtd.collect(Corridor(), 3, steps=5)


class Stable:
    """A stand-in for a model of stable-baselines3, which needs PyTorch: the same `predict`."""

    def __init__(self) -> None:
        self.starts: list[Any] = []

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Any]:
        assert deterministic
        self.starts.append(np.array(episode_start))
        count = (0 if state is None else state) + 1
        shape = () if np.ndim(observation) == 1 else (len(observation),)
        return np.zeros(shape, dtype=int), count


def test_policies_of_stable_baselines() -> None:
    policy = Stable()
    check(rtd.collect(Corridor(), policy, steps=12, deterministic=True), 5, 100)
    assert [bool(start[0]) for start in policy.starts] == [True, *[False] * 4, True, *[False] * 4, True, False]
    env = SyncVectorEnv([lambda: Corridor()] * 2)
    check(rtd.collect(env, Stable(), steps=30, deterministic=True), 5, 100)


def test_random_actions_repeat_with_a_seed() -> None:
    env = gymnasium.make("CartPole-v1")
    first, second = (rtd.collect(env, steps=300, seed=3) for _ in range(2))
    assert np.array_equal(first["obs"], second["obs"])
    assert not np.array_equal(first["obs"], rtd.collect(env, steps=300, seed=4)["obs"])


def test_the_value_of_a_policy_for_the_cart() -> None:
    """A pole that is balanced for ever is worth 1 / (1 - 0.9) = 10."""
    env = gymnasium.make("CartPole-v1")
    log = rtd.collect(env, lambda obs: int(obs[2] + 0.5 * obs[3] > 0), steps=20_000)
    start = rtd.evaluate(log, discount=0.9).start_value
    assert start is not None and start.value == pytest.approx(10, abs=0.05)
