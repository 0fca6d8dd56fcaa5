"""The version, in the one place that the build, the package and the changelog's test all read."""

__version__ = "0.1.0"
