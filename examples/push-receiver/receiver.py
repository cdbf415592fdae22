"""A receiver of pushes in Python, with its standard library alone.

Usage: PUSH_SECRET=whsec_... python3 receiver.py [port]
"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LONGEST_BODY = 4 * 1024 * 1024
TOLERANCE_S = 300


def is_genuine(headers, body, secret):
    """Whether the body was signed with the secret within the last five minutes."""
    try:
        if abs(time.time() - int(headers["webhook-timestamp"])) > TOLERANCE_S:
            return False
        signed = "{}.{}.".format(headers["webhook-id"], headers["webhook-timestamp"]).encode() + body
        key = base64.b64decode(secret.removeprefix("whsec_"))
        expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        given = headers["webhook-signature"].split(" ")
    except (AttributeError, OverflowError, TypeError, ValueError):
        return False
    return any(hmac.compare_digest(expected.encode(), one.encode()) for one in given)


class Receiver(BaseHTTPRequestHandler):
    kept = set()

    def do_POST(self):
        self.send_response(self.receive())
        self.send_header("content-length", "0")
        self.end_headers()

    def receive(self):
        # The sender is not verified yet, and read(-1) would read without a limit.
        length = self.headers.get("content-length") or "0"
        if not re.fullmatch("[0-9]{1,20}", length):
            return 400
        if int(length) > LONGEST_BODY:
            return 413
        body = self.rfile.read(int(length))
        if not is_genuine(self.headers, body, os.environ["PUSH_SECRET"]):
            return 401
        delivery = json.loads(body)
        if delivery["event_id"] not in self.kept:
            # Store the delivery before responding: after a 2xx it does not come again.
            self.kept.add(delivery["event_id"])
            print("received {event_id}, attempt {attempt_count}".format(**delivery), flush=True)
        return 204

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9000), Receiver)
    print("listening on {}".format(server.server_port), flush=True)
    server.serve_forever()
