"""Owns: the JSON API, /api/v1/: the same services, policies and words as the screens, for programs.

Does not: change rows itself, or decide who may. Called by: the URL configuration.

contract says what can be asked (one entry per address, from which the routes and the OpenAPI document are made),
door answers it in JSON, shapes turns rows into JSON, the other modules are the operations.
"""
