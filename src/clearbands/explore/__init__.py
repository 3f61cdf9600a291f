"""A page to explore a model: `clearbands explore`."""

from clearbands.explore.app import create_page
from clearbands.explore.scene import make_scene

__all__ = ["create_page", "make_scene"]
