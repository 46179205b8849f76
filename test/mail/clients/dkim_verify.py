"""Verifies a DKIM signature with dkimpy. In: base64 of the message, TXT records by name. Out: whether it holds."""

import base64
import json
import sys

import dkim

task = json.load(sys.stdin)
records = task["records"]


def look_up(name, timeout=5):
    return records.get(name.decode().rstrip("."), "").encode()


message = base64.b64decode(task["message"])
json.dump({"verified": dkim.verify(message, dnsfunc=look_up)}, sys.stdout)
