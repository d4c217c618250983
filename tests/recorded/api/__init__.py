"""The JSON API: its OpenAPI document, and requests with their answers."""
