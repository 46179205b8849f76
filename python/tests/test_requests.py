"""Requests, answers, errors and repetitions, against answers that are made here."""

from __future__ import annotations

import json
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx

from agent_mailbox import (
    ApiError,
    AuthenticationError,
    ConflictError,
    ConnectionFailedError,
    InvalidClientError,
    MailboxClient,
    NotFoundError,
    RateLimitError,
    RequestTimeoutError,
    ServiceError,
    attachment,
    models,
)

from .in_both_ways import BothWays, Recorder, done

WAITED = {"data": [], "after": "msg_1", "timedOut": True, "hint": "Nothing came.", "consent": None}
FOLDERS: dict[str, Any] = {"data": []}


def refusal(status: int, code: str, retry_after: str | None = None, **more: Any) -> httpx.Response:
    error = {"code": code, "message": "No.", "fix": "Do this.", "docs": "/docs", "requestId": "req_1", "details": []}
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return httpx.Response(status, headers=headers, json={"error": {**error, **more}})


def held() -> httpx.Response:
    letter = {"id": "msg_1", "status": "consent_pending", "consentId": "con_1", "message": "Held.", "from": "a@b.c"}
    lists: dict[str, Any] = {"to": [], "cc": [], "bcc": [], "omitted": []}
    return httpx.Response(202, json={**letter, **lists, "subject": "s", "messageId": "<1@x>", "sendAt": None, "repeated": False})


class Requests(BothWays):
    def test_omitted_arguments_are_not_sent_and_none_is_null(self) -> None:
        recorder = Recorder(refusal(409, "conflict"))
        mailbox = self.mailbox(recorder)
        with self.assertRaises(ConflictError):
            done(mailbox.update_draft("dra_1", subject="s", html=None))
        self.assertEqual(json.loads(recorder.asked[0].content), {"subject": "s", "html": None})

    def test_times_of_a_zone_and_names_of_python_become_those_of_the_api(self) -> None:
        recorder = Recorder(httpx.Response(200, json=WAITED))
        zone = timezone(timedelta(hours=2))
        since = datetime(2026, 1, 2, 3, 4, 5, tzinfo=zone)
        done(self.mailbox(recorder).wait_for_messages(from_="a+b@c", since=since, unread=True, timeout_seconds=1))
        query = dict(recorder.asked[0].url.params)
        expected = {"from": "a+b@c", "since": "2026-01-02T01:04:05Z", "unread": "true", "timeoutSeconds": "1"}
        self.assertEqual(query, expected)

    def test_a_key_asks_for_the_same_mail_at_the_mailbox(self) -> None:
        recorder = Recorder(httpx.Response(200, json=FOLDERS))
        done(self.service(recorder).mailbox("mbx/1").list_folders())
        self.assertEqual(recorder.asked[0].url.raw_path, b"/api/mailboxes/mbx%2F1/folders")
        self.assertEqual(recorder.asked[0].headers["x-organization-key"], "amk_x")

    def test_an_attachment_has_only_the_fields_that_were_set(self) -> None:
        recorder = Recorder(held())
        small = attachment("a.pdf", b"%PDF")
        answer = done(self.mailbox(recorder).send_message(to=["a@b.c"], subject="s", attachments=[small]))
        self.assertIsInstance(answer, models.HeldMessage)
        sent = json.loads(recorder.asked[0].content)["attachments"]
        expected = {"filename": "a.pdf", "contentType": "application/pdf", "contentBase64": "JVBERg=="}
        self.assertEqual(sent, [expected])

    def test_a_message_that_was_sent_before_is_another_answer(self) -> None:
        known = {"id": "msg_1", "status": "sent", "repeated": True, "consentId": None, "message": "Submitted before."}
        recorder = Recorder(httpx.Response(200, json=known))
        answer = done(self.mailbox(recorder).send_message(to="a@b.c", subject="s", client_id="mine"))
        self.assertIsInstance(answer, models.RepeatedMessage)
        self.assertEqual(json.loads(recorder.asked[0].content), {"to": "a@b.c", "subject": "s", "clientId": "mine"})

    def test_a_file_is_streamed_and_sent_again_from_its_beginning(self) -> None:
        uploaded = {"id": "fil_1", "filename": "a.bin", "contentType": "x/y", "sizeBytes": 3}
        times = {"createdAt": "2026-01-01T00:00:00.000Z", "expiresAt": "2026-01-02T00:00:00.000Z"}
        recorder = Recorder(refusal(503, "unavailable"), httpx.Response(201, json={**uploaded, **times}))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "ü.bin"
            file.write_bytes(b"x" * 200_000)
            attached = done(self.mailbox(recorder).files.attach(file))
        self.assertEqual(attached.file_id, "fil_1")
        self.assertEqual([len(each.content) for each in recorder.asked], [200_000, 200_000])
        first, second = recorder.asked
        self.assertEqual(first.headers["content-length"], "200000")
        self.assertEqual(first.url.params["filename"], "ü.bin")
        self.assertEqual(first.headers["idempotency-key"], second.headers["idempotency-key"])

    def test_a_stream_that_breaks_before_its_first_event_continues_after_the_id_that_it_began_with(self) -> None:
        begun = httpx.Response(200, text="retry: 2000\nid: 41\n: watching\n\n")
        ended = httpx.Response(200, text='event: closed\ndata: {"code":"not_found","message":"Gone."}\n\n')
        recorder = Recorder(begun, ended)
        self.assertEqual([event.name for event in done(self.mailbox(recorder).events())], ["closed"])
        self.assertEqual([each.headers.get("last-event-id") for each in recorder.asked], [None, "41"])

    def test_a_list_is_all_of_its_pages(self) -> None:
        def page(identity: str, cursor: str | None) -> httpx.Response:
            entry = {"id": identity, "address": "a@b.c", "reason": "hard_bounce", "createdAt": "2026-01-01T00:00:00Z"}
            return httpx.Response(200, json={"data": [{**entry, "messageId": None}], "nextCursor": cursor})

        recorder = Recorder(page("sup_1", "two"), page("sup_2", None))
        found = done(self.service(recorder).suppressions.list(limit=1))
        self.assertEqual([each.id for each in found], ["sup_1", "sup_2"])
        self.assertEqual([dict(each.url.params) for each in recorder.asked], [{"limit": "1"}, {"limit": "1", "cursor": "two"}])


    def test_a_page_has_what_a_model_reads_of_it(self) -> None:
        answer: dict[str, object] = {"data": [], "nextCursor": None, "modelText": "Mail follows."}
        for listed in ("list_messages", "list_threads"):
            recorder = Recorder(httpx.Response(200, json=answer))
            page = done(getattr(self.mailbox(recorder), listed)(format="model").page())
            self.assertEqual(page.model_text, "Mail follows.")
            self.assertEqual(recorder.asked[0].url.params["format"], "model")
        recorder = Recorder(httpx.Response(200, json=WAITED | {"modelText": "Mail follows."}))
        self.assertEqual(done(self.mailbox(recorder).wait_for_messages(format="model")).model_text, "Mail follows.")


class Answers(BothWays):
    def test_what_a_newer_service_answers_is_no_error(self) -> None:
        body = {"id": "con_1", "consentId": "con_1", "unknown": True}
        recorder = Recorder(httpx.Response(200, json={**WAITED, **body}))
        self.assertTrue(done(self.mailbox(recorder).wait_for_messages()).timed_out)
        entry = {"id": "sup_1", "address": "a@b.c", "reason": "brand_new", "createdAt": "2026-01-01T00:00:00Z"}
        listed = {"data": [{**entry, "messageId": None}], "nextCursor": None}
        found = done(self.service(Recorder(httpx.Response(200, json=listed))).suppressions.list())
        self.assertEqual(found[0].reason, "brand_new")

    def test_another_answer_is_an_error_that_names_the_request(self) -> None:
        for body in ({"data": 1}, "text"):
            with self.assertRaises(ApiError) as caught:
                done(self.mailbox(Recorder(httpx.Response(200, json=body))).list_folders())
            self.assertEqual(caught.exception.code, "unexpected_answer")
            self.assertEqual(caught.exception.request, "GET http://service.invalid/api/mailbox/folders")


class Errors(BothWays):
    def test_each_says_what_the_service_said(self) -> None:
        details = [{"path": "/to/0", "message": "is no address"}]
        with self.assertRaises(NotFoundError) as caught:
            done(self.mailbox(Recorder(refusal(404, "not_found", details=details))).get_thread("thr_1"))
        error = caught.exception
        self.assertEqual((error.code, error.status, error.request_id, error.fix), ("not_found", 404, "req_1", "Do this."))
        self.assertEqual((error.details[0].path, error.request), ("/to/0", "GET http://service.invalid/api/mailbox/threads/thr_1"))
        self.assertIn("is no address", str(error))
        self.assertEqual((error.sentence, error.message), ("No.", "No. (/to/0 is no address)"))
        self.assertEqual(str(error).count("/to/0"), 1)

    def test_its_class_is_that_of_the_status(self) -> None:
        kinds = {401: AuthenticationError, 409: ConflictError, 500: ServiceError, 302: ApiError}
        for status, kind in kinds.items():
            with self.assertRaises(ApiError) as caught:
                done(self.mailbox(Recorder(refusal(status, "x"))).list_folders())
            self.assertIs(type(caught.exception), kind)

    def test_a_proxy_is_described_by_its_status(self) -> None:
        answer = httpx.Response(502, text="<html>", headers={"x-request-id": "req_p"})
        with self.assertRaises(ServiceError) as caught:
            done(self.mailbox(Recorder(answer)).list_folders())
        self.assertEqual((caught.exception.code, caught.exception.request_id), ("unexpected_answer", "req_p"))

    def test_a_wrong_address_or_credential_never_reaches_the_network(self) -> None:
        for url in ("ftp://x", "127.0.0.1:8080", "http://user:password@x", "http://"):
            with self.assertRaises(InvalidClientError) as caught:
                MailboxClient(url, token="amt_x")
            self.assertEqual(caught.exception.code, "invalid_url")
            self.assertNotIn("password@", str(caught.exception.fix))
        wrong: tuple[dict[str, Any], ...] = ({"token": "a\nb"}, {}, {"token": "a", "api_key": "b"})
        for credential in wrong:
            with self.assertRaises(InvalidClientError) as caught:
                MailboxClient("http://x", **credential)
            self.assertEqual(caught.exception.code, "invalid_credential")


class Repetitions(BothWays):
    def calls(self, recorder: Recorder, expected: type[Exception] | None, work: Any, **options: Any) -> int:
        mailbox = self.mailbox(recorder, **options)
        if expected is None:
            done(work(mailbox))
        else:
            with self.assertRaises(expected):
                done(work(mailbox))
        return len(recorder.asked)

    def test_a_post_is_repeated_with_one_key(self) -> None:
        lost = httpx.ReadError("lost")
        for first in (lost, refusal(503, "unavailable"), refusal(409, "idempotency_conflict", "0")):
            recorder = Recorder(first, held())
            self.assertEqual(self.calls(recorder, None, lambda box: box.send_message(to=["a@b.c"], subject="s")), 2)
            keys = {each.headers["idempotency-key"] for each in recorder.asked}
            self.assertEqual(len(keys), 1)

    def test_a_key_of_the_caller_is_kept(self) -> None:
        recorder = Recorder(held())
        done(self.mailbox(recorder).send_message(subject="s", idempotency_key="mine"))
        self.assertEqual(recorder.asked[0].headers["idempotency-key"], "mine")

    def test_what_could_do_more_a_second_time_is_not_repeated(self) -> None:
        lost = httpx.ReadError("lost")
        for work in (
            lambda box: box.delete_message("msg_1"),
            lambda box: box.withdraw("msg_1"),
            lambda box: box.files.delete("fil_1"),
            lambda box: box.wait_for_messages(),
        ):
            self.assertEqual(self.calls(Recorder(lost), ConnectionFailedError, work), 1)
        after = lambda box: box.wait_for_messages(after="msg_1")  # noqa: E731
        self.assertEqual(self.calls(Recorder(lost, httpx.Response(200, json=WAITED)), None, after), 2)

    def test_a_refusal_for_load_is_repeated_after_its_time(self) -> None:
        limited = refusal(429, "rate_limited", "0")
        done_at_last = Recorder(limited, httpx.Response(204))
        self.assertEqual(self.calls(done_at_last, None, lambda box: box.delete_message("msg_1")), 2)
        late = Recorder(refusal(429, "rate_limited", "3600"))
        self.assertEqual(self.calls(late, RateLimitError, lambda box: box.list_folders()), 1)

    def test_it_ends_after_all_attempts_and_other_errors_at_once(self) -> None:
        slow = Recorder(httpx.ReadTimeout("slow"))
        self.assertEqual(self.calls(slow, RequestTimeoutError, lambda box: box.list_folders(), attempts=2), 2)
        for status, code in ((500, "internal"), (400, "invalid_request"), (409, "conflict")):
            self.assertEqual(self.calls(Recorder(refusal(status, code)), ApiError, lambda box: box.list_folders()), 1)


class RequestsAsync(Requests):
    is_async = True


class AnswersAsync(Answers):
    is_async = True


class ErrorsAsync(Errors):
    is_async = True


class RepetitionsAsync(Repetitions):
    is_async = True
