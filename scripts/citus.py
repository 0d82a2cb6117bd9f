"""Two nodes and twelve apps under load on Citus, of which a node, a worker and the coordinator are killed; and the cost of the same
load beside plain PostgreSQL. It fails unless apps on healthy servers saw no error, nothing that was accepted is lost, and the
audiences of both nodes are what the rows say. `scripts/citus` starts it.
"""

import http.client
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid

from citus_servers import Node, Postgres, call, citus_cluster, cpu_seconds, url_of
from citus_statements import misplaced

APPS = 12
CLIENTS_PER_APP = 2
TAGS = 5
SECONDS = int(os.environ.get("SECONDS", "20"))


class App:
    def __init__(self, node, number):
        body = {"name": f"app {number}", "mode": "development"}
        status, made = call(node, "POST", "/operator/apps", "operator", body)
        if status not in (200, 201):
            raise SystemExit(f"an app could not be made: {status} {made}")
        self.key = made["app"]["key"]
        self.device, self.master = (self.key, made["app_secret"]), (self.key, made["master_secret"])
        self.server = None


class Client(threading.Thread):
    """Registers devices, tags them and pushes to them, each request until it is answered, and keeps a book of what was accepted."""

    def __init__(self, nodes, app, number, is_over):
        super().__init__(daemon=True)
        self.nodes, self.app, self.is_over = nodes, app, is_over
        self.random = random.Random(number)
        self.turn, self.connections = number, {}
        self.channels, self.pushes, self.inboxes, self.errors, self.answered = {}, {}, {}, [], 0
        self.slowest = 0.0

    def run(self):
        while not self.is_over.is_set():
            chance = self.random.random()
            if len(self.channels) < 3 or chance < 0.2:
                self.register()
            elif chance < 0.65:
                self.tag()
            elif chance < 0.7:
                self.make_inbox()
            else:
                self.push()

    def ask(self, method, path, credentials, body):
        """A request with a key is carried out once, however often it is sent: through another node when there is no answer."""
        key, began = str(uuid.UUID(int=self.random.getrandbits(128))), time.time()
        while True:
            node = self.nodes[self.turn % len(self.nodes)]
            try:
                connection = self.connections.setdefault(node, http.client.HTTPConnection("127.0.0.1", node.port, timeout=30))
                status, answer = call(node, method, path, credentials, body, key, connection=connection)
                if status < 300:
                    self.answered += 1
                    self.slowest = max(self.slowest, time.time() - began)
                    return answer
                self.errors.append((time.time(), f"{method} {path}: {status} {answer}"))
                if status < 500:
                    return None
            except (OSError, http.client.HTTPException):
                # No answer at all: a balancer would go to the next node.
                self.connections.pop(node, None)
            self.turn += 1
            if time.time() - began > 120:
                self.errors.append((time.time(), f"{method} {path}: no answer for two minutes"))
                return None
            time.sleep(0.05)

    def register(self):
        address = f"{self.random.getrandbits(256):064x}"
        body = {"channel": {"device_type": "ios", "opt_in": True, "push_address": address}}
        made = self.ask("POST", "/api/channels", self.app.device, body)
        if made:
            self.channels[made["channel_id"]] = set()

    def tag(self):
        channel, tag = self.random.choice(list(self.channels)), f"tag-{self.random.randrange(TAGS)}"
        body = {"audience": {"ios_channel": channel}, "add": {"check": [tag]}}
        if self.ask("POST", "/api/channels/tags", self.app.master, body):
            self.channels[channel].add(tag)

    def push(self):
        channel, text = self.random.choice(list(self.channels)), f"push {self.random.getrandbits(64)}"
        body = {"audience": {"ios_channel": channel}, "device_types": ["ios"], "notification": {"alert": text}}
        made = self.ask("POST", "/api/push", self.app.master, body)
        if made:
            self.pushes[made["push_ids"][0]] = text

    def make_inbox(self):
        made = self.ask("POST", "/api/user", self.app.device, {"ios_channels": [self.random.choice(list(self.channels))]})
        if made:
            self.inboxes[made["user_id"]] = made["password"]


class Load:
    def __init__(self, nodes, apps):
        self.is_over = threading.Event()
        numbers = range(len(apps) * CLIENTS_PER_APP)
        self.clients = [Client(nodes, apps[number % len(apps)], number, self.is_over) for number in numbers]
        for client in self.clients:
            client.start()

    def end(self):
        self.is_over.set()
        for client in self.clients:
            client.join()
        return self.clients


def measure(nodes, servers, apps, title):
    """The load for some seconds, and its cost."""
    Load(nodes, apps).end()  # Connections, statements and indexes are there from now on.
    pids = [[node.process.pid for node in nodes], [server.pid() for server in servers]]
    before = [sum(map(cpu_seconds, some)) for some in pids]
    load = Load(nodes, apps)
    time.sleep(SECONDS)
    clients = load.end()
    service, database = [sum(map(cpu_seconds, some)) - was for some, was in zip(pids, before)]
    answered = sum(client.answered for client in clients)
    errors = [error for client in clients for error in client.errors]
    per = lambda seconds: f"{seconds / answered * 1e6:,.0f} µs"
    print(f"{title}: {answered / SECONDS:,.0f} requests a second; CPU of a request: nodes {per(service)}, database {per(database)}")
    if errors:
        raise SystemExit(f"{len(errors)} errors, the first of them: {errors[0]}")
    return (service + database) / answered


def disturb(nodes, servers, apps, log):
    """Kills a node, a worker and the coordinator under load. Returns the clients, and when which servers were away."""
    load, outages = Load(nodes, apps), []
    time.sleep(SECONDS / 4)
    log("killing a node")
    nodes[1].kill()
    time.sleep(SECONDS / 4)
    nodes[1].start()
    time.sleep(SECONDS / 4)
    for name, server in [("worker", servers[2]), ("coordinator", servers[0])]:
        log(f"killing the {name}")
        began = time.time()
        server.kill()
        time.sleep(SECONDS / 2)
        server.start()
        # A node connects again within its longest pause, 5 seconds.
        time.sleep(8)
        outages.append((began, time.time(), server))
        time.sleep(SECONDS / 4)
    return load.end(), outages


def check_errors(clients, outages, servers):
    """Errors are for apps whose server is away, while it is away."""
    excused, wrong = 0, []
    for client in clients:
        for when, what in client.errors:
            away = [server for began, ended, server in outages if began <= when <= ended]
            if servers[0] in away or client.app.server in away:
                excused += 1
            else:
                wrong.append(f"app on {client.app.server.folder}: {what}")
    healthy = [client for client in clients if client.app.server is not outages[0][2]]
    print(f"errors for apps whose server was away: {excused}; for others: {len(wrong)}")
    print(f"slowest answer for apps on the healthy worker, with the outages of node and coordinator: "
          f"{max(client.slowest for client in healthy):.1f} s")
    return wrong[:5]


def rows_of(node, app):
    """The channels of an app as the database has them, with their tags."""
    found, path = {}, "/api/channels?limit=1000"
    while path:
        status, page = call(node, "GET", path, app.master)
        if status != 200:
            raise SystemExit(f"channels cannot be listed: {status} {page}")
        for channel in page["channels"]:
            found[channel["channel_id"]] = set((channel.get("tag_groups") or {}).get("check", []))
        path = page.get("next_page")
        path = path and "/" + path.split("/", 3)[3]
    return found


def matched(node, app, audience):
    status, answer = call(node, "POST", "/api/audience/explain", app.master, {"audience": audience})
    if status != 200:
        raise SystemExit(f"an audience cannot be explained: {status} {answer}")
    return answer["matched"]


def check_books(nodes, apps, all_clients):
    """Everything accepted is there, sent, and in the audiences of every node."""
    wrong, counts = [], {"channels": 0, "tags": 0, "inboxes": 0, "pushes": 0, "audiences": 0}
    for app in apps:
        clients = [client for client in all_clients if client.app is app]
        rows = rows_of(nodes[0], app)
        for client in clients:
            for channel, tags in client.channels.items():
                counts["channels"] += 1
                counts["tags"] += len(tags)
                if not tags <= rows.get(channel, set()) or channel not in rows:
                    wrong.append(f"{app.key}: channel {channel} has lost {tags - rows.get(channel, set())}")
            for user, password in client.inboxes.items():
                counts["inboxes"] += 1
                if call(nodes[0], "GET", f"/api/user/{user}", (user, password))[0] != 200:
                    wrong.append(f"{app.key}: inbox {user} is lost")
        wanted = {"all": len(rows)}
        wanted |= {f"tag-{n}": sum(f"tag-{n}" in tags for tags in rows.values()) for n in range(TAGS)}
        for node in nodes:
            for name, n_rows in wanted.items():
                audience = "all" if name == "all" else {"tag": name, "group": "check"}
                counts["audiences"] += 1
                n_found = matched(node, app, audience)
                if n_found != n_rows:
                    wrong.append(f"{app.key}: {name} is {n_found} on node {node.name}, and {n_rows} rows")
        for push in (push for client in clients for push in client.pushes):
            counts["pushes"] += 1
            deadline = time.time() + 60
            while True:
                _, status = call(nodes[1], "GET", f"/api/push/{push}", app.master)
                push_status = status.get("push", status)
                total = push_status.get("total") or {}
                if push_status.get("state") == "done":
                    if total.get("delivered") != 1:
                        wrong.append(f"{app.key}: push {push} ended with {total}")
                    break
                if time.time() > deadline:
                    wrong.append(f"{app.key}: push {push} is still {push_status.get('state')}")
                    break
                time.sleep(0.1)
    print("compared with the rows: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()))
    return wrong


def place_apps(coordinator, servers, apps):
    """Tells every app its server."""
    sql = """select a.key, n.nodeport from aerogram.app a join pg_dist_placement p on p.shardid =
             get_shard_id_for_distribution_column('aerogram.app_numbers', a.id) join pg_dist_node n on n.groupid = p.groupid"""
    ports = {server.port: server for server in servers}
    places = dict(line.split("|") for line in coordinator.ask(sql).splitlines())
    for app in apps:
        app.server = ports[int(places[app.key])]
    return [sum(app.server is server for app in apps) for server in servers[1:]]


def check(program):
    folder = tempfile.mkdtemp(prefix="citus-check-")
    os.chmod(folder, 0o777)
    started, nodes, failed = [], [], True
    log = lambda text: print(f"  {text}", file=sys.stderr, flush=True)
    try:
        costs = {}
        for name, citus in [("plain PostgreSQL", False), ("Citus with two workers", True)]:
            log(f"starting {name}")
            place = f"{folder}/{'citus' if citus else 'plain'}"
            os.mkdir(place)
            os.chmod(place, 0o777)
            servers = citus_cluster(place) if citus else [Postgres(place, "server", citus=False)]
            started += servers
            if citus:
                environment = {**os.environ, "AEROGRAM_DATABASE": url_of(servers[0]), "AEROGRAM_DISTRIBUTED": "citus",
                               "AEROGRAM_DATA": f"{place}/data", "AEROGRAM_LOG_LEVEL": "warn"}
                subprocess.run([program, "migrate"], env=environment, check=True)
                n_statements, wrong = misplaced(servers[0])
                print(f"of {n_statements} statements about one app {len(wrong)} go to several shards")
                if wrong:
                    raise SystemExit("\n".join(wrong))
            nodes = [Node(program, place, url_of(servers[0]), citus, name) for name in "ab"]
            apps = [App(nodes[number % 2], number) for number in range(APPS)]
            if citus:
                log(f"apps on each worker: {place_apps(servers[0], servers, apps)}")
            log("measuring")
            costs[citus] = measure(nodes, servers, apps, name)
            if not citus:
                for node in nodes:
                    node.kill()
                started.pop().kill()
        print(f"Citus costs {costs[True] / costs[False]:.2f} times the CPU of plain PostgreSQL for the same requests")
        clients, outages = disturb(nodes, servers, apps, log)
        wrong = check_errors(clients, outages, servers)
        log("comparing")
        wrong += check_books(nodes, apps, clients)
        for line in wrong[:20]:
            print(f"WRONG: {line}")
        failed = bool(wrong)
        print("FAILED" if failed else "everything is right")
    finally:
        for node in nodes:
            node.process.kill()
        for server in started:
            try:
                server.kill()
            except subprocess.CalledProcessError:
                pass  # It was not running.
        if failed:
            print(f"the logs are in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    sys.exit(failed)


if __name__ == "__main__":
    check(sys.argv[1])
