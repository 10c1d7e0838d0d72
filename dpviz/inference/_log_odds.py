"""Log-odds u = ln p / (1 − p) of a proportion, which keep their digits at both ends of [0, 1], and their way back."""

import numpy as np
from scipy.special import betainc, logit

from dpviz.core.types import FloatArray, Numbers

END_LOG_ODDS = 1e5  # Log-odds that stand for an end of [0, 1]: far beyond the smallest floating-point number
LOWEST_LOG_ODDS, HIGHEST_LOG_ODDS = -746.0, 38.0  # Log-odds beyond which the nearest floating-point number is 0, and 1
SMALLEST_LOG = -700.0  # ln of what counts as 0: numbers next to the smallest are slow
KEEPS_DIGITS = 1e-3  # Probability that keeps enough digits where it is 1 less that of the other end
FIRST_INSIDE, LAST_INSIDE = float(np.nextafter(0.0, 1.0)), float(np.nextafter(1.0, 0.0))


def log_parts(log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """ln p and ln (1 − p)."""
    return -np.logaddexp(0.0, -log_odds), -np.logaddexp(0.0, log_odds)


def nearest(log_odds: FloatArray) -> FloatArray:
    """Return the floating-point number nearest to p."""
    near = np.exp(log_parts(-np.abs(log_odds))[0])
    return np.where(log_odds < 0, near, 1 - near)


def outward(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the narrowest intervals of floats around these; 0 or 1 for ±`END_LOG_ODDS` alone."""
    start, stop = nearest(low), nearest(high)
    with np.errstate(divide="ignore"):
        start = np.where(logit(start) > low, np.nextafter(start, 0.0), start)
        stop = np.where(logit(stop) < high, np.nextafter(stop, 1.0), stop)
    start, stop = (
        np.where(np.abs(end) == END_LOG_ODDS, p, np.clip(p, FIRST_INSIDE, LAST_INSIDE))
        for end, p in ((low, start), (high, stop))
    )
    return start, stop


def incomplete_beta(log_odds: FloatArray, a: Numbers, b: Numbers, log_beta: Numbers) -> FloatArray:
    """I_p(a, b), from the nearer end of [0, 1]; there by its first term where p, or 1 − p, is no float."""
    left = log_odds < 0
    near, far = np.where(left, a, b), np.where(left, b, a)
    log_near, log_far = log_parts(-np.abs(log_odds))
    part: FloatArray = betainc(near, far, np.exp(log_near))
    if (beyond := log_near < SMALLEST_LOG).any():
        with np.errstate(over="ignore"):
            part = np.where(beyond, np.exp(near * log_near - log_beta) / near, part)
    value = np.where(left, part, 1 - part)
    lost = ~left & (part > 1 - KEEPS_DIGITS)
    return np.where(lost, betainc(far, near, np.exp(log_far)), value) if lost.any() else value
