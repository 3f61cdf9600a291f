"""Settings for all tests."""

from hypothesis import settings

# How long an example takes says more about the machine, and about compiling, than about the code.
settings.register_profile(
    "patient", parent=settings.get_profile(settings.get_current_profile_name()), deadline=None
)
settings.load_profile("patient")
