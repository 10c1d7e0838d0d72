"""Former names, until no page uses them."""

from pages.components.spec import class_mode as class_mode
from pages.components.words import for_class as for_class
from pages.components.words import table_for_class as table_for_class
