"""A model as a web service: `clearbands serve`, or `create_app` for a server of your own."""

from clearbands.web.limits import Limits
from clearbands.web.service.app import create_app
from clearbands.web.service.token import read_token

__all__ = ["Limits", "create_app", "read_token"]
