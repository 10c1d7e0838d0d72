"""Chapter 5 as printed: what parameter releases and synthetic data promise of each other. It has no numbers."""

from __future__ import annotations

from dpviz.priors.as_printed.printed_bound import PrintedBound

BOUNDS = (
    PrintedBound(
        number="5.1",
        name="Theorem 5.1",
        methods=("param_map", "param_post", "synth_map", "synth_post_one"),
        family="general",
        promise="approximate",
        kind="sufficient",
        claim="a private parameter release makes its synthetic data as private, whatever m is",
    ),
    PrintedBound(
        number="5.4",
        name="Theorem 5.4",
        methods=("synth_map",),
        family="general",
        promise="approximate",
        kind="impossible",
        claim="for some m, SYNTH_MAP is not (ε, δ)-differentially private",
        conditions="fixed n and prior; the law determines its parameter; PARAM_MAP is not constant",
    ),
    PrintedBound(
        number="5.6",
        name="Corollary 5.6",
        methods=("synth_post_many",),
        family="general",
        promise="approximate",
        kind="impossible",
        claim="for some m, SYNTH_Post(Many) is not (ε, δ)-differentially private",
        conditions="fixed n; the posterior determines its parameter; two neighbours have different posteriors",
    ),
)
