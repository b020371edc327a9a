"""Policy evaluation by temporal-difference learning, without projection or tuning.

>>> import robust_td as rtd
>>> fit = rtd.evaluate("log.csv", discount=0.99)          # doctest: +SKIP
>>> fit.start_value                                       # doctest: +SKIP
Estimate(value=21.8, lower=20.7, upper=22.9)
"""

from ._collect import Transitions, collect
from ._evaluate import evaluate, inspect
from ._fit import Fit, Fits, UnseenCategoryWarning, load
from ._native import Error, __version__
from ._online import Algorithm, OnlineTD, algorithms
from ._problem import Problem, problem, problems
from ._results import Estimate, Finding, Inspection, Prediction
from ._sweep import Comparison, Sweep, compare, paper_constants, reproduce, sweep
from ._theory import Certificate, Expectation, certify, expectation

__all__ = [
    "Algorithm",
    "Certificate",
    "Comparison",
    "Error",
    "Estimate",
    "Expectation",
    "Finding",
    "Fit",
    "Fits",
    "Inspection",
    "OnlineTD",
    "Prediction",
    "Problem",
    "Sweep",
    "Transitions",
    "UnseenCategoryWarning",
    "__version__",
    "algorithms",
    "certify",
    "collect",
    "compare",
    "evaluate",
    "expectation",
    "inspect",
    "load",
    "paper_constants",
    "problem",
    "problems",
    "reproduce",
    "sweep",
]
