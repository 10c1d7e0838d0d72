"""What differential privacy costs a statistic: the computing behind the dpviz pages.

The package knows no user interface. `dpviz.synthesizers` holds the release mechanisms as transition matrices,
`dpviz.privacy` measures them, `dpviz.published` carries the papers' printed tables, `dpviz.charts` turns results
into figures and `dpviz.exports` turns them into files.
"""

__version__ = "0.1.0"
