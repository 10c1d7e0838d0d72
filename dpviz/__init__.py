"""What differential privacy costs a statistic: the computing behind the dpviz pages, which knows no user interface.

Every room uses those before it alone: `core` (declarations, checks, numerics), `simulation`, `mechanisms`, `uploads`,
`privacy`, `calibration`, `inference`, `coverage`, `designs`, `comparisons`, `study`, `audit`, `published`,
`charts`, `export`, `curator`, `plans`.
"""

__version__ = "0.1.0"
