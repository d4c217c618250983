"""A prepared house for the commands of operators."""

from tests.flow.conftest import house, prepared_folder

__all__ = ["house", "prepared_folder"]
