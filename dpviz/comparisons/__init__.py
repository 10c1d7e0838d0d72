"""Methods of synthesis side by side: bias, error, coverage, width and usable share, on equal terms."""

from dpviz.comparisons.base import Analysis, Compared, DataKind, Estimand, Outcome
from dpviz.comparisons.binary import BinaryData, CountData
from dpviz.comparisons.categories import CategoryData
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.gaussian import KnownVariance, UnknownVariance
from dpviz.comparisons.gaussian_study import GaussianPlan
from dpviz.comparisons.mixed import MixedData
from dpviz.comparisons.terms import ComparisonTerms, EqualPrivacy, EqualPromise

DATA_KINDS: dict[str, type[DataKind]] = {
    kind.key: kind for kind in (BinaryData, UnknownVariance, KnownVariance, MixedData)
}
"""Every kind of data by its key: a new one is one file and one name here."""

TERMS: dict[str, type[ComparisonTerms]] = {terms.key: terms for terms in (EqualPromise, EqualPrivacy)}
"""The terms on which methods can meet, by key."""

__all__ = [
    "DATA_KINDS",
    "TERMS",
    "Analysis",
    "BinaryData",
    "CategoryData",
    "Compared",
    "ComparedMethod",
    "ComparisonTerms",
    "CountData",
    "DataKind",
    "EqualPrivacy",
    "EqualPromise",
    "Estimand",
    "GaussianPlan",
    "KnownVariance",
    "MixedData",
    "Outcome",
    "UnknownVariance",
]
