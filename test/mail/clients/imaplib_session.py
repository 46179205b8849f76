"""An IMAP session by Python's imaplib. Input and output: JSON."""
import hashlib
import imaplib
import json
import ssl
import sys

given = json.load(sys.stdin)
context = ssl.create_default_context(cafile=given["caFile"])
if given["starttls"]:
    imap = imaplib.IMAP4("localhost", given["port"], timeout=30)
    assert "LOGINDISABLED" in imap.capabilities and "AUTH=PLAIN" not in imap.capabilities
    imap.starttls(context)
else:
    imap = imaplib.IMAP4_SSL("localhost", given["port"], ssl_context=context, timeout=30)
capabilities = imap.capabilities
try:
    imap.login(given["address"], "wrong")
    raise SystemExit("a wrong token was taken")
except imaplib.IMAP4.error:
    pass
imap.authenticate("PLAIN", lambda _: f"\0{given['address']}\0{given['token']}".encode())


def ok(answer):
    assert answer[0] == "OK", answer
    return answer[1]


folders = [line.decode() for line in ok(imap.list())]
count = int(ok(imap.select("INBOX"))[0])
bodies = [ok(imap.fetch(str(number + 1), "(BODY.PEEK[])"))[0][1] for number in range(count)]
sizes = [ok(imap.fetch(str(number + 1), "(RFC822.SIZE)"))[0].decode() for number in range(count)]
found = ok(imap.uid("SEARCH", None, "SUBJECT", '"Two"'))[0].decode()
ok(imap.store("1", "+FLAGS", "(\\Flagged $Label1)"))
flags = ok(imap.fetch("1", "(FLAGS)"))[0].decode()
ok(imap.create('"Projects/One"'))
ok(imap.copy("1", '"Projects/One"'))
appended = ok(imap.append('"Projects/One"', "(\\Seen)", '"21-Nov-2026 10:00:00 +0100"', given["append"].encode()))
ok(imap.store("2", "+FLAGS", "\\Deleted"))
expunged = [int(number) for number in ok(imap.expunge())]
ok(imap.select('"Projects/One"', readonly=True))
headers = ok(imap.fetch("1:*", "(BODY.PEEK[HEADER.FIELDS (SUBJECT)])"))
subjects = [part[1].decode().strip() for part in headers if isinstance(part, tuple)]
status = ok(imap.status("INBOX", "(MESSAGES UIDNEXT UIDVALIDITY UNSEEN)"))[0].decode()
ok(imap.close())
imap.logout()
json.dump(
    {
        "capabilities": capabilities,
        "folders": folders,
        "hashes": [hashlib.sha256(body).hexdigest() for body in bodies],
        "lengths": [len(body) for body in bodies],
        "sizes": sizes,
        "found": found,
        "flags": flags,
        "expunged": expunged,
        "appended": appended[0].decode(),
        "subjects": subjects,
        "status": status,
    },
    sys.stdout,
)
