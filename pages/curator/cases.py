"""What the page starts from: the numbers of a fresh page, and the worked cases."""

RANGES: dict[str, tuple[float, float]] = {"p": (0.1, 0.4), "mean": (-1.0, 1.0)}
"""The lowest and the highest true value of a fresh page, by name."""

USUAL: dict[str, float] = {"n": 200, "m": 200}
"""Sizes of a fresh page."""

COMMON: dict[str, object] = {
    "protect": ["loss"], "epsilon": 1.0, "delta": 0.0, "accuracy": ["root_mean_squared_error", "coverage"],
    "least_coverage": 0.9, "tried": ["1", "5"], "goal": "root_mean_squared_error", "over": "worst",
}  # fmt: skip
OF_COUNTS = COMMON | {"kind": "count", "m_is_n": True, "count_rules": ["reiter_2003"]}
PRESETS: dict[str, dict[str, object]] = {
    "A small survey's proportion": OF_COUNTS | {"n": 200, "lowest_p": 0.1, "highest_p": 0.4, "most_error": 0.05},
    "A large register with a tiny p": OF_COUNTS
    | {"n": 10_000, "lowest_p": 0.001, "highest_p": 0.01, "most_error": 0.0015},
    "A bounded mean": COMMON | {
        "kind": "gaussian", "n": 500, "sigma": 1.0, "low": -4.0, "high": 4.0, "lowest_mean": -1.0, "highest_mean": 1.0,
        "most_error": 0.2, "gaussian_rules": ["reiter_2003"],
    },
}  # fmt: skip
"""The worked cases of the page."""
