"""Large studies: a grid of designs, exact where that is in reach and simulated elsewhere, on any number of workers.

`plan` says what is studied, `run` carries it out, `folder` keeps what is finished, and `results` reads and writes it.
"""
