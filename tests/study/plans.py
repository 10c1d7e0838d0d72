"""Plans of studies that several tests use."""

PLAN = """
mechanisms = ["geometric", "beta_binomial"]
n = [30, 60]
epsilon = 1
sets = [1, 3]
p = [0.2, 0.5]
rules = ["reiter_2003", "as_if_real", "score"]
repetitions = 3_300
seed = 7
"""
FEW = PLAN.replace("[30, 60]", "30").replace("[1, 3]", "3")  # four cells
SIMULATED = PLAN.replace("[30, 60]", "60").replace("[0.2, 0.5]", "[0.2, 0.3, 0.4, 0.5]") + "exact = false\n"
SLOW = SIMULATED.replace("3_300", "250_000").replace("[1, 3]", "3")  # eight cells, each a good part of a second
