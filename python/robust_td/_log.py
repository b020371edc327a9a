"""Turns what people have (paths, data frames, arrays, data sets) into what the native part reads."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from . import _arrays
from ._native import Error, Table

#: Column names that have a role by themselves.
ROLES = ("obs", "next_obs", "reward", "terminated", "truncated", "episode", "rho")
#: Columns that say what a policy does that was not followed.
POLICY = ("target", "next_target", "target_action", "next_action")
#: These and the others that only such a policy needs.
OF_ACTIONS = (*POLICY, "action", "behaviour_prob")
ACCEPTED = (
    "a path, a pattern or a list of them; a pandas, polars or pyarrow table; a dict of arrays with obs and reward; a Minari or "
    "d3rlpy data set; or what robust_td.collect returns"
)
Columns = Mapping[str, "str | Iterable[str]"]
Used = Callable[[str], bool]


class Source:
    """A log for the native part: paths, or a table; with what it says about itself."""

    def __init__(self, log: Table | list[str], features: str | None = None) -> None:
        self.log = log
        #: The feature map to use where none is set.
        self.features = features


def named_in(features: Any) -> Used:
    """Whether a feature map may name a column; patterns may name any."""
    text = features if isinstance(features, str) else " ".join(features or ())
    if "*" in text or "?" in text:
        return lambda _: True
    return lambda name: name in text or (name.startswith("next_") and name[5:] in text)


def source(
    log: Any, columns: Columns | None, layout: str | None, *, passes: bool, actions: bool = False, used: Used = lambda _: False
) -> Source:
    """The source of a log; ``passes`` says that it is read more than once, ``actions`` that its actions matter, ``used`` which columns without a role are needed."""
    found = _paths(log)
    if found is not None:
        return Source(found)
    if isinstance(log, Mapping):
        table = of_columns(log, columns, layout, actions, used)
        return Source(table, getattr(log, "features", None))
    if isinstance(log, np.ndarray) and log.dtype.names:
        return Source(of_columns({name: log[name] for name in log.dtype.names}, columns, layout, actions, used))
    if type(log).__name__ == "LazyFrame" and hasattr(log, "collect"):
        log = log.collect()
    if hasattr(log, "__arrow_c_array__") and not hasattr(log, "__arrow_c_stream__"):
        # One record batch.
        import pyarrow

        log = pyarrow.table(log)
    if hasattr(log, "__arrow_c_stream__"):
        if passes and is_one_shot(log):
            raise Error(
                f"the log is needed more than once, but a {type(log).__name__} can be read only once; "
                "pass a table instead, such as reader.read_all()"
            )
        return Source(of_arrow(log, columns, layout, actions, used))
    if hasattr(log, "iterate_episodes"):
        return Source(of_columns(_minari(log), None, None))
    if hasattr(log, "episodes") and not callable(log.episodes):
        return Source(of_columns(_d3rlpy(log.episodes), None, None))
    if callable(getattr(log, "to_table", None)):
        return Source(of_arrow(log.to_table(), columns, layout, actions, used))
    if hasattr(log, "columns") and hasattr(log, "__getitem__"):
        return Source(of_columns({str(name): log[name] for name in log.columns}, columns, layout, actions, used))
    raise Error(f"cannot read a log from a {type(log).__name__}: pass {ACCEPTED}")


def _paths(log: Any) -> list[str] | None:
    if isinstance(log, (str, os.PathLike)):
        return [_path(log)]
    if isinstance(log, (list, tuple)):
        if not log:
            raise Error("no input file is given")
        if all(isinstance(path, (str, os.PathLike)) for path in log):
            return [_path(path) for path in log]
    return None


def _path(path: Any) -> str:
    """A path as text; Python has names of files that are none."""
    text = os.fsdecode(path)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Error(f"the name of the file {ascii(text)} is not valid text: rename it, or open it with pyarrow") from None
    return text


def is_one_shot(log: Any) -> bool:
    """Whether a stream is gone after it was read."""
    return hasattr(log, "read_next_batch") or hasattr(log, "__next__")


def of_arrow(
    log: Any, columns: Columns | None, layout: str | None, actions: bool = False, used: Used = lambda _: False
) -> Table:
    """The table of anything with an Arrow stream."""
    try:
        capsule = log.__arrow_c_stream__()
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:
        # pandas exports its frames by pyarrow, which may be missing, and which refuses columns of mixed types without naming the row.
        if hasattr(log, "columns") and hasattr(log, "__getitem__"):
            return of_columns({str(name): log[name] for name in log.columns}, columns, layout, actions, used)
        raise Error(f"the {type(log).__name__} cannot be read as Arrow: {error}") from error
    try:
        return Table.of_stream(capsule)
    except Error:
        raise
    except (TypeError, ValueError):
        # No capsule, or that of something else.
        raise Error(f"the {type(log).__name__} cannot be read as Arrow: it gives a {type(capsule).__name__} instead of a stream") from None


def of_columns(
    log: Mapping[Any, Any],
    columns: Columns | None,
    layout: str | None,
    actions: bool = False,
    used: Used = lambda _: False,
) -> Table:
    """The table of named arrays; those of actions only for a policy that was not followed, because others may not be discrete."""
    mapped = roles(columns, log)
    named = {mapped.get(str(name)) or _role(str(name)) for name, values in log.items() if values is not None}
    actions = actions or not named.isdisjoint(POLICY)
    prepared: list[tuple[str, Any, Any]] = []
    for name, values in log.items():
        name = str(name)
        role = mapped.get(name) or _role(name)
        unused = (role is None and layout is None and not used(name)) or (role in OF_ACTIONS and not actions)
        if values is None or unused:
            # An optional column that is not there, or one without a role.
            continue
        try:
            if role in _arrays.FLAGS:
                column = _arrays.flags(name, values)
            elif role in _arrays.IDS:
                column = _arrays.ids(name, values)
            elif role in ("obs", "next_obs", None) and _arrays.is_text(name, values):
                column = _arrays.texts(name, values)
            elif role in ("next_obs", "next_target"):
                column = _arrays.following(name, values)
            elif role in ("obs", "target"):
                column = _arrays.matrix(name, values)
            elif role is None:
                column = _guess(name, values)
            else:
                column = _arrays.floats(name, _arrays.single(name, values))
        except Error:
            if role is None:
                continue
            raise
        prepared.append((name, *column))
    try:
        return Table.of_columns(prepared)
    except UnicodeEncodeError as error:
        where = (_arrays.unencodable(name, values) for name, values, _ in prepared)
        raise Error(next(filter(None, where), f"log: a name of a column is not valid text: {error.reason}")) from None


def _guess(name: str, values: Any) -> _arrays.Column:
    """A column of a layout, whose role only the native part knows."""
    array = _arrays.as_array(name, values)
    if array.ndim == 1 and array.dtype.kind in "iuUSO":
        return _arrays.ids(name, array)
    if array.ndim == 1 and array.dtype.kind == "b":
        return _arrays.flags(name, array)
    return _arrays.matrix(name, array)


def _role(name: str) -> str | None:
    if name in ROLES or name in OF_ACTIONS:
        return name
    if name == "behavior_prob":
        return "behaviour_prob"
    for stem in ("next_obs", "obs"):
        if name.startswith((stem + "_", stem + ":")):
            return stem
    for stem in ("next_target", "target"):
        if name.removeprefix(stem + "_").isdecimal():
            return stem
    return None


def roles(columns: Columns | None, log: Iterable[Any] = ()) -> dict[str, str]:
    """The role of each column that is mapped; a star stands for any text in the names of a log."""
    found: dict[str, str] = {}
    for role, names in (columns or {}).items():
        for name in [names] if isinstance(names, str) else names:
            found[str(name)] = role
            if "*" in str(name):
                found.update({str(own): role for own in log if fnmatch.fnmatchcase(str(own), str(name))})
    return found


def column_options(columns: Columns | None) -> list[str] | None:
    """The columns as the native part takes them: role=name."""
    if columns is None:
        return None
    if not isinstance(columns, Mapping):
        raise Error('columns must be a dict such as {"obs": ["x", "y"], "terminated": "done"}')
    pairs = []
    for role, names in columns.items():
        for name in [names] if isinstance(names, str) else names:
            pairs.append(f"{role}={name}")
    return pairs


def _minari(dataset: Any) -> dict[str, Any]:
    """The transitions of a Minari data set: episodes of T steps have T + 1 observations."""
    obs, following, rewards, terminated, truncated, episode = ([] for _ in range(6))
    for number, part in enumerate(dataset.iterate_episodes()):
        observations = part.observations
        if isinstance(observations, (dict, tuple)):
            raise Error(
                "the data set has observations of several parts (a Dict or Tuple space); flatten them first, for example "
                'with gymnasium.spaces.utils.flatten, and pass {"obs": ..., "reward": ..., ...}'
            )
        steps = len(part.rewards)
        observations = _flat("observations", observations)
        if len(observations) < steps + 1:
            raise Error(
                f"episode {number} has {len(observations)} observations for {steps} rewards; Minari stores one more"
            )
        # Some storages pad the other columns to the length of the observations.
        obs.append(observations[:steps])
        following.append(observations[1 : steps + 1])
        rewards.append(np.asarray(part.rewards, dtype=float))
        ends = np.asarray(part.terminations, dtype=bool)[:steps]
        terminated.append(ends)
        truncated.append(np.asarray(part.truncations, dtype=bool)[:steps])
        episode.append(np.full(steps, int(getattr(part, "id", number))))
    return _joined(obs, following, rewards, terminated, truncated, episode)


def _d3rlpy(episodes: Any) -> dict[str, Any]:
    """The rows of d3rlpy's episodes, whose last row has no successor unless the episode terminated."""
    obs, rewards, terminated, episode = ([] for _ in range(4))
    for number, part in enumerate(episodes):
        observations = _flat("observations", part.observations)
        steps = len(observations)
        ends = np.zeros(steps, dtype=bool)
        if steps:
            ends[-1] = bool(getattr(part, "terminated", getattr(part, "terminal", False)))
        obs.append(observations)
        rewards.append(np.asarray(part.rewards, dtype=float).reshape(-1))
        terminated.append(ends)
        episode.append(np.full(steps, number))
    return _joined(obs, None, rewards, terminated, None, episode)


def _flat(name: str, observations: Any) -> Any:
    array = np.asarray(observations)
    if array.dtype == object:
        raise Error(f"the {name} are not arrays of numbers")
    if array.ndim > 2:
        shape = " x ".join(map(str, array.shape[1:]))
        raise Error(f"the {name} have the shape {shape}; flatten them and pass arrays")
    return array


def _joined(obs: Any, following: Any, rewards: Any, terminated: Any, truncated: Any, episode: Any) -> dict[str, Any]:
    if not obs:
        raise Error("the data set has no episodes")
    columns = {
        "obs": obs,
        "next_obs": following,
        "reward": rewards,
        "terminated": terminated,
        "truncated": truncated,
        "episode": episode,
    }
    return {name: np.concatenate(parts) for name, parts in columns.items() if parts is not None}
