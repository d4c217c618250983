from tests.flow.conftest import house, prepared_folder

__all__ = ["house", "prepared_folder"]
