"""A web service of a model: `clearbands serve`, or `create_app` for a server of your own."""

from clearbands.apps.web.limits import Limits
from clearbands.apps.web.service.app import create_app
from clearbands.apps.web.service.serving import read_token

__all__ = ["Limits", "create_app", "read_token"]
