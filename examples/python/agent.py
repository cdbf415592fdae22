"""An agent in Python, with its standard library alone.

Usage: python3 agent.py <address of the service> <org-admin key>
"""

import json
import sys
import urllib.error
import urllib.request
import uuid


class Sensorium:
    def __init__(self, url, api_key):
        self.url, self.api_key, self.token = url, api_key, None

    def call(self, method, path, body=None, idempotency_key=None):
        # One key for all attempts: a POST that is sent again is carried out once.
        key = idempotency_key or str(uuid.uuid4())
        try:
            return self.send(method, path, body, key, self.token or self.exchange())
        except urllib.error.HTTPError as error:
            if error.code != 401:
                raise
        # The token has expired. If the key was revoked, its exchange raises 401.
        return self.send(method, path, body, key, self.exchange())

    def exchange(self):
        self.token = self.send("POST", "/auth/token", {"api_key": self.api_key})["access_token"]
        return self.token

    def send(self, method, path, body=None, key=None, token=None):
        headers = {"content-type": "application/json", "prefer": "handling=strict"}
        if token:
            headers["authorization"] = "Bearer " + token
        if key and method in ("POST", "PATCH"):
            headers["idempotency-key"] = key
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + "/v1" + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read()
            return json.loads(text) if text else None


def main(url, admin_key):
    admin = Sensorium(url, admin_key)
    me = admin.call("POST", "/agents", {"name": "Python", "delivery_mode": "poll", "client_type": "other"})
    scopes = ["send", "receive", "interests:write", "memory:read", "memory:write"]
    key = admin.call("POST", "/agents/%s/keys" % me["id"], {"scopes": scopes})["key"]
    agent = Sensorium(url, key)

    interest = {
        "event_type": "com.shop.order.*",
        "filter_expression": "data.total > 100",
        "priority": 0,
        "enrichment_depth": "none",
    }
    agent.call("POST", "/agents/%s/interests" % me["id"], interest)

    run = uuid.uuid4().hex[:8]
    for total in (40, 240):
        event = {
            "specversion": "1.0",
            "type": "com.shop.order.created",
            "source": "/shop",
            "id": "order-%s-%d" % (run, total),
            "data": {"total": total},
        }
        agent.call("POST", "/events", event)

    handled = []
    while not handled:
        for delivery in agent.call("GET", "/delivery/poll?wait=20")["deliveries"]:
            event = delivery["payload"]
            agent.call(
                "POST",
                "/memories",
                {
                    "type": "episodic",
                    "scope": "agent",
                    "title": "A large order",
                    "content": "It was over %d." % event["data"]["total"],
                    "source_event_id": event["id"],
                },
            )
            agent.call("POST", "/delivery/ack", {"delivery_ids": [delivery["id"]]})
            handled.append(event["data"]["total"])

    found = agent.call("POST", "/memories/search", {"query": "which orders were big?"})["results"]
    assert handled == [240], handled
    assert found[0]["memory"]["title"] == "A large order", found
    print("handled", handled, "and remembered", found[0]["memory"]["title"])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Usage: python3 agent.py <address of the service> <org-admin key>")
    main(sys.argv[1], sys.argv[2])
