"""A model as a web service: `clearbands serve`, or `create_app` for a server of your own."""

from clearbands.service.app import create_app
from clearbands.service.limits import Limits
from clearbands.service.token import read_token

__all__ = ["Limits", "create_app", "read_token"]
