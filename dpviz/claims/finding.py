"""What is found of one printed bound, and why it is off."""

import math
from dataclasses import dataclass

from dpviz.calibration.kinds import Setting
from dpviz.claims.claim import Claim, Verdict


@dataclass(frozen=True)
class Reason:
    """A sentence about a finding, the parts of the proof that it names, and the numbers that confirm it.

    For a slip the repaired, safe value; for a slack its share, or the logarithm by which it would be unsafe without it.
    """

    sentence: str
    parts: tuple[str, ...] = ()
    confirmed_by: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One printed bound, for one method, held against the exact answer.

    A theorem on one synthetic row has m = 1 in its setting. `printed` and `exact` are values of what the bound speaks
    of; `gives_epsilon` is the smallest ε at the promised δ, and `gives_delta` the δ at the promised ε, that the printed
    one really gives; `constant`, where print states none, would make the bound exact here. Each is None where there is
    none. The sentence ends with those of `because`, each confirmed by a computation at this setting.
    """

    bound: Claim
    method: str
    setting: Setting
    verdict: Verdict = Verdict.UNASKED
    printed: float | None = None
    exact: float | None = None
    gives_epsilon: float | None = None
    gives_delta: float | None = None
    constant: float | None = None
    because: tuple[Reason, ...] = ()
    sentence: str = ""

    @property
    def promised(self) -> tuple[float, float]:
        """The ε and the δ of the promise: 0 where the theorem has none."""
        return self.bound.promise.at(self.setting.epsilon, self.setting.delta)

    @property
    def factor(self) -> float | None:
        """Printed over exact value, None where either is missing, zero or infinite."""
        if not self.printed or not self.exact or math.isinf(self.printed) or math.isinf(self.exact):
            return None
        return self.printed / self.exact

    @property
    def unprinted(self) -> str:
        """Why there is no number to hold against the exact answer, as the script says it; empty where there is one."""
        if self.bound.formula is None:
            return "it says that none is enough"
        if self.bound.constant:
            return f"its constant {self.bound.symbol} is not stated"
        return "" if self.verdict.judged or self.printed is not None else "it is not asked without δ"
