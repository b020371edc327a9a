"""Data sets of other tools."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

import robust_td as rtd


@pytest.fixture(params=["hdf5", "arrow"])
def dataset(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    minari = pytest.importorskip("minari")
    from minari.data_collector import EpisodeBuffer

    # Four episodes of three steps that are truncated, as a collector would leave them.
    parts = [
        EpisodeBuffer(
            id=number,
            observations=list(np.arange(4, dtype=np.float32)[:, None]),
            actions=[0, 0, 0],
            rewards=[0.0, 0.0, 0.0],
            terminations=[False] * 3,
            truncations=[False, False, True],
            infos={},
        )
        for number in range(4)
    ]
    made = minari.create_dataset_from_buffers(
        f"corridor/{request.param}-v0",
        parts,
        observation_space=gymnasium.spaces.Box(0, 9, (1,), dtype=np.float32),
        action_space=gymnasium.spaces.Discrete(2),
        data_format=request.param,
    )
    return made


@pytest.mark.filterwarnings("ignore")
def test_minari_has_no_padding_and_keeps_truncation(dataset: Any) -> None:
    found = rtd.inspect(dataset)
    assert (found.transitions, found.episodes, found.dimension) == (12, 4, 1)
    episodes = found.to_dict()["episodes"]
    assert (episodes["terminated"], episodes["truncated"]) == (0, 4)
    fit = rtd.evaluate(dataset, discount=0.5)
    # float32 observations: 0, 1, 2 exactly; never a reward.
    assert fit.steps == 12 and fit.predict([[0.0], [1.0], [2.0]]) == pytest.approx([0, 0, 0])
    assert len(fit.predict(dataset)) == 12


def test_minari_observations_of_several_parts_are_refused() -> None:
    episode = SimpleNamespace(observations={"a": np.zeros(3)}, rewards=np.zeros(2))
    stand_in = SimpleNamespace(iterate_episodes=lambda: iter([episode]))
    with pytest.raises(rtd.Error, match="Dict or Tuple"):
        rtd.evaluate(stand_in, discount=0.9)


def test_d3rlpy_episodes() -> None:
    """A stand-in with d3rlpy's attributes, which needs PyTorch: T observations, rewards of shape (T, 1), one flag."""

    def episode(length: int, terminated: bool) -> Any:
        observations = np.arange(length, dtype=np.float32)[:, None]
        rewards = np.zeros((length, 1), dtype=np.float32)
        rewards[-1] = float(terminated)
        return SimpleNamespace(observations=observations, rewards=rewards, terminated=terminated)

    data = SimpleNamespace(episodes=[episode(5, True), episode(3, False), episode(5, True)])
    fit = rtd.evaluate(data, discount=0.5, features="one-hot(column=0)")
    # The last row of the episode that was cut has no successor.
    assert fit.steps == 12
    assert fit.predict(np.arange(5)) == pytest.approx(0.5 ** np.arange(4, -1, -1))
    with pytest.raises(rtd.Error, match="no episodes"):
        rtd.evaluate(SimpleNamespace(episodes=[]), discount=0.5)
