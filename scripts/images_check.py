"""Shows that scripts/images.py pins what a registry has and refuses what is not pinned, with a registry played on loopback."""

import contextlib
import hashlib
import http.server
import json
import pathlib
import tempfile
import threading

import images

MANIFEST = json.dumps({"schemaVersion": 2, "manifests": []}, indent=3).encode()
DIGEST = hashlib.sha256(MANIFEST).hexdigest()
DOCKERFILE = "ARG BASE\nFROM ${BASE} AS build\nFROM build\nCOPY --from=build /a /b\n"


class Registry(http.server.BaseHTTPRequestHandler):
    """Hands out a token to everybody, and one manifest to those who have it."""

    def do_GET(self):
        if self.path == "/token?service=played&scope=pull":
            return self.answer(200, b'{"token": "good"}')
        if self.headers.get("Authorization") != "Bearer good":
            realm = f"http://{self.headers['Host']}/token"
            return self.answer(401, b"", f'Bearer realm="{realm}",service="played",scope="pull"')
        known = {"/v2/library/base/manifests/1.0-slim": MANIFEST, "/v2/library/page/manifests/1": b"{}"}
        return self.answer(200 if self.path in known else 404, known.get(self.path, b""))

    def answer(self, status, body, challenge=None):
        self.send_response(status)
        if challenge:
            self.send_header("WWW-Authenticate", challenge)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def refuses(arguments, packaging, hosts, words):
    try:
        images.main(arguments, packaging, hosts)
    except images.Unpinned as problem:
        assert words in str(problem), problem
        return
    raise AssertionError(f"{arguments} is not refused: {words}")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hosts = {"played.example": f"http://127.0.0.1:{server.server_port}"}
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(server.socket):
        packaging = pathlib.Path(folder)
        tag = "played.example/library/base:1.0-slim"
        followed, dockerfile, lock = (packaging / name for name in ("images", "Dockerfile", "images.lock"))
        followed.write_text(f"# the base\nBASE {tag}\n")
        dockerfile.write_text(DOCKERFILE)

        images.main(["--check"], packaging, hosts)
        refuses(["--check-release"], packaging, hosts, "images.lock is missing")
        refuses(["--build-args"], packaging, hosts, "images.lock is missing")
        images.main([], packaging, hosts)
        assert images.main(["--build-args"], packaging, hosts) == f"--build-arg BASE={tag}@sha256:{DIGEST}"
        images.main(["--check-release"], packaging, hosts)

        for unpinned in ["FROM debian:12", "FROM debian", "ARG BASE=debian:12\nFROM ${BASE}", "FROM ${OTHER}",
                         f"FROM debian:12@sha256:{DIGEST[:-1]}", "FROM scratch\nCOPY --from=debian:12 /a /b"]:
            dockerfile.write_text(unpinned)
            refuses(["--check"], packaging, hosts, "without a digest")
        dockerfile.write_text(f"FROM --platform=linux/amd64 debian:12@sha256:{DIGEST} AS x\nFROM x\nFROM scratch\n")
        images.main(["--check"], packaging, hosts)
        (packaging / "compose.yaml").write_text("services:\n  a:\n    image: postgres:17\n")
        refuses(["--check"], packaging, hosts, "without a digest")
        (packaging / "compose.yaml").unlink()

        good = lock.read_text()
        lock.write_text(f"BASE {tag}\n")
        refuses(["--check"], packaging, hosts, "without a digest")
        lock.write_text(good.replace("1.0-slim", "1.1-slim"))
        refuses(["--check"], packaging, hosts, "other tags")
        lock.write_text(good)
        for unknown, words in [("played.example/library/base:2", "cannot be pinned"), ("played.example/library/page:1", "no manifest"),
                               ("played.example/library/base", "not of the form"), (f"{tag}@sha256:{DIGEST}", "not of the form")]:
            followed.write_text(f"BASE {unknown}\n")
            refuses([], packaging, hosts, words)
            assert lock.read_text() == good, "what cannot be pinned is not written"
        server.shutdown()
    print("images: pinning and its refusals work with a played registry")


if __name__ == "__main__":
    main()
