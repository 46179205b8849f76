"""Signatures of webhooks."""

from __future__ import annotations

import base64
import json
import sys
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from unittest import mock

from agent_mailbox import WebhookVerificationError, models, sign_webhook, verify_webhook

# Those that the TypeScript client is tested with.
VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "test/client/webhook-vectors.json").read_text(encoding="utf-8")
)
SECRET = "whsec_" + base64.b64encode(b"5" * 24).decode()
OTHER = "whsec_" + base64.b64encode(b"6" * 24).decode()
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
EVENT: dict[str, Any] = {
    "id": "evt_1",
    "type": "mailbox_deleted",
    "occurredAt": "2026-01-02T03:04:05.000Z",
    "organization": {"id": "org_1", "name": "Ö", "slug": "o"},
    "mailbox": None,
    "actor": {"type": "brand_new", "id": None, "name": None, "email": None, "address": "a@b.c"},
    "data": {
        "mailbox": {
            "id": "mbx_1",
            "name": "",
            "address": "ü@b.c",
            "localPart": "ü",
            "domain": "b.c",
            "status": "deleting",
            "metadata": {},
            "clientId": None,
            "createdAt": "2026-01-02T03:04:05.000Z",
        }
    },
}
BODY = json.dumps(EVENT, ensure_ascii=False).encode()


def headers_of(body: bytes = BODY, secret: str = SECRET, at: datetime = AT) -> dict[str, str]:
    return sign_webhook("dlv_1", body, secret, at=at)


class VerifyWebhook(unittest.TestCase):
    def code_of(self, headers: dict[str, str], body: bytes = BODY, secret: str = SECRET) -> str:
        with self.assertRaises(WebhookVerificationError) as caught:
            verify_webhook(headers, body, secret, now=AT)
        return caught.exception.code

    def test_the_signature_is_that_of_the_specification(self) -> None:
        # The example of Standard Webhooks: any implementation makes this signature of it.
        headers = sign_webhook(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            b'{"test": 2432232314}',
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            at=datetime.fromtimestamp(1614265330, timezone.utc),
        )
        self.assertEqual(headers["webhook-signature"], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")

    def test_an_event_is_answered_by_its_type(self) -> None:
        event = verify_webhook(headers_of(), BODY, SECRET, now=AT)
        assert event.type == "mailbox_deleted"
        self.assertEqual((event.id, event.actor.address), ("evt_1", "a@b.c"))

    def test_names_of_headers_in_any_case_as_any_server_has_them(self) -> None:
        upper = {name.title(): value for name, value in headers_of().items()}
        self.assertEqual(verify_webhook(upper, BODY, SECRET, now=AT).id, "evt_1")
        lists = {name: [value] for name, value in headers_of().items()}
        self.assertEqual(verify_webhook(lists, BODY.decode(), SECRET, now=AT).id, "evt_1")

    def test_one_of_several_signatures_or_secrets_is_enough(self) -> None:
        headers = headers_of()
        headers["webhook-signature"] = "v1a,AAAA v1,AAAA " + headers["webhook-signature"]
        self.assertEqual(verify_webhook(headers, BODY, [OTHER, SECRET], now=AT).id, "evt_1")

    def test_others_are_refused(self) -> None:
        self.assertEqual(self.code_of(headers_of(), BODY + b" "), "wrong_signature")
        self.assertEqual(self.code_of(headers_of(secret=OTHER)), "wrong_signature")
        for signature in ("v1,", "v1,***", "v2,x", "v1a," + headers_of()["webhook-signature"][3:]):
            self.assertEqual(self.code_of({**headers_of(), "webhook-signature": signature}), "wrong_signature")
        for name in headers_of():
            self.assertEqual(self.code_of({**headers_of(), name: ""}), "missing_header")
        self.assertEqual(self.code_of(headers_of(), secret="whsec_*"), "invalid_secret")

    def test_another_time_is_refused(self) -> None:
        for minutes in (-6, 6):
            self.assertEqual(self.code_of(headers_of(at=AT + timedelta(minutes=minutes))), "wrong_time")
        for value in ("1e9", "²", "-1", "9" * 13):
            self.assertEqual(self.code_of({**headers_of(), "webhook-timestamp": value}), "wrong_time")
        early = headers_of(at=AT - timedelta(minutes=6))
        self.assertEqual(verify_webhook(early, BODY, SECRET, now=AT, tolerance_seconds=400).id, "evt_1")

    def test_a_signed_body_that_is_no_known_event_says_so(self) -> None:
        for body, code in ((b"{", "invalid_body"), (b'{"type": "brand_new"}', "unknown_event"), (b"1", "unknown_event")):
            self.assertEqual(self.code_of(headers_of(body), body), code)


class VerifyVectors(unittest.TestCase):
    def outcome_of(self, keys: Any, signature: str, body: str) -> str:
        headers = {
            "webhook-id": VECTORS["id"],
            "webhook-timestamp": str(VECTORS["timestamp"]),
            "webhook-signature": signature,
        }
        now = datetime.fromtimestamp(VECTORS["timestamp"], timezone.utc)
        try:
            verify_webhook(headers, body, keys, now=now)
        except WebhookVerificationError as error:
            return error.code
        return "accepted"

    def test_both_versions_of_signatures(self) -> None:
        self.assertGreater(len(VECTORS["cases"]), 20)
        for case in VECTORS["cases"]:
            with self.subTest(case["name"]):
                body = case.get("body", VECTORS["body"])
                self.assertEqual(self.outcome_of(case["keys"], case["signature"], body), case["outcome"])

    def test_a_key_as_the_client_answers_it(self) -> None:
        case = next(each for each in VECTORS["cases"] if each["name"] == "a key of a set")
        members = {**case["keys"], "kid": "k", "use": "sig", "alg": "EdDSA"}
        key = models.WebhookPublicKey.model_validate(members)
        for keys in (key, [key], models.WebhookKeySet(keys=[key]).keys):
            self.assertEqual(self.outcome_of(keys, case["signature"], VECTORS["body"]), "accepted")

    def test_without_the_package_for_public_keys_it_says_what_to_install(self) -> None:
        case = next(each for each in VECTORS["cases"] if each["name"] == "a public key")
        with mock.patch.dict(sys.modules, {"cryptography.exceptions": None}):
            with self.assertRaisesRegex(ImportError, r"pip install \"agent-mailbox\[ed25519\]\""):
                self.outcome_of(case["keys"], case["signature"], VECTORS["body"])
            with self.assertRaises(ImportError):
                self.outcome_of([case["keys"], SECRET], case["signature"], VECTORS["body"])
            secrets = next(each for each in VECTORS["cases"] if each["name"] == "a secret")
            self.assertEqual(self.outcome_of(secrets["keys"], secrets["signature"], VECTORS["body"]), "accepted")
