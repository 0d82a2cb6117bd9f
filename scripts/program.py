"""The program, started on a free port in a temporary folder, with a development app, which delivers to the sandbox."""

import contextlib
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import requests

PATIENCE_S = 60


@contextlib.contextmanager
def running(program, key, app_secret, master_secret, operator_token=None):
    """The URL of the program while it runs."""
    # A proxy is for the way out.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    app = {"AEROGRAM_APP_KEY": key, "AEROGRAM_APP_SECRET": app_secret, "AEROGRAM_MASTER_SECRET": master_secret}
    # Settings of whoever runs this must not lead to another database.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AEROGRAM_")}
    settings = {**environment, **app, "AEROGRAM_LISTEN": address, "AEROGRAM_LOG_LEVEL": "warn"}
    if operator_token:
        settings["AEROGRAM_OPERATOR_TOKEN"] = operator_token
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([Path(program).resolve(), "serve"], cwd=folder, env=settings)
        try:
            eventually(lambda: server.poll() is not None or answers(f"http://{address}/ready"))
            yield f"http://{address}"
        finally:
            server.terminate()
            server.wait()


def answers(url):
    try:
        return requests.get(url).ok
    except requests.ConnectionError:
        return False


def eventually(found):
    deadline = time.monotonic() + PATIENCE_S
    while not (result := found()):
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.05)
    return result
