"""Credentials and path variables for schemathesis: what a route needs, so that requests come further than its door."""

import base64
import json
import os
from pathlib import Path

import schemathesis

# How deep the bodies of requests are described to schemathesis. A push has some thousand keys in a dozen levels, and cases for all
# their combinations would take hours; below this level anything goes, and what is wrong there is refused.
DEEPEST = 4
SUCCEEDED = set()
KNOWN = json.loads(Path(os.environ["OPENAPI_CHECKS"]).read_text())


def authorization(schemes, user):
    """The credentials that a route takes; of several, those that may do the most."""
    if "operator_token" in schemes:
        return f"Bearer {KNOWN['credentials']['operator']}"
    pair = (user, KNOWN["credentials"]["inboxes"][user]) if "inbox" in schemes else KNOWN["credentials"]["master"]
    return f"Basic {base64.b64encode(':'.join(pair).encode()).decode()}"


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """Lines of JSON are text, which is sent as it is."""
    return str(value).encode(errors="replace")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Has paths lead to something that is there, and gives the right credentials."""
    known = KNOWN["deleted" if case.method == "DELETE" else "kept"]
    for name in case.path_parameters or {}:
        case.path_parameters[name] = known.get(name, case.path_parameters[name])
    schemes = [name for choice in case.operation.definition.raw.get("security", []) for name in choice]
    if schemes:
        case.headers["Authorization"] = authorization(schemes, known["user_id"])


@schemathesis.hook
def after_call(context, case, response):
    """Notes the routes that have done what they were asked."""
    name = case.operation.definition.raw["operationId"]
    if response.status_code < 300 and name not in SUCCEEDED:
        SUCCEEDED.add(name)
        with Path(os.environ["OPENAPI_SUCCEEDED"]).open("a") as notes:
            notes.write(name + "\n")


def flat(schema, document, depth):
    """A schema without references, and without what lies deep."""
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        _, *names = schema["$ref"].split("/")
        found = document
        for name in names:
            found = found[name]
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return flat({**found, **beside}, document, depth)
    if depth > DEEPEST:
        return {}
    made = dict(schema)
    for key in ["properties", "patternProperties"]:
        if key in schema:
            made[key] = {name: flat(value, document, depth + 1) for name, value in schema[key].items()}
    for key in ["items", "additionalProperties", "not", "propertyNames"]:
        if key in schema:
            made[key] = flat(schema[key], document, depth + 1)
    for key in ["oneOf", "anyOf", "allOf", "prefixItems"]:
        if key in schema:
            made[key] = [flat(value, document, depth + 1) for value in schema[key]]
    if depth == DEEPEST:
        # Where everything goes, nothing fits one form and not the others.
        made = {key: value for key, value in made.items() if key not in ["oneOf", "not"]}
    return made


@schemathesis.hook
def before_load_schema(context, schema):
    for item in schema["paths"].values():
        for operation in item.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                content["schema"] = flat(content["schema"], schema, 1)
