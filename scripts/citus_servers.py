"""The processes of `scripts/citus`: PostgreSQL servers, a cluster of Citus made of them, and nodes of the service."""

import base64
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOKEN = "operator-token-of-the-citus-check-0123456789"
BIN = subprocess.check_output(["pg_config", "--bindir"], text=True).strip()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Postgres:
    """A server with a database `aerogram`, in a folder of its own."""

    def __init__(self, folder, name, citus):
        self.folder, self.port = f"{folder}/{name}", free_port()
        self.log = f"{self.folder}.log"
        # The server refuses to run as root.
        self.user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
        self.environment = {**os.environ, "HOME": folder}
        self.program("initdb", "-U", "aerogram", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        settings = f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"
        settings += "max_connections = 300\nmax_prepared_transactions = 300\njit = off\nwal_level = logical\n"
        if citus:
            settings += "shared_preload_libraries = 'citus'\ncitus.shard_count = 16\n"
            settings += "citus.node_conninfo = 'sslmode=disable'\ncitus.recover_2pc_interval = '5s'\n"
        with open(f"{self.folder}/postgresql.conf", "a", encoding="utf-8") as file:
            file.write(settings)
        self.start()
        self.ask("create database aerogram", database="postgres")
        if citus:
            self.ask("create extension citus")

    def program(self, name, *arguments):
        command = [*self.user, f"{BIN}/{name}", "-D", self.folder, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=self.environment)

    def start(self):
        self.program("pg_ctl", "-l", self.log, "-w", "start")

    def kill(self):
        """All its processes end at once, without writing anything more."""
        self.program("pg_ctl", "-m", "immediate", "stop")

    def ask(self, sql, database="aerogram"):
        url = f"postgres://aerogram@127.0.0.1:{self.port}/{database}"
        command = [f"{BIN}/psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql, url]
        return subprocess.check_output(command, text=True).strip()

    def pid(self):
        with open(f"{self.folder}/postmaster.pid", encoding="utf-8") as file:
            return int(file.readline())


def citus_cluster(folder):
    servers = [Postgres(folder, name, citus=True) for name in ["coordinator", "worker1", "worker2"]]
    coordinator = servers[0]
    coordinator.ask(f"select citus_set_coordinator_host('127.0.0.1', {coordinator.port})")
    for worker in servers[1:]:
        coordinator.ask(f"select citus_add_node('127.0.0.1', {worker.port})")
    return servers


def url_of(server):
    return f"postgres://aerogram@127.0.0.1:{server.port}/aerogram"


class Node:
    """A node of the service."""

    def __init__(self, program, folder, url, citus, name):
        self.program, self.name, self.port = program, name, free_port()
        self.log = f"{folder}/{name}.log"
        self.environment = {
            **os.environ,
            "AEROGRAM_DATABASE": url,
            "AEROGRAM_DATA": f"{folder}/data",
            "AEROGRAM_LISTEN": f"127.0.0.1:{self.port}",
            "AEROGRAM_OPERATOR_TOKEN": TOKEN,
            "AEROGRAM_DATABASE_CONNECTIONS": "16",
        }
        if citus:
            self.environment["AEROGRAM_DISTRIBUTED"] = "citus"
        self.start()

    def start(self):
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([self.program, "serve"], env=self.environment, stdout=log, stderr=log)
        deadline = time.time() + 60
        while True:
            try:
                if call(self, "GET", "/health", None)[0] == 200:
                    return
            except OSError:
                pass
            if time.time() > deadline or self.process.poll() is not None:
                raise SystemExit(f"node {self.name} does not start; see {self.log}")
            time.sleep(0.1)

    def kill(self):
        self.process.kill()
        self.process.wait()


def call(node, method, path, credentials, body=None, key=None, headers=None, connection=None):
    headers = {"Accept": "application/vnd.urbanairship+json; version=3", **(headers or {})}
    if credentials == "operator":
        headers["Authorization"] = f"Bearer {TOKEN}"
    elif credentials:
        headers["Authorization"] = "Basic " + base64.b64encode(":".join(credentials).encode()).decode()
    if key:
        headers["Idempotency-Key"] = key
    if body is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(body)
    connection = connection or http.client.HTTPConnection("127.0.0.1", node.port, timeout=30)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read()
    try:
        return answer.status, json.loads(text) if text else None
    except ValueError:
        return answer.status, text.decode(errors="replace")


def cpu_seconds(pid):
    """Of a process, its children that live, and those that have ended."""
    def of(pid, fields):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                values = file.read().rsplit(")", 1)[1].split()
        except OSError:
            return 0
        return sum(int(values[field]) for field in fields)

    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    # utime, stime, cutime and cstime, counted after the name.
    ticks = of(pid, [11, 12, 13, 14]) + sum(of(child, [11, 12, 13, 14]) for child in children)
    return ticks / os.sysconf("SC_CLK_TCK")


def start():
    folder = tempfile.mkdtemp(prefix="citus-")
    os.chmod(folder, 0o777)
    servers = citus_cluster(folder)
    print(url_of(servers[0]), flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        sys.stdin.read()
    finally:
        for server in servers:
            server.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    start()
