"""Credentials and path variables for schemathesis: what a route needs, so that requests come further than its door."""

import base64
import json
import os
from pathlib import Path

import schemathesis

KNOWN = json.loads(Path(os.environ["OPENAPI_CHECKS"]).read_text())


def authorization(schemes):
    """The credentials that a route takes; of several, those that may do the most."""
    if "operator_token" in schemes:
        return f"Bearer {KNOWN['credentials']['operator']}"
    secret = ":".join(KNOWN["credentials"]["inbox" if "inbox" in schemes else "master"])
    return f"Basic {base64.b64encode(secret.encode()).decode()}"


@schemathesis.hook
def before_call(context, case, kwargs):
    schemes = [name for choice in case.operation.definition.raw.get("security", []) for name in choice]
    if schemes:
        case.headers["Authorization"] = authorization(schemes)
    # Paths lead to something that was there at the start. What one request deletes is missing for the next, which has to be
    # answered in the form of the document as well.
    for name in case.path_parameters or {}:
        case.path_parameters[name] = KNOWN["variables"].get(name, case.path_parameters[name])
