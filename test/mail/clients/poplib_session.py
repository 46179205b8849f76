"""A POP3 session by Python's poplib. Input and output: JSON."""
import hashlib
import json
import poplib
import ssl
import sys

given = json.load(sys.stdin)
context = ssl.create_default_context(cafile=given["caFile"])
if given["starttls"]:
    pop = poplib.POP3("localhost", given["port"], timeout=30)
    before = sorted(pop.capa())
    pop.stls(context)
else:
    pop = poplib.POP3_SSL("localhost", given["port"], context=context, timeout=30)
    before = []
capabilities = sorted(pop.capa())
pop.utf8()
pop.user(given["address"])
pop.pass_(given["token"])
count, size = pop.stat()
sizes = [int(line.split()[1]) for line in pop.list()[1]]
ids = [line.split()[1].decode() for line in pop.uidl()[1]]
messages = [b"".join(line + b"\r\n" for line in pop.retr(number + 1)[1]) for number in range(count)]
tops = [len(pop.top(number + 1, 0)[1]) for number in range(count)]
for number in given["delete"]:
    pop.dele(number)
pop.noop()
pop.quit()
json.dump(
    {
        "before": before,
        "capabilities": capabilities,
        "count": count,
        "size": size,
        "sizes": sizes,
        "ids": ids,
        "lengths": [len(message) for message in messages],
        "hashes": [hashlib.sha256(message).hexdigest() for message in messages],
        "tops": tops,
    },
    sys.stdout,
)
