"""Owns: the JSON API, /api/v1/: the same services, policies and words as the screens, for programs.

Does not: change rows itself, or decide who may. Called by: the URL configuration.

    contract    what an operation is; each stands in the module `api` of its subject, above the function that does it
    request_fields, response_fields     what may be sent, and whether a value fits; what is answered
    dispatch    method, rate, JSON, refusals
    addresses   all operations; the routes and the OpenAPI document are made from them
"""
