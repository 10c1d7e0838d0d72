"""Former names, until no page uses them."""

from pages.components.release import address_of as address_of
from pages.components.release import lead_on as lead_on
from pages.components.release import page_link as page_link
