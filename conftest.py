"""How hard Hypothesis tries: `make test` asks for `ci`, which gives the same verdict on every run."""

from hypothesis import settings

# Timings of a shared machine prove nothing, so that no profile has a deadline.
settings.register_profile("ci", derandomize=True, max_examples=50, deadline=None, database=None, print_blob=True)
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile("dev")
