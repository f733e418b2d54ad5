"""Property tests without settings of their own are like those with them (`tests.scale`)."""

from hypothesis import HealthCheck, settings

from tests.scale import SCALE

settings.register_profile(
    "reprieve", derandomize=SCALE <= 1, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("reprieve")
