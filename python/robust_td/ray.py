"""Sweeps and evaluations on a Ray cluster, to the same bits: ``pip install 'robust-td[ray]'``."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterable, Sequence
from typing import Any

from . import executor as _executor
from ._native import Error
from ._store import Store
from .executor import Done, Job, TreeExecutor

__all__ = ["RayExecutor"]

#: Seconds between two looks at the CPUs of the cluster.
LOOK = 5.0


def _remote_compute(job: Job, task: Any, store: Store | None, name: str) -> tuple[Done, bytes]:
    return _executor.compute(job, task, store, name)


def _remote_merge(job: Job, store: Store | None, name: str, *states: Any) -> tuple[Done, bytes]:
    return _executor.merge(job, states, store, name)


class RayExecutor(TreeExecutor):
    """Runs sweeps and evaluations as tasks of Ray; the results have the same bits as without, for any number of workers.

    Parameters
    ----------
    address
        The address of a cluster: ``auto`` for the one of this machine, ``ray://host:10001`` for another. None uses the cluster that this program
        is connected to, or else starts one on this machine.
    cpus
        The number of CPUs of a cluster that is started here; by default all.
    checkpoint
        A directory that all nodes share, or a URI such as ``s3://bucket/folder``. Workers store finished states there: when this program is
        killed and started again, only the missing parts are computed.
    max_retries
        The number of times that a task is started again after its worker died. Errors in the data are not tried again.
    max_in_flight
        The number of tasks that are submitted at the same time, by default two per CPU of the cluster.
    repeat_slow
        Whether a task that takes much longer than the others is started a second time, once there is nothing else to do.
    runtime_env
        The environment of the workers, as for ``ray.init``.
    **init
        More arguments of ``ray.init``.

    Raises
    ------
    Error
        When Ray is not installed.

    Examples
    --------
    >>> from robust_td.ray import RayExecutor
    >>> with RayExecutor(address=None) as executor:                                       # doctest: +SKIP
    ...     fit = rtd.evaluate("s3://logs/*.parquet", discount=0.99, executor=executor)
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        cpus: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        max_retries: int = 3,
        max_in_flight: int | None = None,
        repeat_slow: bool = True,
        runtime_env: dict[str, Any] | None = None,
        **init: Any,
    ) -> None:
        super().__init__(checkpoint)
        if max_retries < 0:
            raise Error(f"max_retries is {max_retries}, but must be at least 0")
        if max_in_flight is not None and max_in_flight < 1:
            raise Error(f"max_in_flight is {max_in_flight}, but must be at least 1")
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise Error("Ray is not installed: pip install 'robust-td[ray]'") from error
        self.repeats = repeat_slow
        self._most = max_in_flight
        self._own = not self._ray.is_initialized()
        if self._own:
            here = address is None and "RAY_ADDRESS" not in os.environ
            options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
            if here:
                options.update(include_dashboard=False, num_cpus=cpus)
            elif cpus is not None:
                raise Error("cpus is that of a cluster that is started here; a cluster with an address has its own")
            if runtime_env is not None:
                options["runtime_env"] = runtime_env
            try:
                self._ray.init(address=address, **{**options, **init})
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise Error(f"cannot use the Ray cluster {address or 'of this machine'}: {error}") from error
        elif address not in (None, "auto"):
            raise Error(f"this program is connected to a Ray cluster already; call ray.shutdown() before address={address!r}")
        options = {"num_returns": 2, "max_retries": max_retries, "retry_exceptions": False, "num_cpus": 1}
        self._compute = self._ray.remote(**options)(_remote_compute)
        self._merge = self._ray.remote(**{**options, "num_cpus": 0.25})(_remote_merge)
        self._looked = -LOOK
        self._cpus = 1
        self._jobs: dict[str, Any] = {}

    @property
    def workers(self) -> int:
        """The number of CPUs of the cluster, now."""
        now = time.monotonic()
        if now - self._looked > LOOK:
            self._looked = now
            self._cpus = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        return self._cpus if self._most is None else max(1, self._most // 2)

    def run(self, job: Job, tell: _executor.Tell | None = None) -> bytes:
        """Runs a job; see :meth:`robust_td.executor.TreeExecutor.run`.

        Parameters
        ----------
        job
            The job.
        tell
            Called now and then with the tasks done, all tasks, and messages.

        Returns
        -------
        bytes
            The merged state of all tasks.
        """
        # Workers need no list of tasks.
        light = Job(job.name, job.description, (), job.compute, job.merge)
        self._jobs = {job.key: self._ray.put(light)}
        try:
            return super().run(job, tell)
        finally:
            self._jobs = {}

    def _submit(self, job: Job, name: str, task: Any, states: Sequence[Any] | None, store: Store | None) -> Any:
        known = self._jobs[job.key]
        if states is None:
            done, state = self._compute.remote(known, task, store, name)
        else:
            refs = [state if isinstance(state, str) else state[1] for state in states]
            done, state = self._merge.remote(known, store, name, *refs)
        return done, state

    def _wait(self, handles: list[Any]) -> Iterable[Any]:
        by_done = {handle[0]: handle for handle in handles}
        ready, _ = self._ray.wait(list(by_done), num_returns=1, timeout=0.2, fetch_local=True)
        if ready and len(by_done) > 1:
            ready, _ = self._ray.wait(list(by_done), num_returns=len(by_done), timeout=0, fetch_local=True)
        return [by_done[done] for done in ready]

    def _done(self, handle: Any) -> Done:
        errors = self._ray.exceptions
        try:
            done: Done = self._ray.get(handle[0])
        except errors.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except errors.WorkerCrashedError as error:
            raise Error(f"a worker died while it computed a part, and again after each of the retries: {error}") from error
        except errors.RayError as error:
            raise Error(f"a part could not be computed: {error}") from error
        return done

    def _fetch(self, handle: Any) -> bytes:
        state: bytes = self._ray.get(handle[1])
        return state

    def _cancel(self, handles: Iterable[Any]) -> None:
        for done, _ in handles:
            self._ray.cancel(done, force=True)

    def close(self) -> None:
        """Leaves the cluster; one that was started here ends."""
        if self._own and self._ray.is_initialized():
            self._ray.shutdown()

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
