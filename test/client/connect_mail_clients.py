"""Connects as the printed settings say: standard input is JSON {settings: the text, caFile}. Writes JSON."""

import imaplib
import json
import poplib
import re
import smtplib
import ssl
import sys
from email.message import EmailMessage

given = json.load(sys.stdin)
lines = given["settings"].split("\n")
listeners = {}
for line in lines:
    found = re.fullmatch(r"(IMAP|POP3|SMTP)\s+(\S+)\s+port (\d+)\s+(SSL/TLS|STARTTLS)", line)
    if found:
        listeners[found[1]] = (found[2], int(found[3]), found[4])
username = re.search(r"^Username\s+(\S+)$", given["settings"], re.M)[1]
password = re.search(r"^Password\s+(\S+)$", given["settings"], re.M)[1]
tls = ssl.create_default_context(cafile=given["caFile"])


def opened(name, direct, plain):
    host, port, security = listeners[name]
    if security == "SSL/TLS":
        return direct(host, port)
    session = plain(host, port)
    session.starttls(context=tls) if name != "POP3" else session.stls(tls)
    return session


smtp = opened("SMTP", lambda h, p: smtplib.SMTP_SSL(h, p, context=tls), smtplib.SMTP)
smtp.login(username, password)
message = EmailMessage()
message["From"] = username
message["To"] = username
message["Subject"] = "From the printed settings"
message.set_content("Sent by smtplib.")
smtp.send_message(message)
smtp.quit()

imap = opened("IMAP", lambda h, p: imaplib.IMAP4_SSL(h, p, ssl_context=tls), imaplib.IMAP4)
imap.login(username, password)
imap.select("INBOX", readonly=True)
_, numbers = imap.search(None, "SUBJECT", '"From the printed settings"')
imap.logout()

pop3 = opened("POP3", lambda h, p: poplib.POP3_SSL(h, p, context=tls), poplib.POP3)
pop3.user(username)
pop3.pass_(password)
count, _ = pop3.stat()
pop3.quit()

json.dump({"foundByImap": len(numbers[0].split()), "countedByPop3": count}, sys.stdout)
