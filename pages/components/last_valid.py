"""Former names, until no page uses them."""

from dpviz.desk.asked import AskedOf as AskedOf
from dpviz.desk.asked import Refused as Refused
from pages.components.frame import answerable as answerable
from pages.components.numbers import accepted as accepted
