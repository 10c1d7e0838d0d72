"""Types used in signatures throughout the package."""

from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
ComplexArray = NDArray[np.complexfloating[Any, Any]]
IntArray = NDArray[np.integer[Any]]
Numbers = FloatArray | float
BoolArray = NDArray[np.bool_]
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
