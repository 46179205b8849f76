"""Against a running service, with both clients. Started by the tests of the project, which give its addresses."""

from __future__ import annotations

import asyncio
import json
import os
import smtplib
import tempfile
import threading
import unittest
from contextlib import closing
from datetime import datetime, timezone
from email.message import EmailMessage
from pathlib import Path

from agent_mailbox import (
    AsyncMailboxClient,
    AsyncOrganizationClient,
    AuthenticationError,
    BadRequestError,
    MailboxClient,
    NotFoundError,
    OrganizationClient,
    PermissionDeniedError,
    sign_webhook,
    verify_webhook,
)
from agent_mailbox.models import HeldMessage, StreamEventsMessagesAdded

URL = os.environ["MAILBOX_URL"]
KEY = os.environ["API_KEY"]
SESSION = os.environ["SESSION"]
SMTP_HOST, _, SMTP_PORT = os.environ["SMTP"].rpartition(":")
SIZE = 3_000_000


def deliver(to: str, subject: str, text: str = "Hello.") -> None:
    """As another mail server would."""
    letter = EmailMessage()
    letter["From"] = "Ada <ada@example.org>"
    letter["To"] = to
    letter["Subject"] = subject
    letter.set_content(text)
    letter.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="täble.csv")
    with smtplib.SMTP(SMTP_HOST, int(SMTP_PORT), timeout=60) as server:
        server.sendmail("ada@example.org", [to], letter.as_bytes())


class Synchronous(unittest.TestCase):
    def test_a_code_is_read_and_answered_with_files_and_a_person_approves(self) -> None:
        with OrganizationClient(URL, api_key=KEY) as service:
            created = service.mailboxes.create(purpose="tests")
            deliver(created.address, "Your code", "Your verification code is 482913.")
            # Its own token, as an agent has it.
            with MailboxClient(URL, token=created.token) as mailbox:
                arrived = mailbox.wait_for_messages(since=created.created_at, extract="otp").data
                self.assertEqual([(each.subject, each.otp) for each in arrived], [("Your code", "482913")])
                letter = mailbox.get_message(arrived[0].id)
                download = mailbox.get_attachment(letter.id, letter.attachments[0].id)
                self.assertEqual((download.content, download.filename), (b"a,b\n1,2\n", "täble.csv"))
                self.assertIn("1,2", mailbox.get_attachment_text(letter.id, letter.attachments[0].id).text)
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder) / "report.pdf"
                    file.write_bytes(b"%PDF-1.7" + b" " * SIZE)
                    sent = mailbox.reply(letter.id, text="See there.", attachments=[mailbox.files.attach(file)])
                assert isinstance(sent, HeldMessage), sent
                self.assertEqual(mailbox.list_outbox().page().data[0].id, sent.id)
            with OrganizationClient(URL, session=SESSION) as person:
                held = person.consents.message(sent.consent_id)
                self.assertEqual([(each.filename, each.size_bytes) for each in held.attachments], [("report.pdf", SIZE + 8)])
                decided = person.consents.approve(sent.consent_id, scope="message")
                self.assertEqual(decided.status, "approved")
            outcome = service.mailbox(created.id).wait_for_messages(consent_id=sent.consent_id)
            assert outcome.consent is not None
            self.assertEqual(outcome.consent.decision.outcome, "approved")

    def test_a_list_goes_on_over_its_pages(self) -> None:
        with OrganizationClient(URL, api_key=KEY) as service:
            made = {service.mailboxes.create(client_id=f"list-{number}", metadata={"kind": "list"}).id for number in range(3)}
            found = {mailbox.id for mailbox in service.mailboxes.list(limit=1)}
            self.assertLessEqual(made, found)
            self.assertEqual(len(service.mailboxes.list(limit=2).page().data), 2)
            changed = service.mailboxes.update(next(iter(made)), purpose="a", metadata={})
            self.assertEqual((changed.purpose, changed.metadata), ("a", {}))
            self.assertIsNone(service.mailboxes.update(changed.id, purpose=None).purpose)

    def test_a_call_with_the_same_key_does_it_once(self) -> None:
        with OrganizationClient(URL, api_key=KEY) as service:
            key = os.urandom(12).hex()
            twice = [service.mailboxes.create(idempotency_key=key).id for _ in range(2)]
            self.assertEqual(len(set(twice)), 1)

    def test_errors_say_what_is_wrong(self) -> None:
        with OrganizationClient(URL, api_key=KEY) as service:
            with self.assertRaises(NotFoundError) as missing:
                service.mailboxes.get("mbx_01k8e8f2c0e4x9w2v7a3r5t6y8")
            self.assertEqual(missing.exception.status, 404)
            self.assertTrue(missing.exception.request_id)
            with self.assertRaises(BadRequestError) as wrong:
                service.mailboxes.create(local_part="not valid!")
            self.assertEqual(wrong.exception.details[0].path, "/localPart")
            with self.assertRaises(PermissionDeniedError):
                service.keys.list().page()
        with MailboxClient(URL, token="amt_wrong") as stranger, self.assertRaises(AuthenticationError):
            stranger.mailbox()

    def test_events_are_followed_and_continued(self) -> None:
        with OrganizationClient(URL, api_key=KEY) as service:
            created = service.mailboxes.create()
            mailbox = service.mailbox(created.id)
            deliver(created.address, "before")
            # A cursor of the past: what happened since is not missed.
            with closing(mailbox.events(last_event_id="0")) as past:
                before = next(event for event in past if event.id is not None)
            threading.Thread(target=deliver, args=(created.address, "after")).start()
            with closing(mailbox.events(last_event_id=before.id)) as events:
                added = next(event for event in events if isinstance(event, StreamEventsMessagesAdded))
            self.assertTrue(added.data.messages)

    def test_each_event_of_the_documentation_is_one_of_the_union(self) -> None:
        secret = "whsec_" + "a2V5" * 8
        with OrganizationClient(URL, api_key=KEY) as service:
            types = list(service.webhooks.event_types())
        self.assertIn("email_received", {each.type for each in types})
        for each in types:
            body = json.dumps(each.example)
            self.assertEqual(verify_webhook(sign_webhook("dlv_1", body, secret), body, secret).type, each.type)


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_a_code_is_read_and_answered_with_a_file(self) -> None:
        async with AsyncOrganizationClient(URL, api_key=KEY) as service:
            created = await service.mailboxes.create()
            async with AsyncMailboxClient(URL, token=created.token) as mailbox:
                begun = datetime.now(timezone.utc)
                waiting = asyncio.create_task(mailbox.wait_for_messages(since=begun, extract="otp"))
                await asyncio.to_thread(deliver, created.address, "Your code", "Your verification code is 771204.")
                arrived = (await waiting).data
                self.assertEqual(arrived[0].otp, "771204")
                attached = await mailbox.files.attach(b"%PDF-1.7" + b" " * SIZE, filename="report.pdf")
                sent = await mailbox.reply(arrived[0].id, text="See there.", attachments=[attached])
                assert isinstance(sent, HeldMessage), sent
                files = [file.size_bytes async for file in mailbox.files.list()]
                self.assertEqual(files, [SIZE + 8])
                self.assertEqual((await mailbox.list_outbox().page()).data[0].consent_id, sent.consent_id)

    async def test_many_requests_share_a_client_and_a_stream_is_followed_meanwhile(self) -> None:
        async with AsyncOrganizationClient(URL, api_key=KEY) as service:
            created = await service.mailboxes.create()
            mailbox = service.mailbox(created.id)
            events = mailbox.events(last_event_id="0")

            async def first_added() -> StreamEventsMessagesAdded:
                async for event in events:
                    if isinstance(event, StreamEventsMessagesAdded):
                        return event
                raise AssertionError("the stream ended")

            following = asyncio.create_task(first_added())
            await asyncio.to_thread(deliver, created.address, "hello")
            folders = await asyncio.gather(*(mailbox.list_folders() for _ in range(8)))
            self.assertEqual(len(folders), 8)
            self.assertTrue((await following).data.messages)
            await events.aclose()

    async def test_errors_are_the_same(self) -> None:
        async with AsyncOrganizationClient(URL, api_key=KEY) as service:
            with self.assertRaises(NotFoundError):
                await service.mailboxes.get("mbx_01k8e8f2c0e4x9w2v7a3r5t6y8")


if __name__ == "__main__":
    unittest.main()
