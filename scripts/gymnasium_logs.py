"""Makes logs of Gymnasium environments whose true values are known.

    pip install 'gymnasium<1.3' numpy      # Taxi-v3 left later versions; and polars for --parquet
    python scripts/gymnasium_logs.py logs/             # taxi.csv, frozen_lake.csv, cart_pole.csv, truth.json
    python scripts/gymnasium_logs.py logs/ --parquet   # the same as Parquet
    python scripts/gymnasium_logs.py crates/robust-td/tests/logs --small    # the stored logs of the tests, as .csv.gz

Each log is one fixed, mediocre policy: obs_*, next_obs_*, reward, terminated, truncated, episode.

`truth.json` has the value of the policy under discount 0.99: the mean value over the distribution of starts. A time limit truncates an
episode and does not terminate it, so this is the value of the process without time limits. Taxi and FrozenLake: exact,
from the transition table of the environment (`standard_error` 0), with the value of every state. CartPole: mean of rollouts of 3000 steps, with its
standard error. The random numbers have fixed seeds (`--seed` makes other logs); the same versions of gymnasium and numpy make the same files.
"""

import argparse
import csv
import gzip
import io
import json
from pathlib import Path

import gymnasium
import numpy as np

DISCOUNT = 0.99


class Table:
    """A policy in an environment with a transition table: the best action with probability `skill`, otherwise any action."""

    def __init__(self, name, skill, **options):
        self.name, self.options = name, options
        env = gymnasium.make(name, **options).unwrapped
        self.states, self.actions = int(env.observation_space.n), int(env.action_space.n)
        # P[a, s, s'] up to the end of the episode, r[a, s]: the mean reward.
        self.moves = np.zeros((self.actions, self.states, self.states))
        self.rewards = np.zeros((self.actions, self.states))
        for s in range(self.states):
            for a in range(self.actions):
                for probability, to, reward, terminated in env.P[s][a]:
                    self.rewards[a, s] += probability * reward
                    self.moves[a, s, to] += probability * (not terminated)
        self.starts = np.asarray(env.initial_state_distrib)
        self.policy = (1 - skill) / self.actions + skill * np.eye(self.actions)[self.best()]

    def best(self):
        """The optimal action of every state."""
        values = np.zeros(self.states)
        for _ in range(3000):
            of_actions = self.rewards + DISCOUNT * self.moves @ values
            values = of_actions.max(axis=0)
        return of_actions.argmax(axis=0)

    def act(self, observation, rng):
        return rng.choice(self.actions, p=self.policy[observation])

    def truth(self):
        """The value of the policy and of every state: V = r + gamma P V."""
        moves = np.einsum("sa,ast->st", self.policy, self.moves)
        rewards = np.einsum("sa,as->s", self.policy, self.rewards)
        values = np.linalg.solve(np.eye(self.states) - DISCOUNT * moves, rewards)
        start = float(self.starts @ values)
        return {"start_value": start, "standard_error": 0.0, "values": values.round(9).tolist()}


class CartPole:
    """Pushes towards the side to which the pole falls; three pushes in five are random."""

    name, options = "CartPole-v1", {}

    def act(self, observation, rng):
        return int(self.pushes(observation[None], rng)[0])

    @staticmethod
    def pushes(observations, rng):
        falling = observations[:, 2] + 0.5 * observations[:, 3] > 0
        return np.where(rng.random(len(observations)) < 0.6, rng.integers(2, size=len(observations)), falling)

    def truth(self, rollouts=20_000, steps=3000):
        """The mean discounted return of many rollouts; after `steps` less than 1e-11 is left."""
        options = {"num_envs": rollouts, "vectorization_mode": "vector_entry_point", "max_episode_steps": steps + 1}
        envs, rng = gymnasium.make_vec(self.name, **options), np.random.default_rng(2)
        observations, _ = envs.reset(seed=1)
        returns, alive = np.zeros(rollouts), np.ones(rollouts, bool)
        for t in range(steps):
            observations, rewards, terminated, *_ = envs.step(self.pushes(observations, rng))
            returns += DISCOUNT**t * rewards * alive
            alive &= ~terminated
            if not alive.any():
                break
        return {"start_value": float(returns.mean()), "standard_error": float(returns.std() / rollouts**0.5)}


# File, policy, rows of the full and of the small log.
LOGS = [
    ("taxi", lambda: Table("Taxi-v3", 0.1), 500_000, 30_000),
    ("frozen_lake", lambda: Table("FrozenLake-v1", 0.8, map_name="8x8", is_slippery=True), 100_000, 30_000),
    ("cart_pole", CartPole, 100_000, 4_000),
]


def rollout(policy, rows, seed):
    """Whole episodes of the environment with its time limit, at least this many rows."""
    env, rng = gymnasium.make(policy.name, **policy.options), np.random.default_rng(seed)
    found, episode = [], 0
    while len(found) < rows:
        observation, _ = env.reset(seed=seed if episode == 0 else None)
        ended = False
        while not ended:
            following, reward, terminated, truncated, _ = env.step(policy.act(observation, rng))
            numbers = [f"{x:.6g}" for x in (*np.atleast_1d(observation), *np.atleast_1d(following), reward)]
            found.append([*numbers, int(terminated), int(truncated), episode])
            observation, ended = following, terminated or truncated
        episode += 1
    width = np.atleast_1d(observation).size
    names = [f"{role}_{k}" for role in ("obs", "next_obs") for k in range(width)]
    return [*names, "reward", "terminated", "truncated", "episode"], found


def write(path, header, rows, kind):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    if kind == "parquet":
        import polars

        polars.read_csv(io.StringIO(text.getvalue()), infer_schema_length=None).write_parquet(path)
    elif kind == "csv.gz":
        # Without a time, the same rows make the same bytes.
        path.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
    else:
        path.write_text(text.getvalue())


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("directory", type=Path)
    arguments.add_argument("--parquet", action="store_true", help="write Parquet instead of CSV")
    arguments.add_argument("--small", action="store_true", help="write few rows, compressed")
    arguments.add_argument("--seed", type=int, default=0, help="of the logs")
    options = arguments.parse_args()
    kind = "parquet" if options.parquet else "csv.gz" if options.small else "csv"
    options.directory.mkdir(parents=True, exist_ok=True)
    truth = {"discount": DISCOUNT, "gymnasium": gymnasium.__version__}
    for name, make, full, small in LOGS:
        policy = make()
        header, rows = rollout(policy, small if options.small else full, options.seed)
        write(options.directory / f"{name}.{kind}", header, rows, kind)
        truth[name] = policy.truth()
        of = truth[name]
        print(f"{name}: {len(rows)} rows, start value {of['start_value']:.4f} +- {of['standard_error']:.4f}")
    (options.directory / "truth.json").write_text(json.dumps(truth) + "\n")


if __name__ == "__main__":
    main()
