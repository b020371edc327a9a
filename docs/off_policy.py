"""Simulates a shop that sends coupons, under an old rule and a new one: python docs/off_policy.py writes coupons.csv.

A customer is known by the number of months since the last order and the number of orders so far. The old rule sends a coupon to 30 % of the
customers, whoever they are. The new rule sends one to 80 % of those who have not ordered for two months or more, and to 5 % of the others.
The reward is what the customer spends in the month, minus 1 for a coupon. Customers leave for good, the sooner the longer they have not
ordered.
"""

import csv
import random

DISCOUNT = 0.9


def old_rule(recency, orders):
    return 0.3


def new_rule(recency, orders):
    return 0.8 if recency >= 2 else 0.05


def month(rng, recency, orders, coupon):
    """The reward of a month, the next state, and whether the customer has left."""
    chance = (0.5, 0.35, 0.2, 0.1)[recency] + coupon * (0.05, 0.1, 0.3, 0.25)[recency]
    ordered = rng.random() < chance
    reward = (rng.gammavariate(4.0, 2.0 + 0.5 * orders) if ordered else 0.0) - coupon
    recency = 0 if ordered else min(recency + 1, 3)
    orders = min(orders + ordered, 4)
    left = rng.random() < (0.05, 0.1, 0.15, 0.3)[recency]
    return reward, recency, orders, left


def episode(rng, rule):
    recency, orders, left = 0, rng.randrange(3), False
    while not left:
        chance = rule(recency, orders)
        coupon = int(rng.random() < chance)
        state = recency, orders
        reward, recency, orders, left = month(rng, recency, orders, coupon)
        yield state, coupon, chance if coupon else 1 - chance, reward, left


def worth(rule, customers, seed):
    """The mean discounted sum of rewards."""
    rng = random.Random(seed)
    total = 0.0
    for _ in range(customers):
        for t, (_, _, _, reward, _) in enumerate(episode(rng, rule)):
            total += DISCOUNT**t * reward
    return total / customers


if __name__ == "__main__":
    rng = random.Random(1)
    with open("coupons.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow("customer,obs_0,obs_1,action,reward,terminated,behaviour_prob,target_0,target_1".split(","))
        for customer in range(3000):
            for (recency, orders), coupon, chance, reward, left in episode(rng, old_rule):
                new = new_rule(recency, orders)
                row = [customer, recency, orders, coupon, round(reward, 2), int(left), round(chance, 2)]
                out.writerow([*row, round(1 - new, 2), new])
    for name, rule in (("old", old_rule), ("new", new_rule)):
        print(f"{name} rule: {worth(rule, 400_000, 2):.2f}")
