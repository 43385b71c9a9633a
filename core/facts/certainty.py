"""How far an answer can be trusted: the probability that the best value is the one that was stored.

The model is signal detection among many values. A bank is a superposition of n facts; unbound for the place of one
of them, its cosine with the stored value is mu = rho / sqrt(n), where rho (1 without sharpening or limiter) is the
cosine between the bank before and after those. Its cosine with any other value is noise: the real part of the inner
product of independent phase vectors has mean 0 and variance 1 / (2 D), nearly Gaussian for large D (Plate 2003,
appendix; Frady, Kleyko and Sommer, "A theory of sequence indexing and working memory in recurrent neural networks",
Neural Computation 30(6), 2018, section 2). With equal variances Bayes' rule turns cosines s into

    P(value v | s) = prior(v) exp(mu s_v / sigma^2) / sum over all values w of prior(w) exp(mu s_w / sigma^2)

with sigma^2 = 1 / (2 D). That is a softmax whose temperature sigma^2 / mu follows from the load instead of being
set. Ensembles are independent, their exponents add up. Only the bank that holds the fact tells about it: the others
add noise to the answer, and leaving them out shows when that noise has won.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


def noise_variance(dimension: int) -> float:
    """Variance of the cosine of two unrelated phase vectors of `dimension` elements: 1 / (2 D)."""
    return 1 / (2 * dimension)


def signal(facts_in_bank: int, clean_share: float = 1.0) -> float:
    """Expected cosine of a stored value with its bank, unbound: clean_share / sqrt(facts in the bank).

    clean_share: cosine between the bank before and after sharpening and limiter, in (0, 1].
    """
    return float(clean_share / np.sqrt(facts_in_bank)) if facts_in_bank > 0 else 0.0


def evidence(own_bank: Floats, mu: float, dimension: int) -> Floats:
    """Log-likelihood of every value, up to a constant: mu s / sigma^2. Shape as `own_bank`, cosines in [-1, 1]."""
    return own_bank * (mu / noise_variance(dimension))


def posterior(total_evidence: Floats, prior: Floats) -> NDArray[np.float64]:
    """Probability of every value, shape (facts, values), rows adding up to 1.

    total_evidence: (facts, values), summed over ensembles. prior: (values,), how often each value is stored.
    """
    exponents = np.asarray(total_evidence, dtype=np.float64) + np.log(prior)
    exponents -= exponents.max(axis=-1, keepdims=True)
    weights = np.exp(exponents)
    return cast("NDArray[np.float64]", weights / weights.sum(axis=-1, keepdims=True))
