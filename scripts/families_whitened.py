"""Compares Algorithm 1 in three coordinates on the authors' families, each with its best c, and prints the table of docs/findings.md.

    python scripts/families_whitened.py [--command target/release/robust-td] [--horizon 100000] [--runs 8]
"""

import argparse
import json
import subprocess

PROBLEMS = ["toyexample", *(f"e{k}" for k in range(1, 11))]
METHODS = ["alg1", "alg1-scaled", "alg1-whitened"]
CONSTANTS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3]


def told(command: str, *arguments: str) -> dict:
    done = subprocess.run([command, *arguments, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def best(entries: list[dict], method: str, suffix: str) -> tuple[float, str]:
    """The smallest mean f of a method over its constants; infinite if every constant diverged somewhere."""
    found = []
    for entry in entries:
        # The label is the id with its settings.
        label = entry["label"]
        if label.startswith(f"{method}:c=") and label.endswith(suffix) and not entry["divergence_rate"]:
            if entry["f"]["mean"] is not None and ("share" in label) == bool(suffix):
                found.append((entry["f"]["mean"], label.split(":c=")[1].split(":")[0]))
    return min(found) if found else (float("inf"), "-")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="robust-td")
    parser.add_argument("--horizon", default="100000")
    parser.add_argument("--runs", default="8")
    chosen = parser.parse_args()
    labels = [f"{method}:c={c}" for method in METHODS for c in CONSTANTS]
    labels += [f"alg1-whitened:c={c}:share=0.1" for c in CONSTANTS]
    print("| problem | omega | f(0) | K identity | scaled | whitened | alg1, best c | alg1-scaled | alg1-whitened | estimated | certified: alg1 | alg1-whitened |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for problem in PROBLEMS:
        raced = told(chosen.command, "compare", problem, "--horizon", chosen.horizon, "--runs", chosen.runs, "--algorithms", ",".join(labels))
        proved = told(chosen.command, "certify", problem, "--horizon", chosen.horizon)
        coordinates = {entry["name"]: entry for entry in proved["coordinates"]}
        entries = raced["algorithms"]
        cells = [problem, f"{proved['omega']:.1e}", f"{proved['f_zero']:.3g}"]
        for name in ["identity", "diagonal", "whitened"]:
            entry = coordinates.get(name)
            cells.append(f"{entry['phi_inf'] * entry['theta_star_norm']:.3g}" if entry else "-")
        for method, suffix in [("alg1", ""), ("alg1-scaled", ""), ("alg1-whitened", ""), ("alg1-whitened", ":share=0.1")]:
            f, c = best(entries, method, suffix)
            cells.append(f"{f:.2g} ({c})")
        for name in ["identity", "whitened"]:
            bound = coordinates[name]["recommended"]["bound"] if name in coordinates else None
            cells.append("-" if bound is None else f"{bound:.3g}")
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
