"""Credentials and path variables for schemathesis: what a route needs, so that requests come further than its door."""

import base64
import json
import os
from pathlib import Path

import schemathesis

KNOWN = json.loads(Path(os.environ["OPENAPI_CHECKS"]).read_text())


def authorization(operation):
    schemes = [name for choice in operation.definition.raw.get("security", []) for name in choice]
    if "operator_token" in schemes:
        return f"Bearer {KNOWN['credentials']['operator']}"
    name = "inbox" if "inbox" in schemes else "master"
    return "Basic " + base64.b64encode(":".join(KNOWN["credentials"][name]).encode()).decode() if schemes else None


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Mostly what is there. What is deleted by one request is missing for the next, which is to be answered as well."""
    if not path_parameters:
        return path_parameters
    return {name: KNOWN["variables"].get(name, value) for name, value in path_parameters.items()}


@schemathesis.hook
def map_headers(context, headers):
    value = authorization(context.operation)
    return {**(headers or {}), **({"Authorization": value} if value else {})}
