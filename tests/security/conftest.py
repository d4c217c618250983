from tests.api.conftest import program

__all__ = ["program"]
