"""Mail sent by Python's smtplib over STARTTLS. Input and output: JSON."""
import email.message
import json
import smtplib
import ssl
import sys

given = json.load(sys.stdin)
context = ssl.create_default_context(cafile=given["caFile"])
message = email.message.EmailMessage()
message["From"] = "Ada <ada@example.org>"
message["To"] = ", ".join(given["to"])
message["Subject"] = "Grüße von smtplib"
message.set_content("Ein Text mit Umlauten: äöü\n.und ein Punkt\n")
message.add_attachment(b"\x00\x01 bytes", maintype="application", subtype="octet-stream", filename="b.bin")
with smtplib.SMTP("localhost", given["port"], timeout=30) as smtp:
    smtp.ehlo()
    smtp.starttls(context=context)
    smtp.ehlo()
    features = sorted(smtp.esmtp_features)
    refused = smtp.send_message(message, "ada@example.org", given["to"])
json.dump({"features": features, "refused": {who: code for who, (code, _) in refused.items()}}, sys.stdout)
