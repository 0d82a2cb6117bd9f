"""Credentials and path variables for schemathesis: what a route needs, so that requests come further than its door."""

import base64
import json
import os
from pathlib import Path

import schemathesis

KNOWN = json.loads(Path(os.environ["OPENAPI_CHECKS"]).read_text())


def authorization(schemes, user):
    """The credentials that a route takes; of several, those that may do the most."""
    if "operator_token" in schemes:
        return f"Bearer {KNOWN['credentials']['operator']}"
    pair = (user, KNOWN["credentials"]["inboxes"][user]) if "inbox" in schemes else KNOWN["credentials"]["master"]
    return f"Basic {base64.b64encode(':'.join(pair).encode()).decode()}"


@schemathesis.hook
def before_call(context, case, kwargs):
    """Has paths lead to something that is there, and gives the right credentials."""
    known = KNOWN["deleted" if case.method == "DELETE" else "kept"]
    for name in case.path_parameters or {}:
        case.path_parameters[name] = known.get(name, case.path_parameters[name])
    schemes = [name for choice in case.operation.definition.raw.get("security", []) for name in choice]
    if schemes:
        case.headers["Authorization"] = authorization(schemes, known["user_id"])
