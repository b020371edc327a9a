"""Evaluates and inspects logs."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _native, _parts, _storage
from ._fit import Fit, Fits
from ._log import Columns, column_options, named_in, source
from ._native import Error
from ._numbers import number, whole
from ._progress import Progress, telling
from ._results import Inspection

if TYPE_CHECKING:
    from .executor import Executor


def learner_options(parameters: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, float]]]:
    """Splits keywords into the options of all algorithms and the parameters of one."""
    options: dict[str, Any] = {}
    pairs: list[tuple[str, float]] = []
    for name, value in parameters.items():
        if value is None:
            continue
        if name == "c" and value == "auto":
            options["c_auto"] = True
        elif name in ("horizon", "phi_inf", "c"):
            options[name] = whole(name, value) if name == "horizon" else number(name, value)
        else:
            # `lambda` is a word of the language.
            pairs.append((name.rstrip("_"), number(name, value)))
    return options, pairs


def staged(log: _native.Table | list[str], fetches: bool = True) -> tuple[_native.Table | list[str], _storage.Remote]:
    """The log with its files on this machine, and the URIs of those that are remote."""
    if not isinstance(log, list) or not any(map(_storage.is_remote, log)):
        return log, _storage.Remote()
    local, remote = _storage.stage(log)
    if fetches:
        for place, uri in remote.items():
            _storage.fetch(place, uri)
    return local, remote


@overload
def evaluate(
    log: Any,
    discount: float | None = ...,
    *,
    features: str | Sequence[str] | None = ...,
    algorithm: str | None = ...,
    columns: Columns | None = ...,
    layout: str | None = ...,
    cluster: str | None = ...,
    confidence: float = ...,
    check: bool = ...,
    return_variance: bool = ...,
    skip_bad_rows: int = ...,
    decimal: str | None = ...,
    thousands: str | None = ...,
    format: str | None = ...,
    passes: int = ...,
    learners: int | None = ...,
    replicates: int | None = ...,
    sandwich: bool = ...,
    resume: str | os.PathLike[str] | None = ...,
    progress: Progress = ...,
    seed: int | None = ...,
    threads: int | None = ...,
    executor: Executor | None = ...,
    **parameters: Any,
) -> Fit: ...
@overload
def evaluate(
    log: Any,
    discount: Sequence[float],
    *,
    features: str | Sequence[str] | None = ...,
    algorithm: str | None = ...,
    columns: Columns | None = ...,
    layout: str | None = ...,
    cluster: str | None = ...,
    confidence: float = ...,
    check: bool = ...,
    return_variance: bool = ...,
    skip_bad_rows: int = ...,
    decimal: str | None = ...,
    thousands: str | None = ...,
    format: str | None = ...,
    passes: int = ...,
    learners: int | None = ...,
    replicates: int | None = ...,
    sandwich: bool = ...,
    resume: str | os.PathLike[str] | None = ...,
    progress: Progress = ...,
    seed: int | None = ...,
    threads: int | None = ...,
    executor: Executor | None = ...,
    **parameters: Any,
) -> Fits: ...
def evaluate(
    log: Any,
    discount: float | Sequence[float] | None = None,
    *,
    features: str | Sequence[str] | None = None,
    algorithm: str | None = None,
    columns: Columns | None = None,
    layout: str | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
    check: bool = True,
    return_variance: bool = False,
    skip_bad_rows: int = 0,
    decimal: str | None = None,
    thousands: str | None = None,
    format: str | None = None,
    passes: int = 1,
    learners: int | None = None,
    replicates: int | None = None,
    sandwich: bool = False,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    seed: int | None = 0,
    threads: int | None = None,
    executor: Executor | None = None,
    **parameters: Any,
) -> Fit | Fits:
    """Estimates the value of the policy of a log.

    Parameters
    ----------
    log
        Paths or patterns (CSV, NDJSON, Parquet; read as a stream by Rust); a pandas, polars or pyarrow table, or anything else with
        ``__arrow_c_stream__``; a dict of arrays ``obs``, ``reward`` and optionally ``next_obs``, ``terminated``, ``truncated``,
        ``episode``, ``rho``, and for a policy that was not followed ``action`` and ``target`` (the probabilities of all actions, one row each)
        or ``target_action``, with next observations ``next_target`` or ``next_action``, and ``behaviour_prob``; a Minari or d3rlpy data set; or what :func:`collect` returns.
    discount
        The discount factor, from 0 to 1; 1 where every episode terminates. A list of them returns :class:`Fits`, a sequence with a fit for each,
        from the same passes over the log.
    features
        The feature map, by default ``standardise + bias``, with ``one-hot`` of the columns of text; with a named algorithm ``identity``.
        Maps take columns by name: ``standardise(x, y) + one-hot(state) + bias``; then no columns need to be named ``obs``.
        ``"auto"``, or a list of maps: they are
        compared on held-out rows, and the simplest of the best is taken (``fit.feature_choice``); intervals do not include the choice.
    algorithm
        By default ``auto``: solves for the TD fixed point of the log. :func:`algorithms` lists the others.
    columns
        Names of columns that differ: ``{"obs": ["x", "y"], "terminated": "done"}``.
    layout
        The column names of a tool: ``minari``, ``rllib``, ``d3rlpy`` or ``d4rl``.
    cluster
        The column of users, machines or sites whose rows may depend on each other; by default the episode.
    confidence
        The level of intervals.
    check
        Whether predictions are compared with returns.
    return_variance
        Whether to estimate the standard deviation of the return, too (``fit.return_deviation``).
    skip_bad_rows
        The number of bad rows that may be skipped; by default the first one is an error.
    decimal
        The decimal sign of numbers in CSV files, ``"."`` by default or ``","``.
    thousands
        The sign between groups of three digits in CSV files, such as ``"."`` or ``" "``; by default there is none.
    format
        ``csv``, ``ndjson`` or ``parquet``, where the names of files do not say.
    passes
        The number of passes of an algorithm that steps through the log.
    learners
        Averages this number of independent learners of such an algorithm, from 2 to 1,024, each on its own part of the files: not the answer of one
        learner, but one that is computed in parallel, also by an executor, to the same bits. Where there are episodes, a learner takes whole ones.
        A bias that learners share is not reduced by averaging, nor seen in how they differ. So there are intervals (Student's t, of how learners
        differ) only where the residual of the log's equations excludes such a bias: often for ``lstd``, seldom for algorithms that step.
    replicates
        The number of bootstrap replicates of ``alg1`` without c; by default 64.
    sandwich
        Whether least squares runs alongside such an algorithm for its standard errors, for up to 500 features.
    resume
        A model that :meth:`Fit.save` or the command wrote, to continue with more data.
    progress
        True for a bar (tqdm, if installed), or a function of (rows read, 0).
    seed
        Accepted so that scripts can pass it everywhere: nothing in an evaluation is drawn at random.
    threads
        The number of threads, by default one per CPU; the result does not depend on it.
    executor
        Computes the evaluation in parts, such as a :class:`robust_td.ray.RayExecutor`; the result does not depend on it. For files that all
        workers can read; :doc:`/scale-out` lists what is not computed in parts, which is refused. Progress is that of parts.
    parameters
        Those of the algorithm: ``c``, ``horizon``, ``phi_inf``, ``radius``, ``step``, ``lambda_``, ...

    Returns
    -------
    Fit
        The value of the policy, values of observations with intervals, and what you must know before you believe them.

    Raises
    ------
    Error
        When the log or an option is invalid; the message names file, row, column and value.

    Examples
    --------
    Two states that alternate, with the reward 1 in the first: V(0) = 1 / (1 - 0.9^2) = 5.263 and V(1) = 0.9 V(0).

    >>> import robust_td as rtd
    >>> log = {"obs": [0.0, 1.0] * 100, "reward": [1.0, 0.0] * 100}
    >>> fit = rtd.evaluate(log, discount=0.9)
    >>> fit.predict([0.0, 1.0]).round(3)
    array([5.263, 4.737])
    >>> fit.converged, fit.steps
    (True, 199)
    """
    if seed is not None:
        whole("seed", seed)
    named = columns if cluster is None else {**(columns or {}), "cluster": cluster}
    found = source(log, named, layout, passes=True, used=named_in(features))
    options, pairs = learner_options(parameters)
    local, remote = staged(found.log, fetches=executor is None)
    if features is None:
        features = found.features
    specs = [features] if isinstance(features, str) else features
    options.update(
        features=None if specs is None else list(specs),
        algorithm=algorithm,
        columns=column_options(columns),
        layout=layout,
        cluster=cluster,
        confidence=number("confidence", confidence),
        check=check,
        return_variance=return_variance,
        skip_bad_rows=whole("skip_bad_rows", skip_bad_rows),
        decimal=decimal,
        thousands=thousands,
        format=format,
        passes=whole("passes", passes),
        learners=None if learners is None else whole("learners", learners),
        replicates=None if replicates is None else whole("replicates", replicates),
        sandwich=sandwich,
        resume=None if resume is None else os.fspath(resume),
        threads=None if threads is None else whole("threads", threads),
    )
    if discount is not None and np.ndim(discount) > 0:
        if executor is not None:
            raise Error("an executor takes one discount at a time")
        discounts = [number("discount", each) for each in np.asarray(discount).ravel().tolist()]
        with telling(progress, "rows") as tell, _storage.naming(remote):
            return Fits(Fit(fit) for fit in _native.evaluate_each(local, discounts, options, pairs, tell))
    options["discount"] = None if discount is None else number("discount", discount)
    if executor is not None:
        with telling(progress, "parts") as tell, _storage.naming(remote):
            return Fit(_parts.evaluate(executor, local, options, pairs, remote, tell))
    with telling(progress, "rows") as tell, _storage.naming(remote):
        return Fit(_native.evaluate(local, options, pairs, tell))


def inspect(
    log: Any,
    *,
    columns: Columns | None = None,
    layout: str | None = None,
    format: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    progress: Progress = None,
) -> Inspection:
    """Reports on a log without learning from it: what it holds, and what looks wrong.

    Parameters
    ----------
    log
        As for :func:`evaluate`. Bad rows are counted, not refused.
    columns
        Names of columns that differ: ``{"obs": ["x", "y"], "terminated": "done"}``.
    layout
        The column names of a tool: ``minari``, ``rllib``, ``d3rlpy`` or ``d4rl``.
    format
        ``csv``, ``ndjson`` or ``parquet``, where the names of files do not say.
    decimal
        The decimal sign of numbers in CSV files, ``"."`` by default or ``","``.
    thousands
        The sign between groups of three digits in CSV files; by default there is none.
    progress
        True for a bar (tqdm, if installed), or a function of (rows read, 0).

    Returns
    -------
    Inspection
        The numbers of rows, transitions and episodes, and the findings.

    Raises
    ------
    Error
        When the log cannot be read at all, or a column is missing.

    Examples
    --------
    >>> import robust_td as rtd
    >>> rtd.inspect({"obs": [[0.0, 7.0], [1.0, 7.0], [2.0, 7.0]], "reward": [1.0, 0.5, 0.0], "terminated": [0, 0, 1]})
    Inspection: 3 rows, 3 transitions, 1 episode
      - obs[1] is 7 in every row
    """
    found = source(log, columns, layout, passes=False, used=lambda _: True)
    options = {
        "columns": column_options(columns),
        "layout": layout,
        "format": format,
        "decimal": decimal,
        "thousands": thousands,
    }
    with telling(progress, "rows") as tell:
        return Inspection(json.loads(_native.inspect(found.log, options, tell)))
