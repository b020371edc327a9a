"""Measures how often the intervals of importance sampling contain the value of a policy that was not followed.

    pip install numpy scipy
    python benches/importance_sampling.py [--held-out] [--logs 200] [--sizes 50,100,400,1000,5000] [--seed 1]

Simulates logs of tabular decision processes with known values, in episodes, and computes the estimates and intervals of `crates/robust-td-data/src/off_policy` and
`crates/robust-td-core/src/solve/spread.rs` by a second implementation, thousands of logs in a minute. Prints, for each kind of problem and number of episodes, the coverage of
nominal 95 % intervals among those that are shown, and in brackets the share that is shown. The limits of the rule (SKEWED, BEYOND) were chosen on the
kinds of `tuned`; those of `held_out` (--held-out) were not used for that.
"""

import argparse

import numpy as np
from scipy.stats import t as student

SKEWED = 0.5
BEYOND = {"per decision": 1.0, "weighted": 1.0, "doubly robust": 1.5}
NORMAL = 1.959963984540054
PARTS = 5
# The longest products of ratios that are observed, and the least number of them.
WINDOW = 5
FEWEST = 200


class Kind:
    """A decision process with the policy that is followed (mu) and the one that is evaluated (pi)."""

    def __init__(self, name, transition, reward, end, mu, pi, discount, noise, longest):
        self.name, self.transition, self.reward = name, transition, reward
        self.states, self.actions = reward.shape
        self.end = np.broadcast_to(end, self.states)
        self.mu, self.pi, self.discount, self.noise, self.longest = mu, pi, discount, noise, longest
        self.start = np.full(self.states, 1 / self.states)

    def value(self):
        """The exact value."""
        value = np.zeros(self.states)
        for t in range(self.longest):
            onward = self.discount * (t > 0) * np.einsum("ast,t->sa", self.transition, (1 - self.end) * value)
            value = (self.pi * (self.reward + onward)).sum(1)
        return self.start @ value


def draw(rng, cumulative):
    return np.minimum((rng.random((len(cumulative), 1)) > cumulative).sum(1), cumulative.shape[1] - 1)


def simulate(kind, episodes, rng):
    """States, actions, rewards, next states and flags: one row per episode, one column per step."""
    shape = (episodes, kind.longest)
    state, action, following = (np.zeros(shape, np.int32) for _ in range(3))
    reward, alive, done = np.zeros(shape), np.zeros(shape, bool), np.zeros(shape, bool)
    here, rows = draw(rng, np.broadcast_to(np.cumsum(kind.start), (episodes, kind.states))), np.arange(episodes)
    mu, transition = np.cumsum(kind.mu, 1), np.cumsum(kind.transition, 2)
    for t in range(kind.longest):
        taken = draw(rng, mu[here])
        onward = draw(rng, transition[taken, here])
        ends = (rng.random(len(rows)) < kind.end[onward]) | (t == kind.longest - 1)
        for array, values in ((state, here), (action, taken), (following, onward), (alive, True), (done, ends)):
            array[rows, t] = values
        reward[rows, t] = kind.reward[here, taken] + kind.noise(rng, len(rows))
        rows, here = rows[~ends], onward[~ends]
        if not len(rows):
            break
    return state, action, reward, following, alive, done


def interval(parts, value, clusters, effective):
    """The interval of a mean of independent groups: t quantiles, widened by the skewness."""
    second, third, fourth = ((parts**k).sum(1) for k in (2, 3, 4))
    groups = parts.shape[1]
    with np.errstate(all="ignore"):
        error = np.sqrt(second * (clusters - 1) / clusters)
        freedom = np.where(fourth > 0, 3 * second**2 / fourth * (groups - 1) / groups, np.inf)
        freedom = np.maximum(1, np.minimum(np.minimum(freedom, groups - 1), 0.5 * (effective - 1)))
        skew = (1.25 + 12 / np.maximum(8, np.minimum(clusters, effective))) * third / error**3
        shift = np.nan_to_num(skew * (1 + 2 * NORMAL**2) / 6)
    quantile = student.ppf(0.975, freedom)
    return value - error * (quantile + np.maximum(0, -shift)), value + error * (quantile + np.maximum(0, shift)), error


def products(ratio, alive, logs, longest):
    """The mean squares and cubes of the products of the ratios of 1, 2, ... rows, one line per log."""
    means, product, window = [], np.ones_like(ratio), alive.copy()
    for k in range(WINDOW):
        if k:
            window = window[:, 1:] & alive[:, :-k]
        product = product[:, 1:] * ratio[:, : ratio.shape[1] - k] if k else ratio
        count = window.reshape(logs, -1).sum(1)
        sums = [np.where(window, product**p, 0).reshape(logs, -1).sum(1) for p in (2, 3)]
        means.append([(s / np.maximum(count, 1), count) for s in sums])
        if product.shape[1] == 1:
            break
    found = []
    for p in range(2):
        growth = np.maximum(1, means[0][p][0])
        rows = [np.ones(logs)]
        for k in range(longest):
            rows.append(np.minimum(rows[-1] * growth, 1e90))
            if k < len(means):
                seen, count = means[k][p]
                enough = count >= FEWEST
                rows[-1] = np.where(enough, np.maximum(rows[-1], seen), rows[-1])
                if k == WINDOW - 1:
                    before = np.where(means[k - 2][p][0] > 0, means[k - 2][p][0], 1)
                    growth = np.where(enough, np.maximum(growth, np.sqrt(seen / before)), growth)
        rows.append(rows[-1] * growth)
        found.append(rows[1:])
    return found


def skewness(squares, cubes, reach, powers):
    """The predicted skewness of the mean weight of one episode, for every number of rows."""
    second, third, a, f, c = (np.zeros(len(reach)) for _ in range(5))
    found = np.zeros(reach.shape)
    for t, power in enumerate(powers):
        w2, w3 = squares[t], cubes[t]
        third = third + reach[:, t] * (3 * power * c + 3 * power**2 * f + power**3 * w3)
        second = second + reach[:, t] * (2 * power * a + power**2 * w2)
        found[:, t] = third / second**1.5
        c = c + 2 * power * f + power**2 * w3
        f, a = np.minimum(squares[t + 1] / w2 * (f + power * w3), 1e150), a + power * w2
    return found


def beyond(kind, ratio, reward, alive, logs):
    """What an episode earns beyond the rows within reach, for every log."""
    powers = kind.discount ** np.arange(kind.longest)
    count = alive.reshape(logs, -1).sum(1)
    squares, cubes = products(ratio, alive, logs, kind.longest)
    reach = alive.reshape(logs, -1, kind.longest).mean(1)
    size = np.where(alive, np.abs(reward), 0).reshape(logs, -1).sum(1) / count
    episodes = len(alive) // logs
    out = skewness(squares, cubes, reach, powers) / np.sqrt(episodes) > SKEWED
    last = np.where(out.any(1), out.argmax(1), kind.longest)
    mass = np.cumsum((powers * reach)[:, ::-1], 1)[:, ::-1]
    mass = np.concatenate([mass, np.zeros((logs, 1))], 1)
    return mass[np.arange(logs), last] * size


def action_values(kind, state, action, reward, following, alive, done, part, logs):
    """Q of least squares on a table, without each part of the episodes."""
    pairs = kind.states * kind.actions
    rows, steps = np.nonzero(alive)
    place = rows // (len(alive) // logs) * PARTS + part[rows]
    pair = state[rows, steps] * kind.actions + action[rows, steps]
    counts, sums = np.zeros((logs * PARTS, pairs)), np.zeros((logs * PARTS, pairs))
    onward = np.zeros((logs * PARTS, pairs, kind.states))
    np.add.at(counts, (place, pair), 1)
    np.add.at(sums, (place, pair), reward[rows, steps])
    goes = ~done[rows, steps]
    np.add.at(onward, (place[goes], pair[goes], following[rows, steps][goes]), 1)
    without = [x.reshape(logs, PARTS, *x.shape[1:]) for x in (counts, sums, onward)]
    counts, sums, onward = (x.sum(1, keepdims=True) - x for x in without)
    matrix = -kind.discount * np.einsum("lpxs,sa->lpxsa", onward, kind.pi).reshape(logs, PARTS, pairs, pairs)
    diagonal = np.arange(pairs)
    # A pair that never occurs has the value 0; the small number is for processes that never end.
    matrix[:, :, diagonal, diagonal] += np.where(counts > 0, counts, 1) + 1e-7
    return np.linalg.solve(matrix, sums[..., None])[..., 0].reshape(logs * PARTS, kind.states, kind.actions)


def cover(kind, episodes, logs, rng):
    """For each estimator, whether the interval contains the value, and whether it is shown, in every log."""
    state, action, reward, following, alive, done = simulate(kind, episodes * logs, rng)
    powers = kind.discount ** np.arange(kind.longest)
    ratio = np.where(alive, kind.pi[state, action] / kind.mu[state, action], 1.0)
    weight = np.cumprod(ratio, 1)
    by_log = lambda x: x.reshape(logs, episodes, *x.shape[1:])
    mean_weight = by_log((powers * weight * alive).sum(1) / (powers * alive).sum(1))
    effective = mean_weight.sum(1) ** 2 / np.maximum((mean_weight**2).sum(1), 1e-300)
    out_of_reach = beyond(kind, ratio, reward, alive, logs)
    leverage = 1 / (1 - 1 / episodes)
    estimates = {}

    def mean(name, values):
        value = values.mean(1)
        estimates[name] = value, (values - value[:, None]) / episodes * leverage

    mean("per decision", by_log((powers * weight * alive * reward).sum(1)))
    weights, rewards = by_log(weight), by_log(reward * alive)
    totals = weights.sum(1)
    with np.errstate(all="ignore"):
        means = (weights * rewards).sum(1) / totals
        parts = np.nan_to_num(powers * weights * (rewards - means[:, None]) / totals[:, None]).sum(2)
    estimates["weighted"] = np.where((totals > 0).all(1), (powers * np.nan_to_num(means)).sum(1), np.nan), parts * leverage
    part = rng.integers(0, PARTS, len(alive))
    table = action_values(kind, state, action, reward, following, alive, done, part, logs)
    q = table[np.arange(len(alive)) // episodes * PARTS + part]
    v, rows = (q * kind.pi).sum(2), np.arange(len(alive))[:, None]
    error = reward + kind.discount * np.where(done, 0, v[rows, following]) - q[rows, state, action]
    mean("doubly robust", by_log(v[rows[:, 0], state[:, 0]] + (powers * weight * alive * error).sum(1)))
    found, truth = {}, kind.value()
    for name, (value, parts) in estimates.items():
        low, high, spread = interval(parts, value, episodes, effective)
        shown = (np.abs(parts).max(1) > 1e-14 * np.abs(value)) & (out_of_reach <= BEYOND[name] * spread)
        found[name] = (low <= truth) & (truth <= high), shown
    return found


def garnet(seed, states, actions):
    """A random process: transitions to three states, mean rewards of each action."""
    rng = np.random.default_rng(seed)
    transition = np.zeros((actions, states, states))
    for a in range(actions):
        for s in range(states):
            transition[a, s, rng.choice(states, min(3, states), replace=False)] = rng.dirichlet(np.ones(min(3, states)))
    return transition, rng.normal(size=(states, actions)), rng


def soft(rng, states, actions, least):
    """A policy with probabilities of at least `least`."""
    return least + (1 - actions * least) * rng.dirichlet(np.ones(actions), states)


def hard(rng, states, actions):
    """A policy that always takes one action."""
    return np.eye(actions)[rng.integers(0, actions, states)]


def normal(scale):
    return lambda rng, n: scale * rng.standard_normal(n)


def tuned():
    for seed, discount, end, longest in ((1, 0.9, 0.2, 60), (2, 0.95, 0.1, 60), (3, 0.9, 0.4, 40)):
        p, r, rng = garnet(seed, 5, 3)
        yield Kind(f"one action, ends {end}", p, r + 1, end, soft(rng, 5, 3, 0.1), hard(rng, 5, 3), discount, normal(0.5), longest)
    p, r, rng = garnet(4, 5, 3)
    yield Kind("one action, rewards around 0", p, r, 0.2, soft(rng, 5, 3, 0.1), hard(rng, 5, 3), 0.9, normal(0.5), 60)
    for longest in (1, 3, 6):
        p, r, rng = garnet(10 + longest, 4, 3)
        yield Kind(f"one action, {longest} steps", p, r + 0.5, 0, soft(rng, 4, 3, 0.1), hard(rng, 4, 3), 0.95, normal(0.5), longest)
    for seed, share, longest, end in ((20, 0.3, 20, 0), (21, 0.5, 50, 0), (22, 0.5, 60, 0.1)):
        p, r, rng = garnet(seed, 6, 3)
        mu = soft(rng, 6, 3, 0.1)
        pi = (1 - share) * mu + share * soft(rng, 6, 3, 0.1)
        yield Kind(f"{share} of another policy, {longest} steps, ends {end}", p, r + 1, end, mu, pi, 0.95, normal(0.5), longest)
    for longest in (4, 10):
        p, r, rng = garnet(30 + longest, 5, 4)
        pi = 0.9 * hard(rng, 5, 4) + 0.025
        yield Kind(f"90 % one of four actions, {longest} steps", p, r + 1, 0, np.full((5, 4), 0.25), pi, 0.9, normal(0.5), longest)


def held_out():
    places, p = 7, np.zeros((2, 7, 7))
    for s in range(places):
        for a, step in ((0, -1), (1, 1)):
            p[a, s, np.clip(s + step, 0, 6)] += 0.8
            p[a, s, np.clip(s - step, 0, 6)] += 0.2
    r = np.zeros((places, 2))
    r[5] = 0.2, 0.8
    end = np.zeros(places)
    end[[0, 6]] = 1
    for name, right in (("mild", 0.65), ("strong", 0.9), ("one action", 1.0)):
        kind = Kind(f"random walk, {name}", p, r, end, np.full((7, 2), 0.5), np.tile([1 - right, right], (7, 1)), 0.95, normal(0.1), 100)
        kind.start = np.eye(places)[3]
        yield kind
    rng = np.random.default_rng(77)
    r = rng.normal(size=(3, 20)) + 1
    yield Kind("one decision, one of 20 actions", np.tile(np.eye(3), (20, 1, 1)), r, 1, soft(rng, 3, 20, 0.01), hard(rng, 3, 20), 0.9, normal(1), 1)
    p, r, rng = garnet(88, 8, 4)
    lognormal = lambda rng, n: np.exp(rng.standard_normal(n)) - np.exp(0.5)
    yield Kind("70 % one of four actions, skewed rewards", p, np.abs(r), 0.15, soft(rng, 8, 4, 0.08), 0.7 * hard(rng, 8, 4) + 0.075, 0.97, lognormal, 60)
    p, r, rng = garnet(91, 10, 2)
    yield Kind("one of two actions, 8 steps, discount 1", p, r + 1, 0, soft(rng, 10, 2, 0.2), hard(rng, 10, 2), 1.0, normal(1), 8)
    p, r, rng = garnet(92, 5, 3)
    yield Kind("one action, 5 states, ends 0.25", p, r + 1, 0.25, soft(rng, 5, 3, 0.1), hard(rng, 5, 3), 0.95, normal(1), 60)
    p, r, rng = garnet(93, 6, 3)
    mu = soft(rng, 6, 3, 0.15)
    yield Kind("0.3 of another policy, 30 steps, rewards around 0", p, r, 0, mu, 0.7 * mu + 0.3 * soft(rng, 6, 3, 0.1), 0.99, normal(1), 30)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--sizes", default="50,100,400,1000,5000")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    totals = {}
    print("| problem | episodes | per decision | weighted | doubly robust |\n|---|---|---|---|---|")
    for number, kind in enumerate(held_out() if options.held_out else tuned()):
        for episodes in map(int, options.sizes.split(",")):
            rng = np.random.default_rng([options.seed, number, episodes])
            left, found = options.logs, []
            while left > 0:
                logs = min(left, max(1, int(1.2e6 / (episodes * kind.longest))))
                found.append(cover(kind, episodes, logs, rng))
                left -= logs
            cells = []
            for name in found[0]:
                inside, shown = (np.concatenate([each[name][k] for each in found]) for k in (0, 1))
                count, good = totals.get(name, (0, 0))
                totals[name] = count + shown.sum(), good + (inside & shown).sum()
                text = f"{100 * inside[shown].mean():.0f} %" if shown.sum() >= 15 else "-"
                cells.append(f"{text} ({100 * shown.mean():.0f} %)")
            print(f"| {kind.name} | {episodes} | {' | '.join(cells)} |", flush=True)
    for name, (count, good) in totals.items():
        print(f"{name}: {100 * good / max(count, 1):.1f} % of {count} intervals")


if __name__ == "__main__":
    main()
