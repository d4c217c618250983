"""The commands of manage.py: what their --help says, and what they answer in a scenario."""
