"""Chromium without a window, led over HTTP: what a test posts is passed on to the DevTools protocol of its one tab.

usage: browser.py FOLDER    profile and log of the browser go there; prints the port to post to
POST /METHOD    body: the parameters as JSON; the answer is the result of the method
POST /events    what the tab told since it was opened: requests, errors, lines of the console
Names other than 127.0.0.1 do not resolve for this browser: a page that needs another host does not work.
"""
import ctypes
import http.server
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

import websocket

START_LIMIT_S = 30
DRAIN_S = 0.05
KEPT = ("Network.requestWillBeSent", "Network.webSocketCreated", "Runtime.exceptionThrown", "Runtime.consoleAPICalled",
        "Log.entryAdded")


def end_with_parent():
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def start_chromium(folder):
    argv = ["chromium", "--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-gpu", "--disable-dev-shm-usage",
            "--force-color-profile=srgb", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={folder}/profile", "about:blank"]
    with open(f"{folder}/chromium.log", "wb") as log:
        return subprocess.Popen(argv, stdout=log, stderr=log, preexec_fn=end_with_parent)


def tab_of(folder, browser):
    told = pathlib.Path(folder, "profile", "DevToolsActivePort")
    until = time.monotonic() + START_LIMIT_S
    while time.monotonic() < until and browser.poll() is None:
        try:
            port = told.read_text(encoding="ascii").splitlines()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                tabs = [tab for tab in json.load(answer) if tab["type"] == "page"]
            if tabs:
                return websocket.create_connection(tabs[0]["webSocketDebuggerUrl"], suppress_origin=True, timeout=60)
        except (OSError, IndexError):
            pass
        time.sleep(0.05)
    sys.exit(f"chromium does not start, see {folder}/chromium.log")


class Tab:
    def __init__(self, socket):
        self.socket = socket
        self.numbers = itertools.count(1)
        self.events = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable", {})

    def call(self, method, parameters):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = self.take()
            if message.get("id") == number:
                return message.get("result", message.get("error"))

    def take(self):
        message = json.loads(self.socket.recv())
        if message.get("method") in KEPT:
            self.events.append(message)
        return message

    def drain(self):
        self.socket.settimeout(DRAIN_S)
        try:
            while True:
                self.take()
        except websocket.WebSocketTimeoutException:
            return self.events
        finally:
            self.socket.settimeout(60)


class Bridge(http.server.BaseHTTPRequestHandler):
    tab = None

    def do_POST(self):  # noqa: N802, the name is that of http.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        method = self.path[1:]
        result = self.tab.drain() if method == "events" else self.tab.call(method, json.loads(body or b"{}"))
        text = json.dumps(result).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def main(folder):
    end_with_parent()
    os.makedirs(folder, exist_ok=True)
    browser = start_chromium(folder)
    Bridge.tab = Tab(tab_of(folder, browser))
    server = http.server.HTTPServer(("127.0.0.1", 0), Bridge)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
