"""Submission by Python's smtplib, over STARTTLS or TLS. Input and output: JSON. A refusal is returned as its code and text."""
import email.message
import json
import smtplib
import ssl
import sys

given = json.load(sys.stdin)
context = ssl.create_default_context(cafile=given["caFile"])


def connect():
    if not given["starttls"]:
        return smtplib.SMTP_SSL("localhost", given["port"], context=context, timeout=60)
    smtp = smtplib.SMTP("localhost", given["port"], timeout=60)
    smtp.ehlo()
    assert not smtp.has_extn("auth"), "AUTH is offered in clear"
    smtp.starttls(context=context)
    return smtp


def refusal_of(action):
    try:
        action()
    except smtplib.SMTPResponseException as refused:
        return [refused.smtp_code, refused.smtp_error.decode()]
    return None


def letter(subject, body="Some words.\n.a dot\n"):
    message = email.message.EmailMessage()
    message["From"] = f"Agent <{given['address']}>"
    message["To"] = given["to"]
    message["Subject"] = subject
    message.set_content(body)
    return message


def sent(token, message, to):
    with connect() as smtp:
        smtp.login(given["address"], token)
        smtp.send_message(message, given["address"], [to])


def without_size():
    """Says nothing of the size before DATA."""
    with connect() as smtp:
        smtp.login(given["address"], given["token"])
        smtp.mail(given["address"])
        smtp.rcpt(given["to"])
        code, text = smtp.data(b"Subject: large\r\n\r\n" + (b"x" * 76 + b"\r\n") * (given["tooLargeBytes"] // 78 + 1))
        if code >= 400:
            raise smtplib.SMTPResponseException(code, text)


def held():
    with connect() as smtp:
        smtp.login(given["address"], given["token"])
        smtp.mail(given["address"])
        smtp.rcpt("stranger@example.org")
        code, text = smtp.data(letter("To a stranger").as_bytes())
        return [code, text.decode()]


with connect() as smtp:
    smtp.ehlo()
    features = {name: smtp.esmtp_features[name] for name in smtp.esmtp_features}

json.dump(
    {
        "features": features,
        "wrongToken": refusal_of(lambda: sent("wrong", letter("never"), given["to"])),
        "tooLargeByItsSize": refusal_of(
            lambda: sent(given["token"], letter("large", ("x" * 76 + "\n") * (given["tooLargeBytes"] // 77 + 1)), given["to"])
        ),
        "tooLargeInDATA": refusal_of(without_size),
        "sent": refusal_of(lambda: sent(given["token"], letter("by smtplib"), given["to"])),
        "held": held(),
    },
    sys.stdout,
)
