"""Kills the service again and again while clients register, tag and push; scripts/kills says how to run it.

Clients remember what was answered with success. In the end every such channel has its tags, every such push is done, and everybody
whom it was for has got it from the receiver here, which plays the endpoint of an open platform. Repeats carry the id of the first.
"""

import base64
import collections
import http.client
import http.server
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

# Credentials of an app have 22 characters.
KEY, APP_SECRET, MASTER_SECRET = "killed-app-key-0123456", "killed-app-secret-0123", "killed-app-master-0123"
TOKEN = "the-operator-of-the-killed-app"
N_CLIENTS = 4
# How long the service lives after it is ready, and how long it may take to get there or to finish.
LIFE = (0.01, 0.8)
PATIENCE = 180


class Receiver(http.server.BaseHTTPRequestHandler):
    """The endpoint of the open platform: takes everything, and keeps (message, address) -> ids."""

    protocol_version = "HTTP/1.1"
    received = collections.defaultdict(list)
    lock = threading.Lock()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.lock:
            for message in body["values"]:
                key = (message["payload"]["alert"], message["target"]["address"])
                self.received[key].append(message["send_id"])
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


class Receivers(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A killed service leaves its connections in the middle of a request; that is no news."""


class Service:
    def __init__(self, program, folder, database):
        self.program, self.folder = program, folder
        self.database = database or f"sqlite:{folder}/aerogram.db"
        self.port = free_port()
        self.process = None

    def start(self):
        """Returns when it is ready."""
        secrets = ["--app-key", KEY, "--app-secret", APP_SECRET, "--master-secret", MASTER_SECRET, "--operator-token", TOKEN]
        arguments = [self.program, "serve", f"--listen=127.0.0.1:{self.port}", f"--database={self.database}", *secrets]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*arguments, "--allow-private-addresses"], cwd=self.folder, stdout=log, stderr=log
            )
        wait_for(lambda: self.answers("/ready") == 200, lambda: f"the service does not start\n{self.last_words()}")

    def answers(self, path):
        if self.process.poll() is not None:
            sys.exit(f"the service ended by itself\n{self.last_words()}")
        try:
            return Caller(self.port).call("GET", path)[0]
        except (OSError, http.client.HTTPException):
            return None

    def last_words(self):
        return "".join((self.folder / "log").read_text(errors="replace").splitlines(keepends=True)[-20:])

    def kill(self):
        self.process.kill()
        self.process.wait()


class Client(threading.Thread):
    """Registers, tags and pushes, and remembers what was answered with success."""

    def __init__(self, number, seed, port):
        super().__init__(daemon=True)
        self.number, self.caller = number, Caller(port)
        self.chance = random.Random(f"{seed} {number}")
        self.channels, self.pushes, self.n_unknown = [], [], 0
        self.stopped = False

    def run(self):
        while not self.stopped:
            try:
                self.act()
            except (OSError, http.client.HTTPException):
                self.n_unknown += 1
                time.sleep(0.005)

    def act(self):
        n = len(self.channels)
        what = self.chance.random()
        if what < 0.5 or n == 0:
            address = f"device {self.number} {n}"
            channel = {"type": "open", "opt_in": True, "address": address, "open": {"open_platform_name": "killed"}}
            answer = self.post("/api/channels/open", {"channel": channel})
            if answer:
                self.channels.append({"id": answer["channel_id"], "address": address, "tags": set()})
        elif what < 0.9:
            channel, tag = self.chance.choice(self.channels), f"tag {self.chance.randrange(20)}"
            body = {"audience": {"channel": channel["id"]}, "add": {"crew": [tag]}}
            if self.post("/api/channels/tags", body):
                channel["tags"].add(tag)
        else:
            # To devices of this client, which it has not changed since.
            some = self.chance.sample(self.channels, min(n, 20))
            alert = f"push {self.number} {self.chance.random()}"
            audience = {"or": [{"open_channel": channel["id"]} for channel in some]}
            body = {"audience": audience, "device_types": ["open::killed"], "notification": {"alert": alert}}
            answer = self.post("/api/push", body)
            if answer:
                self.pushes.append((answer["push_ids"][0], alert, [channel["address"] for channel in some]))

    def post(self, path, body):
        status, answer = self.caller.call("POST", path, body, basic(MASTER_SECRET))
        if 200 <= status < 300:
            return answer
        if status != 503:
            print(f"{path}: {status} {answer}", flush=True)
            os._exit(1)
        return None


class Caller:
    """Keeps its connection from one call to the next, until a kill cuts it."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def call(self, method, path, body=None, authorization=None):
        headers = {"Accept": "application/vnd.urbanairship+json; version=3;", "Content-Type": "application/json"}
        if authorization:
            headers["Authorization"] = authorization
        try:
            self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = self.connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise
        return answer.status, json.loads(text) if text[:1] == b"{" else text


def basic(secret):
    return "Basic " + base64.b64encode(f"{KEY}:{secret}".encode()).decode()


def free_port():
    with http.server.HTTPServer(("127.0.0.1", 0), Receiver) as server:
        return server.server_port


def wait_for(condition, otherwise):
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            sys.exit(otherwise())
        time.sleep(0.005)


def check(port, clients):
    """Everything that was answered with success is there."""
    problems, caller = [], Caller(port)
    for client in clients:
        for push, alert, addresses in client.pushes:
            def is_done():
                status, answer = caller.call("GET", f"/api/push/{push}", None, basic(MASTER_SECRET))
                if status != 200:
                    sys.exit(f"push {push} is lost: {status} {answer}")
                return answer["push"]["state"] == "done"

            wait_for(is_done, lambda: f"push {push} does not end")
            for address in addresses:
                ids = Receiver.received[alert, address]
                if not ids:
                    problems.append(f"{address} missed {alert}")
                elif len(set(ids)) > 1:
                    problems.append(f"a repeat of {alert} to {address} has another id")
        for channel in client.channels:
            status, answer = caller.call("GET", f"/api/channels/{channel['id']}", None, basic(MASTER_SECRET))
            if status != 200:
                problems.append(f"{channel['address']} is lost: {status}")
            elif not channel["tags"] <= set(answer["channel"].get("tag_groups", {}).get("crew", [])):
                problems.append(f"{channel['address']} has lost tags")
    return problems


def main():
    program, n_kills = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    database = sys.argv[3] if len(sys.argv) > 3 else None
    seed = os.environ.get("KILLS_SEED") or str(random.randrange(10**9))
    print(f"kills: seed {seed}", flush=True)
    chance = random.Random(seed)
    receiver = Receivers(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="aerogram-kills-") as folder:
        service = Service(program, pathlib.Path(folder), database)
        service.start()
        endpoint = {"url": f"http://127.0.0.1:{receiver.server_port}", "auth": {"type": "none"}, "validate": False}
        path = f"/operator/apps/{KEY}/platforms/open::killed"
        status, answer = Caller(service.port).call("PUT", path, endpoint, f"Bearer {TOKEN}")
        assert status == 200, answer
        clients = [Client(number, seed, service.port) for number in range(N_CLIENTS)]
        for client in clients:
            client.start()
        began = time.monotonic()
        for n in range(1, n_kills + 1):
            time.sleep(chance.uniform(*LIFE))
            service.kill()
            service.start()
            if n % 50 == 0:
                print(f"kills: {n} after {time.monotonic() - began:.0f} s", flush=True)
        for client in clients:
            client.stopped = True
        for client in clients:
            client.join()
        problems = check(service.port, clients)
        service.process.terminate()
        service.process.wait()
        missing = pathlib.Path(folder) / "aerogram.db.missing"
        if missing.exists():
            problems.append(f"a start took log records for missing: {missing.read_text()}")
    n_channels, n_pushes = (sum(len(getattr(client, what)) for client in clients) for what in ("channels", "pushes"))
    n_repeats = sum(len(ids) - 1 for ids in Receiver.received.values())
    n_messages = len(Receiver.received)
    n_unknown = sum(client.n_unknown for client in clients)
    print(f"kills: {n_kills} kills; {n_channels} channels, {n_pushes} pushes, {n_messages} messages, {n_repeats} repeats,")
    print(f"       {n_unknown} requests without an answer; {len(problems)} problems")
    for problem in problems[:20]:
        print(f"  {problem}")
    sys.exit(1 if problems else 0)


main()
