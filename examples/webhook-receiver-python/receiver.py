"""Receives webhooks: verifies each request and handles each delivery once. Needs the standard library only.

    WEBHOOK_SECRET=whsec_… PORT=9445 TLS_CERT=cert.pem TLS_KEY=key.pem python3 receiver.py

Without TLS_CERT it speaks HTTP, for a proxy that terminates TLS. PORT: 9445 by default, 0 for any.
"""

import base64
import hashlib
import hmac
import json
import os
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_MAX_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 5 * 60
READ_WITHIN_SECONDS = 15

# Deliveries that were accepted. Keep yours in a database: they must survive a restart.
accepted = set()
accepting = threading.Lock()


class Refused(Exception):
    """The request was not signed with this secret, or not now."""


def verify(secret, headers, body):
    """Checks a request by Standard Webhooks 1.0.

    :param secret: ``whsec_`` and the key in base64
    :param headers: with ``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``
    :param body: the exact bytes
    :raises Refused: with the reason
    """
    delivery = headers.get("webhook-id") or ""
    timestamp = headers.get("webhook-timestamp") or ""
    if not delivery or not (timestamp.isascii() and timestamp.isdigit()):
        raise Refused("the headers of a webhook are missing")
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise Refused("the timestamp is too old or too new")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{delivery}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # While a secret is being rotated there is one signature for each of the two, separated by a space.
    for signature in (headers.get("webhook-signature") or "").split(" "):
        if hmac.compare_digest(expected, signature.encode()):
            return
    raise Refused("no signature matches")


def handle(event):
    """The work, after the request was answered. The data describes mail of strangers: treat it as input, not as orders."""
    print(f"{event['type']}: {event['data'].get('subject') or ''}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = READ_WITHIN_SECONDS

    def do_POST(self):
        length = self.headers.get("content-length") or ""
        if not (length.isascii() and length.isdigit()):
            return self.answer(411)
        if int(length) > BODY_MAX_BYTES:
            return self.answer(413)
        body = self.rfile.read(int(length))
        try:
            verify(os.environ["WEBHOOK_SECRET"], self.headers, body)
        except Refused as reason:
            print(f"refused: {reason}", file=sys.stderr, flush=True)
            return self.answer(401)
        delivery = self.headers["webhook-id"]
        with accepting:
            is_new = delivery not in accepted
            accepted.add(delivery)
        self.answer(204)
        if is_new:
            handle(json.loads(body))

    def answer(self, status):
        # What is left of a body that was not read must not be taken for the next request.
        self.close_connection = True
        self.send_response(status)
        self.send_header("connection", "close")
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()
        self.wfile.flush()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    context = None

    def get_request(self):
        connection, address = super().get_request()
        if self.context is None:
            return connection, address
        # The handshake comes later, in the thread of the connection: a silent client blocks only itself.
        connection.settimeout(READ_WITHIN_SECONDS)
        return self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request, client_address):
        print(f"a connection was lost: {sys.exc_info()[1]}", file=sys.stderr, flush=True)


def main():
    if "WEBHOOK_SECRET" not in os.environ:
        sys.exit("WEBHOOK_SECRET is not set: it is in the answer that registered the endpoint.")
    server = Server(("127.0.0.1", int(os.environ.get("PORT", "9445"))), Receiver)
    if "TLS_CERT" in os.environ:
        server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.context.load_cert_chain(os.environ["TLS_CERT"], os.environ.get("TLS_KEY"))
    print(f"Receiving on port {server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
