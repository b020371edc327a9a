"""Collects transitions from Gymnasium environments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, Union

import numpy as np
from numpy.typing import NDArray

from ._native import Error


class Predicts(Protocol):
    """A policy of another library, such as stable-baselines3 or d3rlpy."""

    @property
    def predict(self) -> Callable[..., Any]:
        """Returns the action for an observation, alone or with the next state of the policy."""


#: A function of the observation that returns the action, or an object with ``predict``.
Policy = Union[Callable[[Any], Any], Predicts]


class Transitions(Mapping[str, NDArray[Any]]):
    """Transitions in arrays: obs, reward, next_obs, terminated, truncated, episode, action.

    A mapping of names to arrays, which :func:`evaluate` takes: ``log["terminated"]``.
    """

    def __init__(self, columns: dict[str, NDArray[Any]], features: str | None = None) -> None:
        self._columns = columns
        #: The feature map that suits the observations; None for the default.
        self.features = features

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def obs(self) -> NDArray[Any]:
        """The observations before the transitions."""
        return self._columns["obs"]

    @property
    def next_obs(self) -> NDArray[Any]:
        """The observations after the transitions; those of the end of an episode, not of the next start."""
        return self._columns["next_obs"]

    @property
    def reward(self) -> NDArray[Any]:
        """The rewards."""
        return self._columns["reward"]

    @property
    def steps(self) -> int:
        """The number of transitions."""
        return len(self._columns["reward"])

    @property
    def episodes(self) -> int:
        """The number of episodes, the last ones of which may be cut."""
        return len(np.unique(self._columns["episode"]))

    def to_pandas(self) -> Any:
        """A data frame, for example to write a file.

        Returns
        -------
        pandas.DataFrame
            With the columns obs_0, obs_1, ..., reward, ...
        """
        import pandas

        frame: dict[str, Any] = {}
        for name, values in self._columns.items():
            if values.ndim == 2:
                frame.update({f"{name}_{k}": values[:, k] for k in range(values.shape[1])})
            else:
                frame[name] = values
        return pandas.DataFrame(frame)

    def __repr__(self) -> str:
        return f"<Transitions: {self.steps} of {self.episodes} episodes, {self.obs.shape[1]} observations each>"


def collect(
    env: Any,
    policy: Policy | None = None,
    steps: int = 10_000,
    seed: int | None = 0,
    *,
    deterministic: bool | None = None,
) -> Transitions:
    """Runs a policy in a Gymnasium environment, or vector environment, and returns the transitions.

    Parameters
    ----------
    env
        A Gymnasium environment. Of a vector environment every way of resetting by itself is handled: the transition that
        NEXT_STEP makes out of a reset is left out, and SAME_STEP's final observations are used.
    policy
        A function of the observation that returns the action (of a vector environment, of all), or an object with
        ``predict`` as in stable-baselines3. None draws actions at random.
    steps
        The number of transitions.
    seed
        Seeds the environment, and random actions.
    deterministic
        Passed on to ``predict`` if it takes it.

    Returns
    -------
    Transitions
        The transitions. The last one of every run that was still under way is marked as truncated.

    Raises
    ------
    Error
        When observations are not vectors of numbers (Dict, Tuple, images), or ``env`` or ``policy`` is of another kind.

    Examples
    --------
    >>> import gymnasium as gym
    >>> import robust_td as rtd
    >>> log = rtd.collect(gym.make("CartPole-v1"), lambda obs: int(obs[2] > 0), steps=1000, seed=0)
    >>> log
    <Transitions: 1000 of 24 episodes, 4 observations each>
    >>> log.obs.shape, log["terminated"].sum()
    ((1000, 4), np.int64(23))
    """
    steps = int(steps)
    if steps < 1:
        raise Error(f"steps is {steps}, but must be at least 1")
    if not hasattr(env, "observation_space"):
        raise Error(f"env is {env!r}, but must be a Gymnasium environment, such as gymnasium.make(...) returns")
    many = hasattr(env, "num_envs") and hasattr(env, "single_observation_space")
    space = env.single_observation_space if many else env.observation_space
    features = _check_space(space)
    if policy is None:
        env.action_space.seed(seed)
        act: _Act = _Act(lambda _: env.action_space.sample())
    else:
        act = _Act(policy, deterministic)
    columns = (_collect_many if many else _collect_one)(env, act, steps, seed)
    return Transitions(columns, features)


def _check_space(space: Any) -> str | None:
    """The feature map for a space of observations; refuses those that are not vectors of numbers."""
    kind = type(space).__name__
    remedy = "wrap the environment in gymnasium.wrappers.FlattenObservation, or in one that returns a vector"
    if kind == "Discrete":
        return "one-hot(column=0)"
    if kind == "MultiDiscrete" and len(space.shape) == 1:
        return " + ".join(f"one-hot(column={k})" for k in range(space.shape[0]))
    if kind in ("Box", "MultiBinary") and len(space.shape) <= 1:
        return None
    if kind in ("Box", "MultiBinary", "MultiDiscrete"):
        shape = " x ".join(map(str, space.shape))
        raise Error(f"the observations have the shape {shape}, not that of a vector; {remedy}")
    raise Error(f"the observations are of a {kind} space, not vectors of numbers; {remedy}")


class _Act:
    """Calls a policy of any kind."""

    def __init__(self, policy: Policy, deterministic: bool | None = None) -> None:
        self.state: Any = None
        self.options: dict[str, Any] = {}
        predict = getattr(policy, "predict", None)
        self.predicts = predict is not None
        self.call: Any = policy if predict is None else predict
        if not callable(self.call):
            raise Error(f"the policy is a {type(policy).__name__}, but must be a function or have `predict`")
        # d3rlpy takes batches only.
        self.batches = self.predicts and hasattr(policy, "predict_value")
        names = _parameters(self.call) if self.predicts else ()
        self.recurrent = "state" in names and "episode_start" in names
        if deterministic is not None and "deterministic" in names:
            self.options["deterministic"] = deterministic

    def __call__(self, obs: Any, starts: Any, single: bool) -> Any:
        if not self.predicts:
            return self.call(obs)
        if self.batches:
            found = self.call(np.asarray(obs)[None] if single else np.asarray(obs))
            return found[0] if single else found
        options = dict(self.options)
        if self.recurrent:
            options.update(state=self.state, episode_start=np.atleast_1d(starts))
        found = self.call(obs, **options)
        if isinstance(found, tuple):
            found, self.state = found[0], found[1] if len(found) > 1 else None
        return found


def _parameters(function: Any) -> tuple[str, ...]:
    import inspect

    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def _collect_one(env: Any, act: _Act, steps: int, seed: int | None) -> dict[str, NDArray[Any]]:
    obs, _ = env.reset(seed=seed)
    first = _row(obs)
    before, after = np.empty((steps, first.size)), np.empty((steps, first.size))
    reward = np.empty(steps)
    ends = np.zeros((2, steps), dtype=bool)
    episode = np.empty(steps, dtype=np.int64)
    actions: list[Any] = []
    number, starts = 0, True
    for t in range(steps):
        action = act(obs, starts, True)
        actions.append(action)
        before[t] = _row(obs)
        obs, reward[t], terminated, truncated, _ = env.step(action)
        after[t] = _row(obs)
        ends[:, t] = terminated, truncated
        episode[t] = number
        starts = bool(terminated or truncated)
        if starts:
            number += 1
            if t + 1 < steps:
                obs, _ = env.reset()
    if not ends[:, -1].any():
        ends[1, -1] = True
    columns = {
        "obs": before,
        "reward": reward,
        "next_obs": after,
        "terminated": ends[0],
        "truncated": ends[1],
        "episode": episode,
    }
    return _with_actions(columns, actions)


def _row(obs: Any) -> NDArray[np.float64]:
    return np.asarray(obs, dtype=float).reshape(-1)


def _rows(obs: Any, count: int) -> NDArray[np.float64]:
    return np.asarray(obs, dtype=float).reshape(count, -1)


def _with_actions(columns: dict[str, NDArray[Any]], actions: list[Any]) -> dict[str, NDArray[Any]]:
    """Adds the actions, where they are numbers or vectors."""
    try:
        array = np.asarray(actions)
    except ValueError:
        return columns
    if array.dtype.kind in "biuf" and array.ndim <= 2:
        columns["action"] = array
    return columns


def _collect_many(env: Any, act: _Act, steps: int, seed: int | None) -> dict[str, NDArray[Any]]:
    count = int(env.num_envs)
    mode = str(getattr(getattr(env, "metadata", {}).get("autoreset_mode"), "name", "") or "").upper()
    obs, _ = env.reset(seed=seed)
    runs: list[list[tuple[Any, ...]]] = [[] for _ in range(count)]
    resetting = np.zeros(count, dtype=bool)
    starts = np.ones(count, dtype=bool)
    episode = np.arange(count)
    collected, numbers = 0, count
    while collected < steps:
        action = act(obs, starts, False)
        here = _rows(obs, count)
        obs, reward, terminated, truncated, info = env.step(action)
        following = _rows(obs, count).copy()
        ended = np.asarray(terminated, dtype=bool) | np.asarray(truncated, dtype=bool)
        same_step = _put_final(following, info, ended, mode)
        for i in range(count):
            # After an end NEXT_STEP resets in a step of its own, whose action and reward mean nothing.
            if resetting[i] or collected == steps:
                continue
            collected += 1
            runs[i].append(
                (here[i], reward[i], following[i], terminated[i], truncated[i], episode[i], _of_run(action, i))
            )
        for i in np.flatnonzero(ended).tolist():
            episode[i] = numbers
            numbers += 1
        starts = ended.copy()
        if mode == "DISABLED":
            if ended.any() and collected < steps:
                obs, _ = env.reset(options={"reset_mask": ended})
        elif not same_step:
            starts = resetting
            resetting = ended
    rows = [row for run in runs for row in run]
    names = ("obs", "reward", "next_obs", "terminated", "truncated", "episode")
    columns = {name: np.asarray([row[k] for row in rows]) for k, name in enumerate(names)}
    columns["reward"] = columns["reward"].astype(float)
    # A run that was still under way goes on without being watched.
    last = np.cumsum([len(run) for run in runs if run]) - 1
    columns["truncated"][last] |= ~columns["terminated"][last]
    columns["episode"] = np.unique(columns["episode"], return_inverse=True)[1].reshape(-1)
    return _with_actions(columns, [row[6] for row in rows])


def _of_run(action: Any, i: int) -> Any:
    return action[i] if isinstance(action, (np.ndarray, list)) else None


def _put_final(following: NDArray[np.float64], info: Any, ended: NDArray[np.bool_], mode: str) -> bool:
    """Puts the last observations of episodes in place of the first ones of the next; False where those are not there."""
    for key in ("final_obs", "final_observation"):
        if key not in info:
            continue
        final = info[key]
        for i in np.flatnonzero(ended):
            if final[i] is not None:
                following[i] = _row(final[i])
        return True
    if mode == "SAME_STEP" and ended.any():
        raise Error("the environment resets in the same step, but its info has no final_obs: the ends of episodes are lost")
    return mode == "SAME_STEP"
