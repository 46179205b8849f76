"""Credentials stay out of logs, and go to no other place than the service."""

from __future__ import annotations

from typing import Any

import httpx

from agent_mailbox import AgentMailboxError, AsyncMailboxClient, MailboxClient, models
from agent_mailbox._model import Model
from agent_mailbox.tools import mailbox_tools

from .in_both_ways import URL, BothWays, Recorder, done

SECRET = "amt_kR2wo2cQ8mJ6wXk1rT4yN7sD9fG3hL5zP0aE2uI8xC6M4k7d2q"


class Secrets(BothWays):
    def test_a_stream_follows_no_redirect_whatever_the_given_client_does(self) -> None:
        elsewhere = httpx.Response(307, headers={"location": "http://elsewhere.invalid/"})
        recorder = Recorder(elsewhere, httpx.Response(404))
        with self.assertRaises(AgentMailboxError):
            done(self.following(recorder).events())
        self.assertEqual([each.url.host for each in recorder.asked], ["service.invalid"])

    def following(self, recorder: Recorder) -> Any:
        """A client whose HTTP client follows redirects."""
        if self.is_async:
            transport = httpx.MockTransport(recorder.asynchronous)
            http = httpx.AsyncClient(transport=transport, follow_redirects=True)
            return AsyncMailboxClient(URL, api_key="amk_x", mailbox_id="mbx_1", http_client=http)
        client = httpx.Client(transport=httpx.MockTransport(recorder), follow_redirects=True)
        return MailboxClient(URL, api_key="amk_x", mailbox_id="mbx_1", http_client=client)

    def test_the_text_of_a_tool_has_no_token(self) -> None:
        (tool,) = mailbox_tools(URL, SECRET, only=["get_mailbox"])
        self.assertNotIn(SECRET, repr(tool))
        self.assertEqual(tool.token, SECRET)

    def test_the_text_of_a_model_has_no_secret(self) -> None:
        upload = {"id": "fil_1", "url": SECRET, "method": "PUT"}
        cases: tuple[tuple[type[Model], dict[str, Any]], ...] = (
            (models.SignIn, {"email": "a@b.c", "password": SECRET}),
            (models.WebhookAuthHeader, {"name": "x", "value": SECRET}),
            (models.DeviceCode, {"device_code": SECRET}),
            (models.RotatedSecret, {"secret": SECRET}),
            (models.MailboxWithToken, {"id": "mbx_1", "token": SECRET}),
            (models.Upload, upload),
        )
        for model, given in cases:
            made = model.model_construct(**given)
            self.assertNotIn(SECRET, repr(made) + str(made), model.__name__)
            self.assertIn("(secret)", repr(made))
            self.assertIn(SECRET, made.model_dump_json(warnings=False))
        link = models.MessageLink.model_construct(url="https://a.example/")
        self.assertIn("https://a.example/", repr(link))


class SecretsAsync(Secrets):
    is_async = True
