"""Ctrl-C and threads: long calls stop within 0.2 s, and leave the interpreter free meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import robust_td as rtd

PRELUDE = """
import os, signal, threading, time
import numpy as np
import robust_td as rtd
rng = np.random.default_rng(0)
obs = rng.normal(size=(400_000, 300))
log = {"obs": obs, "reward": obs[:, 0]}
p = rtd.problem("paper-ring")
sent = []
def send():
    time.sleep(float(%r))
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send, daemon=True).start()
try:
    %s
    print("done")
except KeyboardInterrupt:
    took = time.monotonic() - sent[0]
    time.sleep(0.2)
    left = len(os.listdir("/proc/self/task"))
    print("stopped", took, left)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads of Linux")
@pytest.mark.parametrize(
    "call",
    [
        "rtd.evaluate(log, discount=0.9)",
        "rtd.evaluate(log, discount=0.9, algorithm='alg1')",
        "rtd.evaluate(log, discount=0.9, features='tiles(tilings=8, bins=2) + bias')",
        "rtd.sweep(p, c=np.logspace(-4, 2, 37), horizon=10**8, runs=480)",
        "rtd.sweep(p, c=np.logspace(-4, 2, 37), horizon=10**8, mode='exact')",
        "rtd.compare(p, horizon=10**8, runs=48, algorithms=['alg1:c=1', 'lstd'])",
        "rtd.expectation(p, horizon=10**9, c=1)",
        "rtd.reproduce()",
        "rtd.OnlineTD(discount=0.9, dimension=300).learn_many(obs, obs[:, 0], obs)",
    ],
)
def test_ctrl_c_stops_the_work(call: str) -> None:
    text = textwrap.dedent(PRELUDE) % ("0.7", call)
    # Libraries of linear algebra have threads of their own.
    quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=quiet, check=True)
    word, took, threads = done.stdout.split()
    assert word == "stopped"
    # On a busy machine the threads wait for their turn.
    assert float(took) < 0.2 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)), call
    assert int(threads) <= 2, call


def test_other_threads_run_meanwhile() -> None:
    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    rtd.sweep("paper-ring", c=np.logspace(-2, 2, 9), horizon=10**6, runs=48)
    stop.set()
    thread.join()
    assert counted[0] > 5
