"""A page to explore a model: `clearbands explore`."""

from clearbands.apps.web.explore.explorer import create_page
from clearbands.apps.web.explore.scene import make_scene

__all__ = ["create_page", "make_scene"]
