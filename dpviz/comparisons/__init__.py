"""Methods of synthesis on equal terms: bias, error, coverage, width and usable share."""

from dpviz.comparisons.analysis import Analysis, DataKind, Estimand, Outcome
from dpviz.comparisons.categories import CategoryData
from dpviz.comparisons.comparison import Compared, Comparison
from dpviz.comparisons.methods import ComparedMethod
from dpviz.comparisons.mixed import MixedData
from dpviz.comparisons.numeric_data import KnownVariance, NumericStudy, UnknownVariance
from dpviz.comparisons.proportion import BinaryData, CountData
from dpviz.comparisons.terms import ComparisonTerms, EqualPrivacy, EqualPromise

DATA_KINDS: dict[str, type[DataKind]] = {
    kind.key: kind for kind in (BinaryData, CountData, UnknownVariance, KnownVariance, MixedData)
}
"""Kinds of data by key: a new one is one file and one name here."""

TERMS: dict[str, type[ComparisonTerms]] = {terms.key: terms for terms in (EqualPromise, EqualPrivacy)}
"""Terms on which methods can meet, by key."""

__all__ = [
    "DATA_KINDS", "TERMS", "Analysis", "BinaryData", "CategoryData", "Compared", "ComparedMethod", "Comparison",
    "ComparisonTerms", "CountData", "DataKind", "EqualPrivacy", "EqualPromise", "Estimand", "KnownVariance",
    "MixedData", "NumericStudy", "Outcome", "UnknownVariance",
]  # fmt: skip
