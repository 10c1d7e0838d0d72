"""Methods of synthesis side by side: bias, error, coverage, width and usable share, on equal terms."""

from dpviz.comparisons.base import Analysis, DataKind, Estimand, Outcome
from dpviz.comparisons.binary import BinaryData, CountData
from dpviz.comparisons.categories import CategoryData
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.comparison import Compared, Comparison
from dpviz.comparisons.gaussian import GaussianData, KnownVariance, UnknownVariance
from dpviz.comparisons.gaussian_histograms import HISTOGRAMS
from dpviz.comparisons.gaussian_study import GaussianPlan
from dpviz.comparisons.mixed import MixedData
from dpviz.comparisons.mixed_methods import MIXED_METHODS
from dpviz.comparisons.normal_models import OF_KNOWN_VARIANCE, OF_UNKNOWN_VARIANCE
from dpviz.comparisons.terms import ComparisonTerms, EqualPrivacy, EqualPromise

# Methods and studies know the data that they are of, and not the data them: who has which is said here.
GaussianData.plan = GaussianPlan
KnownVariance.methods = *OF_KNOWN_VARIANCE, *HISTOGRAMS
UnknownVariance.methods = *OF_UNKNOWN_VARIANCE, *HISTOGRAMS
MixedData.methods = MIXED_METHODS

DATA_KINDS: dict[str, type[DataKind]] = {
    kind.key: kind for kind in (BinaryData, CountData, UnknownVariance, KnownVariance, MixedData)
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
    "Comparison",
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
