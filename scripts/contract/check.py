"""The OpenAPI document is valid, and a running server answers as it says: no 5xx, and no answer that is not in it.

usage: check.py PROGRAM      starts PROGRAM in a temporary folder, with a development app

Judges: openapi-spec-validator for the document, schemathesis for the answers. The requests are the same each time: nothing about
them is random.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import requests
from openapi_spec_validator import validate

KEY, APP_SECRET, MASTER_SECRET = "openapi-checks-app-key", "openapi-checks-app-sec", "openapi-checks-app-mas"
OPERATOR_TOKEN = "the-operator-of-the-openapi-checks"
MASTER, OPERATOR = (KEY, MASTER_SECRET), {"Authorization": f"Bearer {OPERATOR_TOKEN}"}
PATIENCE_S = 60
# Far longer than it takes.
MOST_S = 1800
# The share of routes that must have been called with success at least once. Fewer, and it is the calls that are wrong.
LEAST_SUCCEEDED = 0.8
EXAMPLES_PER_ROUTE = 12
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"]
# Operations that are left out, and why.
LEFT_OUT = {
    "stream-sandbox-deliveries": "a stream does not end",
    "stream-events": "a stream does not end",
    "stream-requests": "a stream does not end",
    "get-live-messages": "a stream does not end, unless it is a long poll",
    "stream-events-by-filters": "a stream does not end",
    "upload-events-of-a-device": "a channel may upload sixty times a minute; browsers do the same under another path",
    "delete-an-app": "the app that all other requests are about would be gone",
    "replace-secrets": "the secrets that all other requests use would be gone",
    "test-a-webhook": "calls an address on the internet; the tests of api have a receiver",
    "test-a-platform": "calls a provider on the internet; the tests of api have one",
}
LATER = "2035-01-01T09:00:00"
PUSH = {"audience": "all", "device_types": ["ios"], "notification": {"alert": "Hello"}}


def post(url, path, body, status, **how):
    answer = requests.post(url + path, json=body, timeout=PATIENCE_S, **(how or {"auth": MASTER}))
    assert answer.status_code == status, (path, answer.status_code, answer.text)
    return answer.json()


def furnish(url, n):
    """One of everything, so that paths lead to something. Values of path variables by their names."""
    channel = {"channel": {"device_type": "ios", "opt_in": True, "push_address": f"A{n}" * 32}}
    channel_id = post(url, "/api/channels", channel, 201)["channel_id"]
    opened = {"type": "open", "opt_in": True, "address": f"lobby-{n}", "open": {"open_platform_name": "kiosk"}}
    post(url, "/api/channels/open", {"channel": opened}, 200)
    post(url, "/api/named_users/associate", {"channel_id": channel_id, "named_user_id": f"kim-{n}"}, 200)
    contact = post(url, "/api/contacts/resolve", {"channel_id": channel_id, "device_type": "ios"}, 200)["contact_id"]
    inbox = post(url, "/api/user", {"ios_channels": [channel_id]}, 201)
    message = {"title": "Hello", "body": "<h1>Hello</h1>"}
    push = post(url, "/api/push", {**PUSH, "message": message}, 200)
    segment = post(url, "/api/segments", {"display_name": "News", "criteria": {"tag": "news"}}, 201)
    schedule = post(url, "/api/schedules", {"schedule": {"scheduled_time": LATER}, "push": PUSH}, 201)
    template = {"name": "Hello", "variables": [], "push": {"notification": {"alert": "Hello"}}}
    template = post(url, "/api/templates", template, 201)
    pipeline = {"enabled": True, "immediate_trigger": "first_open", "outcome": {"push": {**PUSH, "audience": "triggered"}}}
    pipeline = post(url, "/api/pipelines", pipeline, 201)
    variants = [
        {"push": {"notification": {"alert": text}}, "schedule": {"scheduled_time": LATER}} for text in ["Hello", "Good morning"]
    ]
    experiment = post(url, "/api/experiments", {"audience": "all", "device_types": ["ios"], "variants": variants}, 201)
    post(url, "/api/lists", {"name": f"vip-{n}"}, 201)
    webhook = {"url": "https://events.example.com/", "types": ["OPEN"], "enabled": False}
    webhook = post(url, f"/operator/apps/{KEY}/webhooks", webhook, 201, headers=OPERATOR)["webhook"]
    return {
        "key": KEY, "channel_id": channel_id, "contact_id": contact, "named_user_id": f"kim-{n}",
        "user_id": inbox["user_id"], "password": inbox["password"], "message_id": push["message_ids"][0],
        "push_id": push["push_ids"][0], "send_id": push["push_ids"][0], "segment_id": segment["segment_id"],
        "schedule_id": schedule["schedule_ids"][0], "group_id": experiment["experiment_id"],
        "template_id": template["template_id"], "pipeline_id": pipeline["pipeline_ids"][0],
        "experiment_id": experiment["experiment_id"], "variant": 0, "list": f"vip-{n}", "webhook_id": webhook["webhook_id"],
        "platform": "open::kiosk", "tag": f"news-{n}", "place": "45.52,-122.68",
    }


def conforms(url, folder, n_routes):
    """Has schemathesis call every route that is not left out."""
    # What is deleted is not to be missing for all other requests.
    kept, deleted = furnish(url, 1), furnish(url, 2)
    known = Path(folder, "known.json")
    inboxes = {one["user_id"]: one["password"] for one in [kept, deleted]}
    credentials = {"master": MASTER, "operator": OPERATOR_TOKEN, "inboxes": inboxes}
    known.write_text(json.dumps({"credentials": credentials, "kept": kept, "deleted": deleted}))
    command = [
        Path(sys.executable).with_name("schemathesis"), "run", f"{url}/openapi.json",
        "--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES_PER_ROUTE),
        "--generation-deterministic", "--workers", "1",
        "--request-timeout", str(PATIENCE_S), "--continue-on-failure", "--warnings", "off", "--no-color",
    ]
    for operation in LEFT_OUT:
        command += ["--exclude-operation-id", operation]
    succeeded = Path(folder, "succeeded.txt")
    hooks = {
        "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(Path(__file__).parent),
        "OPENAPI_CHECKS": str(known), "OPENAPI_SUCCEEDED": str(succeeded),
    }
    conforms = subprocess.run(command, cwd=folder, env={**os.environ, **hooks}, timeout=MOST_S).returncode == 0
    n_succeeded = len(succeeded.read_text().split())
    print(f"openapi: {n_succeeded} of {n_routes} routes were called with success", flush=True)
    return conforms and n_succeeded >= LEAST_SUCCEEDED * n_routes


def answers(url):
    try:
        return requests.get(url, timeout=5).ok
    except requests.ConnectionError:
        return False


def main(program):
    # A proxy is for the way out.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    url = f"http://{address}"
    app = {"AEROGRAM_APP_KEY": KEY, "AEROGRAM_APP_SECRET": APP_SECRET, "AEROGRAM_MASTER_SECRET": MASTER_SECRET}
    # Settings of whoever runs this must not lead to another database.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AEROGRAM_")}
    service = {"AEROGRAM_LISTEN": address, "AEROGRAM_LOG_LEVEL": "warn", "AEROGRAM_OPERATOR_TOKEN": OPERATOR_TOKEN}
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([Path(program).resolve(), "serve"], cwd=folder, env={**environment, **app, **service})
        try:
            deadline = time.monotonic() + PATIENCE_S
            while not answers(f"{url}/ready"):
                assert server.poll() is None and time.monotonic() < deadline, "the server does not start"
                time.sleep(0.05)
            document = requests.get(f"{url}/openapi.json", timeout=PATIENCE_S).json()
            validate(document)
            n_routes = sum(len(item) for item in document["paths"].values())
            print(f"openapi: the document of {n_routes} routes is valid", flush=True)
            if not conforms(url, folder, n_routes):
                sys.exit("openapi: answers differ from the document, or too few calls succeeded")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    [program] = sys.argv[1:]
    main(program)
