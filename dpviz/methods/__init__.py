"""Zheng's (2015) ways to release what was learned from the data: each an object that knows its own privacy."""

from dpviz.methods.base import Failure, Method, RowMethod
from dpviz.methods.one_draw import SynthPostOne
from dpviz.methods.parameters import ParamMap, ParamPost
from dpviz.methods.plug_ins import SynthMap, SynthPostMany

SYNTH_POST_ONE, PARAM_MAP = SynthPostOne(), ParamMap()
METHODS: dict[str, Method] = {
    method.key: method for method in (SYNTH_POST_ONE, SynthPostMany(), SynthMap(), ParamPost(), PARAM_MAP)
}
"""The five methods of Zheng (2015), §3.2, by key."""

CALIBRATED: dict[str, Method] = {key: method for key, method in METHODS.items() if method.calibrated}
"""The methods that some prior makes private."""

__all__ = ["CALIBRATED", "METHODS", "PARAM_MAP", "SYNTH_POST_ONE", "Failure", "Method", "RowMethod"]
