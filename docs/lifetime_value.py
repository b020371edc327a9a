"""Turn the CDNOW purchase log into transitions, and plot predicted against realised customer value.

    python lifetime_value.py prepare lifetimes.whl    writes train.csv and test.csv
    python lifetime_value.py figure                   reads test.csv and values.csv, writes lifetime_value.svg

Uses only the standard library. Reads the data from the wheel of the package `lifetimes` without installing it.
"""

import csv
import math
import sys
import zipfile
from collections import defaultdict

MEMBER = "lifetimes/datasets/CDNOW_master.txt"  # customer, date, units, dollars
MONTHS = 18  # January 1997 to June 1998
DISCOUNT = 0.8  # per month
TEST_MONTH = 5  # predict the test customers as of 30 June 1997 ...
WINDOW = 12  # ... and compare with the next twelve months

OBS = ["obs_0", "obs_1", "obs_2"]  # recency, frequency, monetary


def purchases(wheel):
    """Return orders and dollars per month, for each customer."""
    log = defaultdict(lambda: ([0] * MONTHS, [0.0] * MONTHS))
    with zipfile.ZipFile(wheel) as archive:
        for line in archive.read(MEMBER).decode("ascii").splitlines()[1:]:
            customer, date, _units, dollars = line.split()
            month = 12 * (int(date[:4]) - 1997) + int(date[4:6]) - 1
            orders, spend = log[int(customer)]
            orders[month] += 1
            spend[month] += float(dollars)
    return log


def state(orders, spend, month):
    """Return a customer's state at the end of a month, in logarithms so that big spenders do not dominate the fit."""
    bought = [m for m in range(month + 1) if orders[m] > 0]
    count = sum(orders[: month + 1])
    recency = math.log1p(month - bought[-1])  # months since the last order
    frequency = math.log(count)  # orders so far
    monetary = math.log1p(sum(spend[: month + 1]) / count)  # dollars per order
    return [round(x, 6) for x in (recency, frequency, monetary)]


def prepare(wheel):
    with open("train.csv", "w", newline="") as train_file, open("test.csv", "w", newline="") as test_file:
        train, test = csv.writer(train_file), csv.writer(test_file)
        train.writerow(["episode", *OBS, "reward", *("next_" + name for name in OBS), "truncated"])
        test.writerow(["customer", *OBS, "realised"])
        for customer, (orders, spend) in sorted(purchases(wheel).items()):
            first = next(m for m in range(MONTHS) if orders[m] > 0)
            if customer % 2 == 1:  # odd customers: training set
                for month in range(first, MONTHS - 1):
                    now, after = (state(orders, spend, m) for m in (month, month + 1))
                    last = int(month == MONTHS - 2)  # truncated: the log ends here, the customer does not
                    train.writerow([customer, *now, round(spend[month + 1], 2), *after, last])
            else:  # even customers: test set
                future = spend[TEST_MONTH + 1 : TEST_MONTH + 1 + WINDOW]
                realised = sum(DISCOUNT**k * dollars for k, dollars in enumerate(future))
                test.writerow([customer, *state(orders, spend, TEST_MONTH), round(realised, 4)])


def figure():
    with open("test.csv") as test, open("values.csv") as values:
        realised = [float(row["realised"]) for row in csv.DictReader(test)]
        predicted = [float(row["value"]) for row in csv.DictReader(values)]
    pairs = sorted(zip(predicted, realised, strict=True))
    deciles = [pairs[len(pairs) * k // 10 : len(pairs) * (k + 1) // 10] for k in range(10)]
    points = []
    print("decile  customers  predicted  realised  stderr")
    for k, group in enumerate(deciles):
        n = len(group)
        p, r = (sum(pair[i] for pair in group) / n for i in (0, 1))
        error = math.sqrt(sum((pair[1] - r) ** 2 for pair in group) / (n - 1) / n)
        points.append((p, r, error))
        print(f"{k + 1:6}  {n:9}  {p:9.2f}  {r:8.2f}  {error:6.2f}")
    n = len(pairs)
    print(f"   all  {n:9}  {sum(predicted) / n:9.2f}  {sum(realised) / n:8.2f}")
    picture = draw(points)
    with open("lifetime_value.svg", "w") as out:
        out.write(picture)


def draw(points):
    """Return an SVG with one point per decile, bars of two standard errors, and the diagonal."""
    top = 10 * math.ceil(max(max(p, r + 2 * e) for p, r, e in points) / 10)
    low = min(0, 10 * math.floor(min(min(p, r - 2 * e) for p, r, e in points) / 10))
    if top - low > 1000:
        sys.exit("the predictions are implausibly large; check whether the run diverged")
    x = lambda v: 60 + 400 * (v - low) / (top - low)
    y = lambda v: 420 - 400 * (v - low) / (top - low)
    line = lambda a, b, c, d, style: f'<line x1="{x(a):.1f}" y1="{y(b):.1f}" x2="{x(c):.1f}" y2="{y(d):.1f}" {style}/>'
    label = lambda at, text, more="": f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="middle" {more}>{text}</text>'
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 470" width="480" height="470"'
        ' font-family="sans-serif" font-size="12">',
        '<rect width="480" height="470" fill="white"/>',
        line(low, low, top, top, 'stroke="#999" stroke-dasharray="4 4"'),
        line(low, low, top, low, 'stroke="black"'),
        line(low, low, low, top, 'stroke="black"'),
        label((260, 460), "predicted discounted value, dollars (mean of a decile)"),
        label((15, 220), "realised discounted spend, dollars", 'transform="rotate(-90 15 220)"'),
    ]
    for tick in range(low, top + 1, 20):
        parts.append(label((x(tick), 437), tick))
        parts.append(label((45, y(tick) + 4), tick))
    for p, r, e in points:
        parts.append(line(p, r - 2 * e, p, r + 2 * e, 'stroke="#1f5fa8"'))
        parts.append(f'<circle cx="{x(p):.1f}" cy="{y(r):.1f}" r="4" fill="#1f5fa8"/>')
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare", wheel]:
            prepare(wheel)
        case ["figure"]:
            figure()
        case _:
            sys.exit(__doc__)
