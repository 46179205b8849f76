"""A method for each operation. Made from the OpenAPI document by `npm run generate`; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from .. import models as m
from .._download import Download
from .._request import NOT_GIVEN, NotGiven, any_given, wait_seconds
from .paged_list import AsyncPagedList
from .resource import AsyncResource
from .transport import AsyncTransport


class AsyncMailboxes(AsyncResource):
    """Mailboxes of the organization."""

    async def create(
        self,
        *,
        local_part: str | NotGiven = NOT_GIVEN,
        name: str | NotGiven = NOT_GIVEN,
        purpose: str | None | NotGiven = NOT_GIVEN,
        group: str | None | NotGiven = NOT_GIVEN,
        domain: str | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str] | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        retention: m.MailRetention | None | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.CreatedMailbox:
        """Create a mailbox.

        local_part: Part before the @. Default: a pronounceable one is generated.
        name: Display name.
        purpose: What the mailbox is for: shown to the people who decide about its mail.
        group: Group of the mailbox; null: none. API keys can be limited to groups. A group exists as long as a mailbox is in it.
        domain: A domain of the organization; default: that of the instance.
        metadata: Up to 50 keys of your own; keys of 64, values of 512 characters at most.
        expires_at: In the future. From then on the mailbox is refused on every protocol, as one that was deleted; null: never. A later time opens it again. 14 days after its expiry it is deleted with its mail, and `mailbox_deleted` is sent.
        retention: How long its mail is kept, instead of the retention of the organization; null: as the organization.
        client_id: Your own id of the mailbox. The same creation again with it is answered 200 with the first mailbox, without its token; another creation with it is a conflict.
        """
        request = self._request("POST", "/api/mailboxes", body={"localPart": local_part, "name": name, "purpose": purpose, "group": group, "domain": domain, "metadata": metadata, "expiresAt": expires_at, "retention": retention, "clientId": client_id}, idempotency_key=idempotency_key)
        return self._parse(m.CreatedMailbox, await self._send(request))

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        q: str | NotGiven = NOT_GIVEN,
        status: Literal["pending", "active", "suspended", "expired", "deleting"] | NotGiven = NOT_GIVEN,
        domain: str | NotGiven = NOT_GIVEN,
        group: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.Mailbox]:
        """List mailboxes, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        q: Part of the address or name.
        group: Name of a group of mailboxes: lower-case letters and digits, with hyphens, dots or underscores between them.
        """
        request = self._request("GET", "/api/mailboxes", query={"limit": limit, "cursor": cursor, "q": q, "status": status, "domain": domain, "group": group, "clientId": client_id})
        return AsyncPagedList(self._transport, request, m.MailboxList)

    async def get(
        self,
        id: str,
    ) -> m.Mailbox:
        """Get a mailbox."""
        request = self._request("GET", "/api/mailboxes/{id}", (id,))
        return self._parse(m.Mailbox, await self._send(request))

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        purpose: str | None | NotGiven = NOT_GIVEN,
        group: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str] | NotGiven = NOT_GIVEN,
        status: Literal["active", "suspended"] | NotGiven = NOT_GIVEN,
        unauthenticated_mail: Literal["junk", "inbox", "reject"] | NotGiven = NOT_GIVEN,
        plus_addresses: bool | NotGiven = NOT_GIVEN,
        screening: Literal["off", "suspicious", "first_senders"] | None | NotGiven = NOT_GIVEN,
        carried_mail: Literal["off", "hold", "refuse"] | None | NotGiven = NOT_GIVEN,
        ask_after_reading_minutes: int | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        retention: m.MailRetention | None | NotGiven = NOT_GIVEN,
        canary: bool | NotGiven = NOT_GIVEN,
        sending_mode: Literal["normal", "drafts_only", "stopped"] | NotGiven = NOT_GIVEN,
        budgets: m.SendingBudgetsChanges | NotGiven = NOT_GIVEN,
    ) -> m.Mailbox:
        """Change name, purpose, group, metadata, status, expiry, retention, brakes of sending, or what happens to unauthenticated mail.

        name: Display name.
        purpose: What the mailbox is for: shown to the people who decide about its mail.
        group: Group of the mailbox; null: none. API keys can be limited to groups. A group exists as long as a mailbox is in it.
        metadata: Replaces all metadata.
        status: `suspended`: mail to it is refused, it sends nothing, and its tokens are refused. `active` resumes it: only a person may do this, or an API key if the organization sets `consentByApiKey`.
        unauthenticated_mail: What happens to mail that fails DMARC if the domain of its sender asks to quarantine or reject it, and to mail that names no author: `junk` (default) files it in Junk, `inbox` in INBOX, both with the label `unauthenticated`; `reject` refuses it (550 5.7.26).
        plus_addresses: Whether mail to its address with any tag (`bot+tag@…`) reaches it. Tags with an alias of their own do in any case.
        screening: Which arriving mail waits until a member has decided about it, as `screening` of the organization says it; null: that of the organization. Only a session may change it.
        carried_mail: What happens to its mail that carries other mail, as `carriedMail` of the organization says it; null: that of the organization. Only a session may change it.
        ask_after_reading_minutes: Minutes, as `askAfterReadingMinutes` of the organization says it; null: that of the organization. Only a session may change it.
        expires_at: From then on the mailbox is refused on every protocol, as one that was deleted; null: never. A later time opens it again. 14 days after its expiry it is deleted with its mail, and `mailbox_deleted` is sent. A time in the past becomes now.
        retention: How long its mail is kept, instead of the retention of the organization; null: as the organization.
        canary: Whether the mailbox has a planted message that nobody needs. A message to somebody outside with its text is refused, and sending from the mailbox is stopped until a person ends the stop. Only a session may change it.
        sending_mode: `drafts_only`: an agent cannot send; it saves a draft, and a signed-in person sends that. `stopped`: nothing is sent; queued messages wait and are sent when the stop ends.
        """
        request = self._request("PATCH", "/api/mailboxes/{id}", (id,), body={"name": name, "purpose": purpose, "group": group, "metadata": metadata, "status": status, "unauthenticatedMail": unauthenticated_mail, "plusAddresses": plus_addresses, "screening": screening, "carriedMail": carried_mail, "askAfterReadingMinutes": ask_after_reading_minutes, "expiresAt": expires_at, "retention": retention, "canary": canary, "sendingMode": sending_mode, "budgets": budgets})
        return self._parse(m.Mailbox, await self._send(request))

    async def delete(
        self,
        id: str,
    ) -> None:
        """Delete a mailbox."""
        request = self._request("DELETE", "/api/mailboxes/{id}", (id,))
        await self._send(request)

    async def rotate_token(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.MailboxWithToken:
        """Replace the mailbox token."""
        request = self._request("POST", "/api/mailboxes/{id}/rotate-token", (id,), idempotency_key=idempotency_key)
        return self._parse(m.MailboxWithToken, await self._send(request))

    async def resume_sending(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Mailbox:
        """Resume sending of a paused mailbox."""
        request = self._request("POST", "/api/mailboxes/{id}/resume-sending", (id,), idempotency_key=idempotency_key)
        return self._parse(m.Mailbox, await self._send(request))

    async def snippets(
        self,
        id: str,
    ) -> m.ConnectionSnippetList:
        """Snippets that connect a program to the mailbox."""
        request = self._request("GET", "/api/mailboxes/{id}/snippets", (id,))
        return self._parse(m.ConnectionSnippetList, await self._send(request))

    async def tokens(
        self,
        id: str,
    ) -> m.MailboxTokenList:
        """List the tokens of a mailbox, newest first."""
        request = self._request("GET", "/api/mailboxes/{id}/tokens", (id,))
        return self._parse(m.MailboxTokenList, await self._send(request))

    async def create_token(
        self,
        id: str,
        *,
        name: str,
        access: Literal["full", "read", "send"] | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.MailboxTokenWithSecret:
        """Create a token of a mailbox.

        name: Which program uses it.
        access: `full`: everything. `read`: can only read; mail clients open folders read-only. `send`: can only send, and read the status of sent messages.
        expires_at: In the future; null or omitted: never.
        """
        request = self._request("POST", "/api/mailboxes/{id}/tokens", (id,), body={"name": name, "access": access, "expiresAt": expires_at}, idempotency_key=idempotency_key)
        return self._parse(m.MailboxTokenWithSecret, await self._send(request))

    async def revoke_token(
        self,
        id: str,
        thread_id: str,
    ) -> None:
        """Revoke a token of a mailbox."""
        request = self._request("DELETE", "/api/mailboxes/{id}/tokens/{tid}", (id, thread_id,))
        await self._send(request)

    async def groups(
        self,
    ) -> m.MailboxGroupList:
        """List the groups of mailboxes, with their unread messages."""
        request = self._request("GET", "/api/mailbox-groups")
        return self._parse(m.MailboxGroupList, await self._send(request))

    async def send_test_mail(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.TestMail:
        """Put a test mail into the mailbox."""
        request = self._request("POST", "/api/mailboxes/{id}/test-mail", (id,), idempotency_key=idempotency_key)
        return self._parse(m.TestMail, await self._send(request))

    async def logins(
        self,
        id: str,
    ) -> m.MailboxLogins:
        """When the token of a mailbox was last used, by protocol."""
        request = self._request("GET", "/api/mailboxes/{id}/logins", (id,))
        return self._parse(m.MailboxLogins, await self._send(request))


class AsyncMailbox(AsyncResource):
    """The mail of one mailbox."""

    async def mailbox(
        self,
    ) -> m.Mailbox:
        """The mailbox of the mailbox token."""
        request = self._request("GET", "/api/mailbox")
        return self._parse(m.Mailbox, await self._send(request))

    async def connection(
        self,
    ) -> m.MailConnection:
        """Settings for mail clients, for the mailbox token."""
        request = self._request("GET", "/api/mailbox/connection")
        return self._parse(m.MailConnection, await self._send(request))

    def list_aliases(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.Alias]:
        """List aliases, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/mailbox/aliases", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.AliasList)

    async def create_alias(
        self,
        *,
        local_part: str | NotGiven = NOT_GIVEN,
        tag: str | NotGiven = NOT_GIVEN,
        domain: str | NotGiven = NOT_GIVEN,
        note: str | NotGiven = NOT_GIVEN,
        senders: Sequence[str] | NotGiven = NOT_GIVEN,
        otherwise: Literal["refuse", "hold"] | NotGiven = NOT_GIVEN,
        lock_to_first: bool | NotGiven = NOT_GIVEN,
        folder: str | None | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.Alias:
        """Create an alias.

        local_part: Part before the @. Default: a random one that nobody can guess. A token of the mailbox may not choose one that looks official, such as `billing`.
        tag: Instead of localPart: the address of the mailbox with this tag, as `bot+tag@…`.
        domain: That of the instance, or a verified one of the organization. Default: that of the mailbox.
        note: What it is for, such as the service that it was given to.
        senders: Addresses and domains (their subdomains included) whose mail it takes; empty: everybody. An author counts if SPF, DKIM or DMARC proves that the mail is theirs.
        otherwise: Mail of others: `refuse` answers it with 550; `hold` keeps it until a member decides.
        lock_to_first: The first proven author who writes to it becomes its list of senders.
        folder: Where its mail is filed; null: INBOX.
        enabled: Whether it takes mail; otherwise it is answered 550.
        expires_at: In the future: it is answered 550 from then on. Null: never.
        """
        request = self._request("POST", "/api/mailbox/aliases", body={"localPart": local_part, "tag": tag, "domain": domain, "note": note, "senders": senders, "otherwise": otherwise, "lockToFirst": lock_to_first, "folder": folder, "enabled": enabled, "expiresAt": expires_at}, idempotency_key=idempotency_key)
        return self._parse(m.Alias, await self._send(request))

    async def update_alias(
        self,
        attachment_id: str,
        *,
        note: str | NotGiven = NOT_GIVEN,
        senders: Sequence[str] | NotGiven = NOT_GIVEN,
        otherwise: Literal["refuse", "hold"] | NotGiven = NOT_GIVEN,
        lock_to_first: bool | NotGiven = NOT_GIVEN,
        folder: str | None | NotGiven = NOT_GIVEN,
        enabled: bool | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
    ) -> m.Alias:
        """Change an alias.

        note: What it is for, such as the service that it was given to.
        senders: Addresses and domains (their subdomains included) whose mail it takes; empty: everybody. An author counts if SPF, DKIM or DMARC proves that the mail is theirs.
        otherwise: Mail of others: `refuse` answers it with 550; `hold` keeps it until a member decides.
        lock_to_first: The first proven author who writes to it becomes its list of senders.
        folder: Where its mail is filed; null: INBOX.
        enabled: Whether it takes mail; otherwise it is answered 550.
        expires_at: In the future: it is answered 550 from then on. Null: never.
        """
        request = self._request("PATCH", "/api/mailbox/aliases/{aid}", (attachment_id,), body={"note": note, "senders": senders, "otherwise": otherwise, "lockToFirst": lock_to_first, "folder": folder, "enabled": enabled, "expiresAt": expires_at})
        return self._parse(m.Alias, await self._send(request))

    async def drop_alias(
        self,
        attachment_id: str,
    ) -> None:
        """Drop an alias."""
        request = self._request("DELETE", "/api/mailbox/aliases/{aid}", (attachment_id,))
        await self._send(request)

    def search_messages(
        self,
        *,
        q: str,
        folder: str | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        format: Literal["full", "model"] | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.SearchHit]:
        """Search messages by their words.

        q: Words to look for.
        folder: Name of a folder; default: all, without junk.
        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        format: `full` (default): the fields alone. `model`: with `modelText` for a language model, without characters that a person cannot see, which says that mail is data and not instructions.
        """
        request = self._request("GET", "/api/mailbox/messages/search", query={"q": q, "folder": folder, "limit": limit, "cursor": cursor, "format": format})
        return AsyncPagedList(self._transport, request, m.SearchHitList)

    async def wait_for_messages(
        self,
        *,
        folder: str | NotGiven = NOT_GIVEN,
        label: str | NotGiven = NOT_GIVEN,
        unread: bool | NotGiven = NOT_GIVEN,
        from_: str | NotGiven = NOT_GIVEN,
        to: str | NotGiven = NOT_GIVEN,
        subject: str | NotGiven = NOT_GIVEN,
        since: datetime | str | NotGiven = NOT_GIVEN,
        until: datetime | str | NotGiven = NOT_GIVEN,
        after: str | NotGiven = NOT_GIVEN,
        consent_id: str | NotGiven = NOT_GIVEN,
        timeout_seconds: int | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        extract: Literal["otp", "links", "otp,links", "links,otp"] | NotGiven = NOT_GIVEN,
        format: Literal["full", "model"] | NotGiven = NOT_GIVEN,
    ) -> m.WaitAnswer:
        """Wait for messages.

        folder: Name of a folder; default: received mail, without junk.
        label: A label of the message.
        unread: Only unread ones, or only read ones.
        from_: Part of the sender’s name or address.
        to: Part of a recipient’s name or address, Cc included.
        subject: Part of the subject.
        since: Received at this time or later.
        until: Received before this time.
        after: Id of a message, or `after` of an earlier answer: waits for messages that arrived later, and answers at once if there are some. Default: from now on, or with `since` from that time.
        consent_id: Wait for the decision about this message of the mailbox instead of mail; answered in `consent`.
        timeout_seconds: How long to wait for a message (default 30).
        limit: Messages in an answer (default 50).
        extract: `otp`: the one-time code of each message; `links`: its links; `otp,links`: both.
        format: `full` (default): the fields alone. `model`: with `modelText` for a language model, without characters that a person cannot see, which says that mail is data and not instructions.
        """
        request = self._request("GET", "/api/mailbox/messages/wait", query={"folder": folder, "label": label, "unread": unread, "from": from_, "to": to, "subject": subject, "since": since, "until": until, "after": after, "consentId": consent_id, "timeoutSeconds": timeout_seconds, "limit": limit, "extract": extract, "format": format}, extra_seconds=wait_seconds(timeout_seconds), repeatable=any_given(after, since, consent_id))
        return self._parse(m.WaitAnswer, await self._send(request))

    def list_outbox(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.OutboxMessage]:
        """List messages that wait to be sent, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/mailbox/messages/outbox", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.OutboxList)

    async def withdraw(
        self,
        message_id: str,
    ) -> m.WithdrawnMessage:
        """Withdraw a message."""
        request = self._request("DELETE", "/api/mailbox/outbox/{mid}", (message_id,), repeatable=False)
        return self._parse(m.WithdrawnMessage, await self._send(request))

    def list_messages(
        self,
        *,
        folder: str | NotGiven = NOT_GIVEN,
        label: str | NotGiven = NOT_GIVEN,
        unread: bool | NotGiven = NOT_GIVEN,
        from_: str | NotGiven = NOT_GIVEN,
        to: str | NotGiven = NOT_GIVEN,
        subject: str | NotGiven = NOT_GIVEN,
        since: datetime | str | NotGiven = NOT_GIVEN,
        until: datetime | str | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        format: Literal["full", "model"] | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.MessageSummary]:
        """List messages, newest first.

        folder: Name of a folder, such as `Sent` or `Junk`; `*`: all folders, without junk. Default: INBOX, or with `label` all folders.
        label: A label of the message.
        unread: Only unread ones, or only read ones.
        from_: Part of the sender’s name or address.
        to: Part of a recipient’s name or address, Cc included.
        subject: Part of the subject.
        since: Received at this time or later.
        until: Received before this time.
        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        format: `full` (default): the fields alone. `model`: with `modelText` for a language model, without characters that a person cannot see, which says that mail is data and not instructions.
        """
        request = self._request("GET", "/api/mailbox/messages", query={"folder": folder, "label": label, "unread": unread, "from": from_, "to": to, "subject": subject, "since": since, "until": until, "limit": limit, "cursor": cursor, "format": format})
        return AsyncPagedList(self._transport, request, m.MessageList)

    async def send_message(
        self,
        *,
        subject: str,
        to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        cc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        bcc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        from_: str | NotGiven = NOT_GIVEN,
        reply_to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        text: str | NotGiven = NOT_GIVEN,
        html: str | NotGiven = NOT_GIVEN,
        attachments: Sequence[m.NewAttachment] | NotGiven = NOT_GIVEN,
        labels: Sequence[str] | NotGiven = NOT_GIVEN,
        headers: Mapping[str, str] | NotGiven = NOT_GIVEN,
        send_at: datetime | str | NotGiven = NOT_GIVEN,
        resubmits: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.RepeatedMessage | m.SentMessage | m.HeldMessage:
        """Send a message.

        to: One recipient or a list, as `a@b.c` or `Name <a@b.c>`. There must be one in to, cc or bcc.
        cc: Copies.
        bcc: Recipients that the others do not see.
        from_: The address of the mailbox, or one of its aliases, to write as. Default: the address of the mailbox; of a reply: the alias that the message came to.
        reply_to: Address for replies, instead of the mailbox.
        labels: Of the copy in Sent.
        headers: Further header fields, such as `X-Campaign`. Those the service sets itself are refused.
        send_at: Not before this time, at most 90 days ahead; default: at once. Until then DELETE withdraws it.
        resubmits: The consent id of a message of this mailbox that a person sent back with a comment: this is the changed message. It is held in any case, and shown with its earlier versions.
        client_id: Your own id of the message. The same message again with it is answered 200 with the first one, and nothing is sent; another message with it is a conflict. So a request whose answer was lost can be repeated safely. Do not use an id for two messages.
        """
        request = self._request("POST", "/api/mailbox/messages", body={"to": to, "cc": cc, "bcc": bcc, "subject": subject, "from": from_, "replyTo": reply_to, "text": text, "html": html, "attachments": attachments, "labels": labels, "headers": headers, "sendAt": send_at, "resubmits": resubmits, "clientId": client_id}, idempotency_key=idempotency_key)
        answer = await self._send(request)
        if answer.status_code == 201:
            return self._parse(m.SentMessage, answer)
        if answer.status_code == 202:
            return self._parse(m.HeldMessage, answer)
        return self._parse(m.RepeatedMessage, answer)

    async def get_message(
        self,
        message_id: str,
        *,
        extract: Literal["otp", "links", "otp,links", "links,otp"] | NotGiven = NOT_GIVEN,
        format: Literal["full", "text", "metadata", "model"] | NotGiven = NOT_GIVEN,
    ) -> m.Message:
        """Get a message.

        extract: `otp`: with the one-time code in `extracts`; `links`: with the links; `otp,links`: both.
        format: `full` (default): text, HTML and header; `text`: text alone; `metadata`: neither. `model`: with `modelText` for a language model, without characters that a person cannot see, which says that mail is data and not instructions; otherwise as `text`.
        """
        request = self._request("GET", "/api/mailbox/messages/{mid}", (message_id,), query={"extract": extract, "format": format})
        return self._parse(m.Message, await self._send(request))

    async def update_message(
        self,
        message_id: str,
        *,
        seen: bool | NotGiven = NOT_GIVEN,
        flagged: bool | NotGiven = NOT_GIVEN,
        labels: Sequence[str] | NotGiven = NOT_GIVEN,
        folder: str | NotGiven = NOT_GIVEN,
    ) -> m.MessageSummary:
        """Change a message.

        labels: All labels it has afterwards: visible ASCII without space and `( ) { % * " \\ ]`. Compared without case, shown as first spelled.
        folder: Name of the only folder that contains it afterwards; case-insensitive.
        """
        request = self._request("PATCH", "/api/mailbox/messages/{mid}", (message_id,), body={"seen": seen, "flagged": flagged, "labels": labels, "folder": folder})
        return self._parse(m.MessageSummary, await self._send(request))

    async def delete_message(
        self,
        message_id: str,
        *,
        permanent: bool | NotGiven = NOT_GIVEN,
    ) -> None:
        """Delete a message.

        permanent: Remove it permanently instead of moving it to the trash.
        """
        request = self._request("DELETE", "/api/mailbox/messages/{mid}", (message_id,), query={"permanent": permanent}, repeatable=False)
        await self._send(request)

    async def get_raw_message(
        self,
        message_id: str,
    ) -> Download:
        """Download the raw message."""
        request = self._request("GET", "/api/mailbox/messages/{mid}/raw", (message_id,))
        return Download.of(await self._send(request))

    async def get_attachment(
        self,
        message_id: str,
        attachment_id: str,
    ) -> Download:
        """Download an attachment."""
        request = self._request("GET", "/api/mailbox/messages/{mid}/attachments/{aid}", (message_id, attachment_id,))
        return Download.of(await self._send(request))

    async def get_attachment_text(
        self,
        message_id: str,
        attachment_id: str,
        *,
        offset: int | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
    ) -> m.AttachmentText:
        """Read the text of an attachment.

        offset: `nextOffset` of the page before; default 0.
        limit: Most characters of the page (default 20000).
        """
        request = self._request("GET", "/api/mailbox/messages/{mid}/attachments/{aid}/text", (message_id, attachment_id,), query={"offset": offset, "limit": limit})
        return self._parse(m.AttachmentText, await self._send(request))

    async def get_message_extracts(
        self,
        message_id: str,
    ) -> m.MessageExtracts:
        """Get the code and the links of a message."""
        request = self._request("GET", "/api/mailbox/messages/{mid}/extracts", (message_id,))
        return self._parse(m.MessageExtracts, await self._send(request))

    async def change_messages(
        self,
        *,
        message_ids: Sequence[str] | NotGiven = NOT_GIVEN,
        query: m.MessageFilter | NotGiven = NOT_GIVEN,
        seen: bool | NotGiven = NOT_GIVEN,
        flagged: bool | NotGiven = NOT_GIVEN,
        add_labels: Sequence[str] | NotGiven = NOT_GIVEN,
        remove_labels: Sequence[str] | NotGiven = NOT_GIVEN,
        folder: str | NotGiven = NOT_GIVEN,
        delete: Literal["trash", "permanent"] | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.BulkMessageResult:
        """Change or delete many messages.

        message_ids: Ids of the messages. Give either these or `query`.
        add_labels: Labels to add; other labels remain.
        remove_labels: Labels to remove.
        folder: Name of the folder to move them to, case-insensitive. They are removed from all other folders.
        delete: `trash`: moves them to the trash; those that are there already are removed. `permanent`: removes them. A deletion cannot be combined with another change.
        """
        request = self._request("POST", "/api/mailbox/messages/change", body={"messageIds": message_ids, "query": query, "seen": seen, "flagged": flagged, "addLabels": add_labels, "removeLabels": remove_labels, "folder": folder, "delete": delete}, idempotency_key=idempotency_key)
        return self._parse(m.BulkMessageResult, await self._send(request))

    async def reply(
        self,
        message_id: str,
        *,
        to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        cc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        bcc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        subject: str | NotGiven = NOT_GIVEN,
        from_: str | NotGiven = NOT_GIVEN,
        reply_to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        text: str | NotGiven = NOT_GIVEN,
        html: str | NotGiven = NOT_GIVEN,
        attachments: Sequence[m.NewAttachment] | NotGiven = NOT_GIVEN,
        labels: Sequence[str] | NotGiven = NOT_GIVEN,
        headers: Mapping[str, str] | NotGiven = NOT_GIVEN,
        send_at: datetime | str | NotGiven = NOT_GIVEN,
        resubmits: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.RepeatedMessage | m.SentMessage | m.HeldMessage:
        """Reply to a message.

        to: Recipients in addition to those of the reply.
        cc: Further copies.
        bcc: Recipients that the others do not see.
        subject: Default: `Re:` and the subject of the message.
        from_: The address of the mailbox, or one of its aliases, to write as. Default: the address of the mailbox; of a reply: the alias that the message came to.
        reply_to: Address for replies, instead of the mailbox.
        labels: Of the copy in Sent.
        headers: Further header fields, such as `X-Campaign`. Those the service sets itself are refused.
        send_at: Not before this time, at most 90 days ahead; default: at once. Until then DELETE withdraws it.
        resubmits: The consent id of a message of this mailbox that a person sent back with a comment: this is the changed message. It is held in any case, and shown with its earlier versions.
        client_id: Your own id of the message. The same message again with it is answered 200 with the first one, and nothing is sent; another message with it is a conflict. So a request whose answer was lost can be repeated safely. Do not use an id for two messages.
        """
        request = self._request("POST", "/api/mailbox/messages/{mid}/reply", (message_id,), body={"to": to, "cc": cc, "bcc": bcc, "subject": subject, "from": from_, "replyTo": reply_to, "text": text, "html": html, "attachments": attachments, "labels": labels, "headers": headers, "sendAt": send_at, "resubmits": resubmits, "clientId": client_id}, idempotency_key=idempotency_key)
        answer = await self._send(request)
        if answer.status_code == 201:
            return self._parse(m.SentMessage, answer)
        if answer.status_code == 202:
            return self._parse(m.HeldMessage, answer)
        return self._parse(m.RepeatedMessage, answer)

    async def reply_all(
        self,
        message_id: str,
        *,
        to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        cc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        bcc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        subject: str | NotGiven = NOT_GIVEN,
        from_: str | NotGiven = NOT_GIVEN,
        reply_to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        text: str | NotGiven = NOT_GIVEN,
        html: str | NotGiven = NOT_GIVEN,
        attachments: Sequence[m.NewAttachment] | NotGiven = NOT_GIVEN,
        labels: Sequence[str] | NotGiven = NOT_GIVEN,
        headers: Mapping[str, str] | NotGiven = NOT_GIVEN,
        send_at: datetime | str | NotGiven = NOT_GIVEN,
        resubmits: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.RepeatedMessage | m.SentMessage | m.HeldMessage:
        """Reply to all.

        to: Recipients in addition to those of the reply.
        cc: Further copies.
        bcc: Recipients that the others do not see.
        subject: Default: `Re:` and the subject of the message.
        from_: The address of the mailbox, or one of its aliases, to write as. Default: the address of the mailbox; of a reply: the alias that the message came to.
        reply_to: Address for replies, instead of the mailbox.
        labels: Of the copy in Sent.
        headers: Further header fields, such as `X-Campaign`. Those the service sets itself are refused.
        send_at: Not before this time, at most 90 days ahead; default: at once. Until then DELETE withdraws it.
        resubmits: The consent id of a message of this mailbox that a person sent back with a comment: this is the changed message. It is held in any case, and shown with its earlier versions.
        client_id: Your own id of the message. The same message again with it is answered 200 with the first one, and nothing is sent; another message with it is a conflict. So a request whose answer was lost can be repeated safely. Do not use an id for two messages.
        """
        request = self._request("POST", "/api/mailbox/messages/{mid}/reply-all", (message_id,), body={"to": to, "cc": cc, "bcc": bcc, "subject": subject, "from": from_, "replyTo": reply_to, "text": text, "html": html, "attachments": attachments, "labels": labels, "headers": headers, "sendAt": send_at, "resubmits": resubmits, "clientId": client_id}, idempotency_key=idempotency_key)
        answer = await self._send(request)
        if answer.status_code == 201:
            return self._parse(m.SentMessage, answer)
        if answer.status_code == 202:
            return self._parse(m.HeldMessage, answer)
        return self._parse(m.RepeatedMessage, answer)

    async def forward(
        self,
        message_id: str,
        *,
        to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        cc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        bcc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        subject: str | NotGiven = NOT_GIVEN,
        from_: str | NotGiven = NOT_GIVEN,
        reply_to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        text: str | NotGiven = NOT_GIVEN,
        html: str | NotGiven = NOT_GIVEN,
        attachments: Sequence[m.NewAttachment] | NotGiven = NOT_GIVEN,
        labels: Sequence[str] | NotGiven = NOT_GIVEN,
        headers: Mapping[str, str] | NotGiven = NOT_GIVEN,
        send_at: datetime | str | NotGiven = NOT_GIVEN,
        resubmits: str | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.RepeatedMessage | m.SentMessage | m.HeldMessage:
        """Forward a message.

        to: Recipients. There must be one in to, cc or bcc.
        cc: Copies.
        bcc: Recipients that the others do not see.
        subject: Default: `Fwd:` and the subject of the message.
        from_: The address of the mailbox, or one of its aliases, to write as. Default: the address of the mailbox; of a reply: the alias that the message came to.
        reply_to: Address for replies, instead of the mailbox.
        labels: Of the copy in Sent.
        headers: Further header fields, such as `X-Campaign`. Those the service sets itself are refused.
        send_at: Not before this time, at most 90 days ahead; default: at once. Until then DELETE withdraws it.
        resubmits: The consent id of a message of this mailbox that a person sent back with a comment: this is the changed message. It is held in any case, and shown with its earlier versions.
        client_id: Your own id of the message. The same message again with it is answered 200 with the first one, and nothing is sent; another message with it is a conflict. So a request whose answer was lost can be repeated safely. Do not use an id for two messages.
        """
        request = self._request("POST", "/api/mailbox/messages/{mid}/forward", (message_id,), body={"to": to, "cc": cc, "bcc": bcc, "subject": subject, "from": from_, "replyTo": reply_to, "text": text, "html": html, "attachments": attachments, "labels": labels, "headers": headers, "sendAt": send_at, "resubmits": resubmits, "clientId": client_id}, idempotency_key=idempotency_key)
        answer = await self._send(request)
        if answer.status_code == 201:
            return self._parse(m.SentMessage, answer)
        if answer.status_code == 202:
            return self._parse(m.HeldMessage, answer)
        return self._parse(m.RepeatedMessage, answer)

    async def message_status(
        self,
        message_id: str,
    ) -> m.MessageStatus:
        """Get the status of a sent message."""
        request = self._request("GET", "/api/mailbox/messages/{mid}/status", (message_id,))
        return self._parse(m.MessageStatus, await self._send(request))

    def list_drafts(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.DraftSummary]:
        """List drafts, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/mailbox/drafts", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.DraftList)

    async def create_draft(
        self,
        *,
        from_: str | NotGiven = NOT_GIVEN,
        to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        cc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        bcc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        subject: str | NotGiven = NOT_GIVEN,
        reply_to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        attachments: Sequence[m.NewAttachment] | NotGiven = NOT_GIVEN,
        labels: Sequence[str] | NotGiven = NOT_GIVEN,
        headers: Mapping[str, str] | NotGiven = NOT_GIVEN,
        text: str | NotGiven = NOT_GIVEN,
        html: str | NotGiven = NOT_GIVEN,
        send_at: datetime | str | NotGiven = NOT_GIVEN,
        in_reply_to: str | NotGiven = NOT_GIVEN,
        reply_all: bool | NotGiven = NOT_GIVEN,
        client_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.CreatedDraft:
        """Save a new draft.

        from_: The address of the mailbox, or one of its aliases, to write as. Default: the address of the mailbox; of a reply: the alias that the message came to.
        to: One recipient or a list, as `a@b.c` or `Name <a@b.c>`.
        cc: Copies.
        bcc: Recipients that the others do not see.
        reply_to: Address for replies, instead of the mailbox.
        labels: Of the copy in Sent.
        headers: Further header fields, such as `X-Campaign`. Those the service sets itself are refused.
        send_at: Send it at this time, once it is submitted; stored with the draft.
        in_reply_to: The message it answers. Without to, cc and bcc it is addressed like a reply to all. Default subject: `Re:` and the subject of that message.
        reply_all: With inReplyTo; `false`: addressed to the sender only. Default: true.
        client_id: Your own id of the draft. As long as that is a draft, creating the same one again is answered 200 with the first one, and another one with the id is a conflict.
        """
        request = self._request("POST", "/api/mailbox/drafts", body={"from": from_, "to": to, "cc": cc, "bcc": bcc, "subject": subject, "replyTo": reply_to, "attachments": attachments, "labels": labels, "headers": headers, "text": text, "html": html, "sendAt": send_at, "inReplyTo": in_reply_to, "replyAll": reply_all, "clientId": client_id}, idempotency_key=idempotency_key)
        return self._parse(m.CreatedDraft, await self._send(request))

    async def get_draft(
        self,
        draft_id: str,
    ) -> m.Draft:
        """Get a draft."""
        request = self._request("GET", "/api/mailbox/drafts/{did}", (draft_id,))
        return self._parse(m.Draft, await self._send(request))

    async def update_draft(
        self,
        draft_id: str,
        *,
        from_: str | NotGiven = NOT_GIVEN,
        to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        cc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        bcc: str | Sequence[str] | NotGiven = NOT_GIVEN,
        subject: str | NotGiven = NOT_GIVEN,
        reply_to: str | Sequence[str] | NotGiven = NOT_GIVEN,
        attachments: Sequence[m.NewAttachment] | NotGiven = NOT_GIVEN,
        labels: Sequence[str] | NotGiven = NOT_GIVEN,
        headers: Mapping[str, str] | NotGiven = NOT_GIVEN,
        text: str | None | NotGiven = NOT_GIVEN,
        html: str | None | NotGiven = NOT_GIVEN,
        send_at: datetime | str | None | NotGiven = NOT_GIVEN,
    ) -> m.Draft:
        """Save a draft again.

        from_: The address of the mailbox, or one of its aliases, to write as. Default: the address of the mailbox; of a reply: the alias that the message came to.
        to: One recipient or a list, as `a@b.c` or `Name <a@b.c>`.
        cc: Copies.
        bcc: Recipients that the others do not see.
        reply_to: Address for replies, instead of the mailbox.
        labels: Of the copy in Sent.
        headers: Further header fields, such as `X-Campaign`. Those the service sets itself are refused.
        send_at: Not before this time, at most 90 days ahead; default: at once. Until then DELETE withdraws it.
        """
        request = self._request("PATCH", "/api/mailbox/drafts/{did}", (draft_id,), body={"from": from_, "to": to, "cc": cc, "bcc": bcc, "subject": subject, "replyTo": reply_to, "attachments": attachments, "labels": labels, "headers": headers, "text": text, "html": html, "sendAt": send_at})
        return self._parse(m.Draft, await self._send(request))

    async def delete_draft(
        self,
        draft_id: str,
    ) -> None:
        """Delete a draft."""
        request = self._request("DELETE", "/api/mailbox/drafts/{did}", (draft_id,))
        await self._send(request)

    async def send_draft(
        self,
        draft_id: str,
        *,
        send_at: datetime | str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.RepeatedMessage | m.SentMessage | m.HeldMessage:
        """Send a draft.

        send_at: Replaces the stored time; null: at once.
        """
        request = self._request("POST", "/api/mailbox/drafts/{did}/send", (draft_id,), body={"sendAt": send_at}, idempotency_key=idempotency_key)
        answer = await self._send(request)
        if answer.status_code == 201:
            return self._parse(m.SentMessage, answer)
        if answer.status_code == 202:
            return self._parse(m.HeldMessage, answer)
        return self._parse(m.RepeatedMessage, answer)

    def list_threads(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        format: Literal["full", "model"] | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.ThreadSummary]:
        """List threads, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        format: `full` (default): the fields alone. `model`: with `modelText` for a language model, without characters that a person cannot see, which says that mail is data and not instructions.
        """
        request = self._request("GET", "/api/mailbox/threads", query={"limit": limit, "cursor": cursor, "format": format})
        return AsyncPagedList(self._transport, request, m.ThreadList)

    async def get_thread(
        self,
        thread_id: str,
        *,
        format: Literal["full", "model"] | NotGiven = NOT_GIVEN,
    ) -> m.Thread:
        """Get a thread.

        format: `full` (default): the fields alone. `model`: with `modelText` for a language model, without characters that a person cannot see, which says that mail is data and not instructions.
        """
        request = self._request("GET", "/api/mailbox/threads/{tid}", (thread_id,), query={"format": format})
        return self._parse(m.Thread, await self._send(request))

    async def list_folders(
        self,
    ) -> m.FolderList:
        """List the folders of a mailbox."""
        request = self._request("GET", "/api/mailbox/folders")
        return self._parse(m.FolderList, await self._send(request))


class AsyncMail(AsyncResource):
    """Mail of the organization."""

    def messages(
        self,
        *,
        folder: str | NotGiven = NOT_GIVEN,
        label: str | NotGiven = NOT_GIVEN,
        unread: bool | NotGiven = NOT_GIVEN,
        from_: str | NotGiven = NOT_GIVEN,
        to: str | NotGiven = NOT_GIVEN,
        subject: str | NotGiven = NOT_GIVEN,
        since: datetime | str | NotGiven = NOT_GIVEN,
        until: datetime | str | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        format: Literal["full", "model"] | NotGiven = NOT_GIVEN,
        group: str | NotGiven = NOT_GIVEN,
        mailbox_id: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.MessageSummary]:
        """List messages of all mailboxes, newest first.

        folder: Name of a folder, such as `Sent` or `Junk`; `*`: all folders, without junk. Default: INBOX, or with `label` all folders.
        label: A label of the message.
        unread: Only unread ones, or only read ones.
        from_: Part of the sender’s name or address.
        to: Part of a recipient’s name or address, Cc included.
        subject: Part of the subject.
        since: Received at this time or later.
        until: Received before this time.
        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        format: `full` (default): the fields alone. `model`: with `modelText` for a language model, without characters that a person cannot see, which says that mail is data and not instructions.
        group: Name of a group of mailboxes: lower-case letters and digits, with hyphens, dots or underscores between them.
        mailbox_id: Only this mailbox. Default: all that the credential has access to.
        """
        request = self._request("GET", "/api/messages", query={"folder": folder, "label": label, "unread": unread, "from": from_, "to": to, "subject": subject, "since": since, "until": until, "limit": limit, "cursor": cursor, "format": format, "group": group, "mailboxId": mailbox_id})
        return AsyncPagedList(self._transport, request, m.MessageList)

    def search(
        self,
        *,
        q: str,
        folder: str | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        format: Literal["full", "model"] | NotGiven = NOT_GIVEN,
        group: str | NotGiven = NOT_GIVEN,
        mailbox_id: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.SearchHit]:
        """Search messages of all mailboxes by their words.

        q: Words to look for.
        folder: Name of a folder; default: all, without junk.
        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        format: `full` (default): the fields alone. `model`: with `modelText` for a language model, without characters that a person cannot see, which says that mail is data and not instructions.
        group: Name of a group of mailboxes: lower-case letters and digits, with hyphens, dots or underscores between them.
        mailbox_id: Only this mailbox. Default: all that the credential has access to.
        """
        request = self._request("GET", "/api/messages/search", query={"q": q, "folder": folder, "limit": limit, "cursor": cursor, "format": format, "group": group, "mailboxId": mailbox_id})
        return AsyncPagedList(self._transport, request, m.SearchHitList)

    def threads(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        format: Literal["full", "model"] | NotGiven = NOT_GIVEN,
        group: str | NotGiven = NOT_GIVEN,
        mailbox_id: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.ThreadSummary]:
        """List threads of all mailboxes, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        format: `full` (default): the fields alone. `model`: with `modelText` for a language model, without characters that a person cannot see, which says that mail is data and not instructions.
        group: Name of a group of mailboxes: lower-case letters and digits, with hyphens, dots or underscores between them.
        mailbox_id: Only this mailbox. Default: all that the credential has access to.
        """
        request = self._request("GET", "/api/threads", query={"limit": limit, "cursor": cursor, "format": format, "group": group, "mailboxId": mailbox_id})
        return AsyncPagedList(self._transport, request, m.ThreadList)


class AsyncFiles(AsyncResource):
    """Files that are uploaded once and attached by their id."""

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.UploadedFile]:
        """List uploaded files, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/mailbox/files", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.UploadedFileList)

    async def create_upload(
        self,
        *,
        filename: str,
        content_type: str | NotGiven = NOT_GIVEN,
        size_bytes: int | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.Upload:
        """Make an upload URL.

        filename: Name of the file.
        content_type: Default: `application/octet-stream`.
        size_bytes: Bytes that the upload may have at most. Default: the limit of a file. They are reserved meanwhile.
        """
        request = self._request("POST", "/api/mailbox/files/uploads", body={"filename": filename, "contentType": content_type, "sizeBytes": size_bytes}, idempotency_key=idempotency_key)
        return self._parse(m.Upload, await self._send(request))

    async def get(
        self,
        file_id: str,
    ) -> m.UploadedFile:
        """Get an uploaded file."""
        request = self._request("GET", "/api/mailbox/files/{fid}", (file_id,))
        return self._parse(m.UploadedFile, await self._send(request))

    async def delete(
        self,
        file_id: str,
    ) -> None:
        """Delete an uploaded file."""
        request = self._request("DELETE", "/api/mailbox/files/{fid}", (file_id,), repeatable=False)
        await self._send(request)


class AsyncConsents(AsyncResource):
    """Consents of the organization."""

    def list(
        self,
        *,
        status: Literal["pending", "approved", "denied"] | NotGiven = NOT_GIVEN,
        order: Literal["newest", "oldest", "risk"] | NotGiven = NOT_GIVEN,
        mailbox_id: str | NotGiven = NOT_GIVEN,
        recipient: str | NotGiven = NOT_GIVEN,
        held_because: Literal["first_contact", "always", "carries_other_mail", "reply_target", "opaque_links", "unknown_sender_read", "over_message_budget", "over_new_recipient_budget", "resubmitted", "not_recorded"] | NotGiven = NOT_GIVEN,
        created_after: datetime | str | NotGiven = NOT_GIVEN,
        created_before: datetime | str | NotGiven = NOT_GIVEN,
        q: str | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.Consent]:
        """List requests for consent.

        order: Which request comes first (default newest). `risk`: the highest risk, and of the same risk the oldest.
        mailbox_id: Mailbox id.
        recipient: Only those about this address, or about an address of this domain.
        created_after: Only those made at this time or later.
        created_before: Only those made before this time.
        q: Part of a recipient, the subject or the first words; case does not matter.
        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/consents", query={"status": status, "order": order, "mailboxId": mailbox_id, "recipient": recipient, "heldBecause": held_because, "createdAfter": created_after, "createdBefore": created_before, "q": q, "limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.ConsentList)

    async def summary(
        self,
        *,
        mailbox_id: str | NotGiven = NOT_GIVEN,
        recipient: str | NotGiven = NOT_GIVEN,
        held_because: Literal["first_contact", "always", "carries_other_mail", "reply_target", "opaque_links", "unknown_sender_read", "over_message_budget", "over_new_recipient_budget", "resubmitted", "not_recorded"] | NotGiven = NOT_GIVEN,
        created_after: datetime | str | NotGiven = NOT_GIVEN,
        created_before: datetime | str | NotGiven = NOT_GIVEN,
        q: str | NotGiven = NOT_GIVEN,
    ) -> m.ConsentSummary:
        """Count what waits for a decision.

        mailbox_id: Mailbox id.
        recipient: Only those about this address, or about an address of this domain.
        created_after: Only those made at this time or later.
        created_before: Only those made before this time.
        q: Part of a recipient, the subject or the first words; case does not matter.
        """
        request = self._request("GET", "/api/consents/summary", query={"mailboxId": mailbox_id, "recipient": recipient, "heldBecause": held_because, "createdAfter": created_after, "createdBefore": created_before, "q": q})
        return self._parse(m.ConsentSummary, await self._send(request))

    async def get(
        self,
        id: str,
    ) -> m.Consent:
        """Get a request for consent."""
        request = self._request("GET", "/api/consents/{id}", (id,))
        return self._parse(m.Consent, await self._send(request))

    async def approve(
        self,
        id: str,
        *,
        scope: Literal["message", "address", "domain"],
        edit: m.ConsentEdit | NotGiven = NOT_GIVEN,
        sha256: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.Consent:
        """Approve a held message.

        scope: `message`: this message, and replies to its recipients in its thread, which contain nothing of other mail. `address`, `domain`: from now on its recipients, or everybody at their domains; this also releases other held messages that it covers.
        sha256: The `sha256` of the message that the person was shown. If the message has changed since, nothing is decided and the answer is a conflict.
        """
        request = self._request("POST", "/api/consents/{id}/approve", (id,), body={"edit": edit, "sha256": sha256, "scope": scope}, idempotency_key=idempotency_key)
        return self._parse(m.Consent, await self._send(request))

    async def deny(
        self,
        id: str,
        *,
        reason: str | NotGiven = NOT_GIVEN,
        sha256: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.Consent:
        """Deny a held message.

        sha256: The `sha256` of the message that the person was shown. If the message has changed since, nothing is decided and the answer is a conflict.
        """
        request = self._request("POST", "/api/consents/{id}/deny", (id,), body={"reason": reason, "sha256": sha256}, idempotency_key=idempotency_key)
        return self._parse(m.Consent, await self._send(request))

    async def send_back(
        self,
        id: str,
        *,
        comment: str,
        sha256: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.Consent:
        """Send a held message back with a comment.

        comment: What the agent should change.
        sha256: The `sha256` of the message that the person was shown. If the message has changed since, nothing is decided and the answer is a conflict.
        """
        request = self._request("POST", "/api/consents/{id}/return", (id,), body={"comment": comment, "sha256": sha256}, idempotency_key=idempotency_key)
        return self._parse(m.Consent, await self._send(request))

    async def deny_several(
        self,
        *,
        consent_ids: Sequence[str],
        reason: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.SeveralDenied:
        """Deny several held messages.

        consent_ids: Those that a person was shown: requests that came later are not denied.
        """
        request = self._request("POST", "/api/consents/deny", body={"consentIds": consent_ids, "reason": reason}, idempotency_key=idempotency_key)
        return self._parse(m.SeveralDenied, await self._send(request))

    async def decide_several(
        self,
        *,
        decision: Literal["approve", "deny"],
        shown: Sequence[m.ShownRequest],
        reason: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.SeveralDecided:
        """Decide about several messages that were shown together.

        decision: `approve`: with the scope `message`.
        shown: The requests whose whole messages a person was shown, each with the `sha256` of what was shown.
        reason: Of a denial.
        """
        request = self._request("POST", "/api/consents/decide", body={"decision": decision, "shown": shown, "reason": reason}, idempotency_key=idempotency_key)
        return self._parse(m.SeveralDecided, await self._send(request))

    async def take_back(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Consent:
        """Take an approval back."""
        request = self._request("POST", "/api/consents/{id}/take-back", (id,), idempotency_key=idempotency_key)
        return self._parse(m.Consent, await self._send(request))

    async def message(
        self,
        id: str,
    ) -> m.ConsentMessage:
        """Get the whole held message."""
        request = self._request("GET", "/api/consents/{id}/message", (id,))
        return self._parse(m.ConsentMessage, await self._send(request))

    async def raw_message(
        self,
        id: str,
    ) -> Download:
        """Download the raw held message."""
        request = self._request("GET", "/api/consents/{id}/message/raw", (id,))
        return Download.of(await self._send(request))

    async def attachment(
        self,
        id: str,
        attachment_id: str,
    ) -> Download:
        """Download an attachment of a held message."""
        request = self._request("GET", "/api/consents/{id}/message/attachments/{aid}", (id, attachment_id,))
        return Download.of(await self._send(request))


class AsyncLists(AsyncResource):
    """Lists of the organization."""

    def inbound_allow(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.ListEntry]:
        """List the inbound allow list, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/lists/inbound/allow", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.ListEntryList)

    async def add_inbound_allow(
        self,
        *,
        value: str,
        mailbox_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.ListEntry:
        """Add to the inbound allow list.

        value: An address or a domain.
        mailbox_id: Only for this mailbox; default: for all.
        """
        request = self._request("POST", "/api/lists/inbound/allow", body={"value": value, "mailboxId": mailbox_id}, idempotency_key=idempotency_key)
        return self._parse(m.ListEntry, await self._send(request))

    async def remove_inbound_allow(
        self,
        id: str,
    ) -> None:
        """Remove from the inbound allow list."""
        request = self._request("DELETE", "/api/lists/inbound/allow/{id}", (id,))
        await self._send(request)

    def inbound_block(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.ListEntry]:
        """List the inbound block list, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/lists/inbound/block", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.ListEntryList)

    async def add_inbound_block(
        self,
        *,
        value: str,
        mailbox_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.ListEntry:
        """Add to the inbound block list.

        value: An address or a domain.
        mailbox_id: Only for this mailbox; default: for all.
        """
        request = self._request("POST", "/api/lists/inbound/block", body={"value": value, "mailboxId": mailbox_id}, idempotency_key=idempotency_key)
        return self._parse(m.ListEntry, await self._send(request))

    async def remove_inbound_block(
        self,
        id: str,
    ) -> None:
        """Remove from the inbound block list."""
        request = self._request("DELETE", "/api/lists/inbound/block/{id}", (id,))
        await self._send(request)

    def outbound_allow(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.ListEntry]:
        """List the outbound allow list, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/lists/outbound/allow", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.ListEntryList)

    async def add_outbound_allow(
        self,
        *,
        value: str,
        mailbox_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.ListEntry:
        """Add to the outbound allow list.

        value: An address or a domain.
        mailbox_id: Only for this mailbox; default: for all.
        """
        request = self._request("POST", "/api/lists/outbound/allow", body={"value": value, "mailboxId": mailbox_id}, idempotency_key=idempotency_key)
        return self._parse(m.ListEntry, await self._send(request))

    async def remove_outbound_allow(
        self,
        id: str,
    ) -> None:
        """Remove from the outbound allow list."""
        request = self._request("DELETE", "/api/lists/outbound/allow/{id}", (id,))
        await self._send(request)

    def outbound_block(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.ListEntry]:
        """List the outbound block list, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/lists/outbound/block", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.ListEntryList)

    async def add_outbound_block(
        self,
        *,
        value: str,
        mailbox_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.ListEntry:
        """Add to the outbound block list.

        value: An address or a domain.
        mailbox_id: Only for this mailbox; default: for all.
        """
        request = self._request("POST", "/api/lists/outbound/block", body={"value": value, "mailboxId": mailbox_id}, idempotency_key=idempotency_key)
        return self._parse(m.ListEntry, await self._send(request))

    async def remove_outbound_block(
        self,
        id: str,
    ) -> None:
        """Remove from the outbound block list."""
        request = self._request("DELETE", "/api/lists/outbound/block/{id}", (id,))
        await self._send(request)

    async def test(
        self,
        *,
        direction: Literal["inbound", "outbound"],
        address: str,
        mailbox_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.ListVerdict:
        """Evaluate the lists for an address.

        address: Address of the other side.
        mailbox_id: Include the entries of this mailbox.
        """
        request = self._request("POST", "/api/lists/test", body={"direction": direction, "address": address, "mailboxId": mailbox_id}, idempotency_key=idempotency_key)
        return self._parse(m.ListVerdict, await self._send(request))


class AsyncStandingApprovals(AsyncResource):
    """StandingApprovals of the organization."""

    def list(
        self,
        *,
        mailbox_id: str | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.StandingApproval]:
        """List standing approvals, newest first.

        mailbox_id: Mailbox id.
        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/standing-approvals", query={"mailboxId": mailbox_id, "limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.StandingApprovalList)

    async def create(
        self,
        *,
        mailbox_id: str,
        recipients: Sequence[str],
        ends_at: datetime | str,
        messages_max: int,
        idempotency_key: str | None = None,
    ) -> m.StandingApproval:
        """Approve messages of a mailbox in advance.

        mailbox_id: Mailbox id.
        recipients: Addresses, and domains without their subdomains.
        ends_at: When it ends, at most 90 days ahead.
        messages_max: How many messages may be submitted by it.
        """
        request = self._request("POST", "/api/standing-approvals", body={"mailboxId": mailbox_id, "recipients": recipients, "endsAt": ends_at, "messagesMax": messages_max}, idempotency_key=idempotency_key)
        return self._parse(m.StandingApproval, await self._send(request))

    async def revoke(
        self,
        id: str,
    ) -> None:
        """Revoke a standing approval."""
        request = self._request("DELETE", "/api/standing-approvals/{id}", (id,))
        await self._send(request)


class AsyncDecisionRules(AsyncResource):
    """DecisionRules of the organization."""

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.DecisionRule]:
        """List the rules who decides.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/decision-rules", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.DecisionRuleList)

    async def create(
        self,
        *,
        mailbox_group: str | None | NotGiven = NOT_GIVEN,
        recipients: Sequence[str] | NotGiven = NOT_GIVEN,
        member_ids: Sequence[str] | NotGiven = NOT_GIVEN,
        persons: int | NotGiven = NOT_GIVEN,
        hours: m.DutyHours | None | NotGiven = NOT_GIVEN,
        escalates_after_hours: int | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.DecisionRule:
        """Say who decides about held messages.

        mailbox_group: Only messages of mailboxes of this group; null: of all.
        recipients: Only messages to one of these addresses or domains; empty: to anybody.
        member_ids: Members who are responsible; empty: the rule names nobody, and is about two persons.
        persons: 2: an approval waits for a second one by another person. One denial is enough.
        escalates_after_hours: After so many hours (default 8) without a decision every member is asked, and may decide.
        """
        request = self._request("POST", "/api/decision-rules", body={"mailboxGroup": mailbox_group, "recipients": recipients, "memberIds": member_ids, "persons": persons, "hours": hours, "escalatesAfterHours": escalates_after_hours}, idempotency_key=idempotency_key)
        return self._parse(m.DecisionRule, await self._send(request))

    async def delete(
        self,
        id: str,
    ) -> None:
        """Delete a rule."""
        request = self._request("DELETE", "/api/decision-rules/{id}", (id,))
        await self._send(request)


class AsyncDeputies(AsyncResource):
    """Deputies of the organization."""

    async def get(
        self,
    ) -> m.DeputyOfMember:
        """Get who decides for you."""
        request = self._request("GET", "/api/sessions/current/deputy")
        return self._parse(m.DeputyOfMember, await self._send(request))

    async def name(
        self,
        *,
        deputy: m.Deputy | None,
    ) -> m.DeputyOfMember:
        """Name a member who decides for you."""
        request = self._request("PUT", "/api/sessions/current/deputy", body={"deputy": deputy})
        return self._parse(m.DeputyOfMember, await self._send(request))


class AsyncSuppressions(AsyncResource):
    """Suppressions of the organization."""

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        address: str | NotGiven = NOT_GIVEN,
        reason: Literal["hard_bounce", "complaint"] | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.Suppression]:
        """List suppressed addresses, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        address: Only the entry of this address.
        reason: `hard_bounce`: there is no such address (5.1.x). `complaint`: its owner reported a message as abuse.
        """
        request = self._request("GET", "/api/suppressions", query={"limit": limit, "cursor": cursor, "address": address, "reason": reason})
        return AsyncPagedList(self._transport, request, m.SuppressionList)

    async def remove(
        self,
        id: str,
    ) -> None:
        """Allow writing to an address again."""
        request = self._request("DELETE", "/api/suppressions/{id}", (id,))
        await self._send(request)


class AsyncDomains(AsyncResource):
    """Domains of the organization."""

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.Domain]:
        """List own domains, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/domains", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.DomainList)

    async def create(
        self,
        *,
        name: str,
        idempotency_key: str | None = None,
    ) -> m.Domain:
        """Add an own domain."""
        request = self._request("POST", "/api/domains", body={"name": name}, idempotency_key=idempotency_key)
        return self._parse(m.Domain, await self._send(request))

    async def default(
        self,
    ) -> m.DefaultDomain:
        """Get the records of the domain of the instance."""
        request = self._request("GET", "/api/domains/default")
        return self._parse(m.DefaultDomain, await self._send(request))

    async def get(
        self,
        id: str,
    ) -> m.Domain:
        """Get a domain with its records."""
        request = self._request("GET", "/api/domains/{id}", (id,))
        return self._parse(m.Domain, await self._send(request))

    async def update(
        self,
        id: str,
        *,
        catch_all_mailbox_id: str | None,
    ) -> m.Domain:
        """Set the catch-all of a domain.

        catch_all_mailbox_id: A mailbox of the organization; null: mail to unknown addresses is refused.
        """
        request = self._request("PATCH", "/api/domains/{id}", (id,), body={"catchAllMailboxId": catch_all_mailbox_id})
        return self._parse(m.Domain, await self._send(request))

    async def delete(
        self,
        id: str,
    ) -> None:
        """Delete a domain."""
        request = self._request("DELETE", "/api/domains/{id}", (id,))
        await self._send(request)

    async def verify(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Domain:
        """Look at DNS now."""
        request = self._request("POST", "/api/domains/{id}/verify", (id,), idempotency_key=idempotency_key)
        return self._parse(m.Domain, await self._send(request))

    async def reports(
        self,
        *,
        domain: str | NotGiven = NOT_GIVEN,
        days: int | NotGiven = NOT_GIVEN,
    ) -> m.DomainReportList:
        """What other hosts report about mail of the domains.

        domain: Only reports about this domain.
        days: Reports about the last days (default: 30).
        """
        request = self._request("GET", "/api/domain-reports", query={"domain": domain, "days": days})
        return self._parse(m.DomainReportList, await self._send(request))


class AsyncNotices(AsyncResource):
    """Notices of the organization."""

    async def settings(
        self,
    ) -> m.NoticeSettings:
        """Get how you are notified of mail that waits for approval."""
        request = self._request("GET", "/api/sessions/current/notices")
        return self._parse(m.NoticeSettings, await self._send(request))

    async def change(
        self,
        *,
        approvals: Literal["at_once", "hourly", "none"],
        incoming: Literal["at_once", "digest", "none"] | NotGiven = NOT_GIVEN,
        digest: m.DigestSchedule | None | NotGiven = NOT_GIVEN,
        quiet_hours: m.DutyHours | None | NotGiven = NOT_GIVEN,
        chat: m.NewChatWebhook | None | NotGiven = NOT_GIVEN,
    ) -> m.NoticeSettings:
        """Choose how you are notified of mail that waits for approval.

        approvals: When mail about held messages is sent to you. `at_once` (default): the first at once, further ones within 5 minutes together; `hourly`: together at full hours, UTC; `none`.
        incoming: When mail about held incoming mail is sent to you. `digest` (default): in the digest; `at_once`: all of the last minutes together, at most every 15 minutes and 12 times a day; `none`.
        """
        request = self._request("PUT", "/api/sessions/current/notices", body={"approvals": approvals, "incoming": incoming, "digest": digest, "quietHours": quiet_hours, "chat": chat})
        return self._parse(m.NoticeSettings, await self._send(request))

    async def test_chat(
        self,
        *,
        idempotency_key: str | None = None,
    ) -> m.ChatTest:
        """Send a test message to your chat webhook."""
        request = self._request("POST", "/api/sessions/current/notices/test", idempotency_key=idempotency_key)
        return self._parse(m.ChatTest, await self._send(request))

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.MemberNotice]:
        """List what the service sent to members and invited people, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/notices", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.MemberNoticeList)


class AsyncSessions(AsyncResource):
    """Sessions of the organization."""

    async def list(
        self,
    ) -> m.SessionList:
        """List where you are signed in."""
        request = self._request("GET", "/api/sessions")
        return self._parse(m.SessionList, await self._send(request))

    async def end_others(
        self,
    ) -> None:
        """Sign out everywhere else."""
        request = self._request("DELETE", "/api/sessions")
        await self._send(request)

    async def current(
        self,
    ) -> m.Session:
        """The session of this token."""
        request = self._request("GET", "/api/sessions/current")
        return self._parse(m.Session, await self._send(request))

    async def sign_out(
        self,
    ) -> None:
        """Sign out."""
        request = self._request("DELETE", "/api/sessions/current")
        await self._send(request)

    async def change_password(
        self,
        *,
        current_password: str,
        new_password: str,
    ) -> None:
        """Change the password."""
        request = self._request("PUT", "/api/sessions/current/password", body={"currentPassword": current_password, "newPassword": new_password})
        await self._send(request)

    async def end(
        self,
        id: str,
    ) -> None:
        """End one of your sessions."""
        request = self._request("DELETE", "/api/sessions/{id}", (id,))
        await self._send(request)


class AsyncDevice(AsyncResource):
    """Signing in on a device without a browser (RFC 8628)."""

    async def begin(
        self,
        *,
        name: str,
        idempotency_key: str | None = None,
    ) -> m.DeviceSignIn:
        """Begin to sign in on a device.

        name: What the person sees, such as the program and the name of the machine.
        """
        request = self._request("POST", "/api/device-sign-ins", body={"name": name}, idempotency_key=idempotency_key)
        return self._parse(m.DeviceSignIn, await self._send(request))

    async def session(
        self,
        *,
        device_code: str,
        idempotency_key: str | None = None,
    ) -> m.DeviceSession:
        """Take the session of a device."""
        request = self._request("POST", "/api/device-sign-ins/session", body={"deviceCode": device_code}, idempotency_key=idempotency_key)
        return self._parse(m.DeviceSession, await self._send(request))


class AsyncOrganization(AsyncResource):
    """The organization of the credential: its settings, and the brakes of its sending."""

    async def get(
        self,
    ) -> m.Organization:
        """The active organization."""
        request = self._request("GET", "/api/organization")
        return self._parse(m.Organization, await self._send(request))

    async def update(
        self,
        *,
        name: str | NotGiven = NOT_GIVEN,
        slug: str | NotGiven = NOT_GIVEN,
        settings: m.OrganizationSettingsChanges | NotGiven = NOT_GIVEN,
    ) -> m.Organization:
        """Change name, slug or settings."""
        request = self._request("PATCH", "/api/organization", body={"name": name, "slug": slug, "settings": settings})
        return self._parse(m.Organization, await self._send(request))

    async def sending(
        self,
    ) -> m.OrganizationSending:
        """Brakes of sending, and what was sent today."""
        request = self._request("GET", "/api/organization/sending")
        return self._parse(m.OrganizationSending, await self._send(request))

    async def usage(
        self,
        *,
        from_: str | NotGiven = NOT_GIVEN,
        to: str | NotGiven = NOT_GIVEN,
    ) -> m.Usage:
        """Mailboxes, storage, messages and deliveries, now and by day.

        from_: First day, UTC (default: 30 days up to `to`).
        to: Last day, UTC (default: today).
        """
        request = self._request("GET", "/api/usage", query={"from": from_, "to": to})
        return self._parse(m.Usage, await self._send(request))

    def audit(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        action: Literal["alias.created", "alias.deleted", "alias.locked", "alias.updated", "api_key.created", "api_key.deleted", "api_key.updated", "consent.approved", "consent.denied", "consent.first_approved", "consent.returned", "consent.taken_back", "decision_rule.created", "decision_rule.deleted", "domain.catch_all_changed", "domain.created", "domain.deleted", "domain.dkim_key_created", "domain.dkim_key_switched", "domain.verified", "grant.created", "grant.deleted", "held_mail.decided", "invitation.accepted", "invitation.created", "invitation.deleted", "legal_hold.lifted", "legal_hold.set", "list_entry.created", "list_entry.deleted", "mail.dropped", "mail.on_hold", "mail.released", "mail.retried", "mailbox.brakes_changed", "mailbox.canary_forgotten", "mailbox.canary_planted", "mailbox.canary_sent", "mailbox.created", "mailbox.deleted", "mailbox.exported", "mailbox.mail_imported", "mailbox.sending_resumed", "mailbox.test_mail_sent", "mailbox.token_created", "mailbox.token_revoked", "mailbox.token_rotated", "mailbox.updated", "member.deputy_named", "member.password_reset_created", "member.removed", "member.role_changed", "member.second_factor_reset", "notice_settings.updated", "organization.brakes_changed", "organization.created", "organization.plan_changed", "organization.resumed", "organization.suspended", "organization.updated", "session.created", "session.deleted", "standing_approval.created", "standing_approval.revoked", "suppression.deleted", "user.password_changed", "user.password_reset", "user.oidc_linked", "user.oidc_unlinked", "user.passkey_added", "user.passkey_refused", "user.passkey_removed", "user.recovery_code_used", "user.recovery_codes_renewed", "user.second_factor_added", "user.second_factor_removed", "webhook.created", "webhook.deleted", "webhook.deliveries_recovered", "webhook.delivery_resent", "webhook.disabled", "webhook.recovery_cancelled", "webhook.recovery_paused", "webhook.recovery_resumed", "webhook.secret_rotated", "webhook.signing_key_rotated", "webhook.suspended", "webhook.suspension_lifted", "webhook.tested", "webhook.updated"] | NotGiven = NOT_GIVEN,
        actor_id: str | NotGiven = NOT_GIVEN,
        target_id: str | NotGiven = NOT_GIVEN,
        since: datetime | str | NotGiven = NOT_GIVEN,
        until: datetime | str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.AuditEntry]:
        """Who did what, when, from where; newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        since: From this time on.
        until: Before this time.
        """
        request = self._request("GET", "/api/audit", query={"limit": limit, "cursor": cursor, "action": action, "actorId": actor_id, "targetId": target_id, "since": since, "until": until})
        return AsyncPagedList(self._transport, request, m.AuditEntryList)

    async def activity(
        self,
        *,
        q: str,
    ) -> m.ActivityResult:
        """Find what happened to a message, an event or a delivery, or why mail did not arrive.

        q: An id (`msg_…`, `evt_…`, `con_…`, `mrf_…`, or the `webhook-id` `dlv_…`), a Message-ID in angle brackets, an address, a day, hour, minute or second (`2026-11-28`, `2026-11-28T09:16`; UTC, or with an offset), or words of a subject or text. Mail that did not arrive is also found by the address of the client and by the id of the SMTP session or of the REST request.
        """
        request = self._request("GET", "/api/activity", query={"q": q})
        return self._parse(m.ActivityResult, await self._send(request))


class AsyncMembers(AsyncResource):
    """Members of the organization."""

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.Member]:
        """List members.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/members", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.MemberList)

    async def invite(
        self,
        *,
        email: str,
        role: Literal["member", "admin", "owner"] | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.InvitationWithToken:
        """Invite a person."""
        request = self._request("POST", "/api/members", body={"email": email, "role": role}, idempotency_key=idempotency_key)
        return self._parse(m.InvitationWithToken, await self._send(request))

    async def update(
        self,
        id: str,
        *,
        role: Literal["member", "admin", "owner"],
    ) -> m.Member:
        """Change a role."""
        request = self._request("PATCH", "/api/members/{id}", (id,), body={"role": role})
        return self._parse(m.Member, await self._send(request))

    async def remove(
        self,
        id: str,
    ) -> None:
        """Remove a member, or leave."""
        request = self._request("DELETE", "/api/members/{id}", (id,))
        await self._send(request)

    async def reset_password(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.PasswordResetLink:
        """Create a link for a member to choose a new password."""
        request = self._request("POST", "/api/members/{id}/password-reset", (id,), idempotency_key=idempotency_key)
        return self._parse(m.PasswordResetLink, await self._send(request))

    async def reset_second_factor(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> None:
        """Reset a member's second factor."""
        request = self._request("POST", "/api/members/{id}/second-factor-reset", (id,), idempotency_key=idempotency_key)
        await self._send(request)

    def invitations(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.Invitation]:
        """List open invitations.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/invitations", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.InvitationList)

    async def delete_invitation(
        self,
        id: str,
    ) -> None:
        """Withdraw an invitation."""
        request = self._request("DELETE", "/api/invitations/{id}", (id,))
        await self._send(request)


class AsyncKeys(AsyncResource):
    """Keys of the organization."""

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.ApiKey]:
        """List API keys, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/keys", query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.ApiKeyList)

    async def create(
        self,
        *,
        name: str,
        scopes: Sequence[Literal["mailbox:create", "mailbox:read", "mailbox:write", "mailbox:delete", "org:read", "webhook:create", "webhook:read", "webhook:manage"]],
        mailbox_groups: Sequence[str] | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.ApiKeyWithSecret:
        """Create an API key.

        mailbox_groups: The key has access only to the mailboxes in these groups and to what belongs to one of them. Routes about the whole organization, domains, lists and webhooks refuse it. Null: every mailbox.
        expires_at: In the future; null: never.
        """
        request = self._request("POST", "/api/keys", body={"name": name, "scopes": scopes, "mailboxGroups": mailbox_groups, "expiresAt": expires_at}, idempotency_key=idempotency_key)
        return self._parse(m.ApiKeyWithSecret, await self._send(request))

    async def get(
        self,
        id: str,
    ) -> m.ApiKey:
        """Get an API key."""
        request = self._request("GET", "/api/keys/{id}", (id,))
        return self._parse(m.ApiKey, await self._send(request))

    async def update(
        self,
        id: str,
        *,
        name: str | NotGiven = NOT_GIVEN,
        scopes: Sequence[Literal["mailbox:create", "mailbox:read", "mailbox:write", "mailbox:delete", "org:read", "webhook:create", "webhook:read", "webhook:manage"]] | NotGiven = NOT_GIVEN,
        mailbox_groups: Sequence[str] | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | str | None | NotGiven = NOT_GIVEN,
    ) -> m.ApiKey:
        """Change name, scopes, groups of mailboxes or expiry.

        mailbox_groups: The key has access only to the mailboxes in these groups and to what belongs to one of them. Routes about the whole organization, domains, lists and webhooks refuse it. Null: every mailbox.
        expires_at: In the future; null: never.
        """
        request = self._request("PATCH", "/api/keys/{id}", (id,), body={"name": name, "scopes": scopes, "mailboxGroups": mailbox_groups, "expiresAt": expires_at})
        return self._parse(m.ApiKey, await self._send(request))

    async def delete(
        self,
        id: str,
    ) -> None:
        """Revoke an API key."""
        request = self._request("DELETE", "/api/keys/{id}", (id,))
        await self._send(request)


class AsyncWebhooks(AsyncResource):
    """Webhooks of the organization."""

    async def signing_keys(
        self,
    ) -> m.WebhookSigningKeys:
        """Public keys of the `v1a` signatures."""
        request = self._request("GET", "/api/webhooks/signing-keys")
        return self._parse(m.WebhookSigningKeys, await self._send(request))

    async def rotate_signing_key(
        self,
        *,
        overlap_seconds: int | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.WebhookSigningKeys:
        """Replace the key pair of the `v1a` signatures.

        overlap_seconds: Time during which deliveries are signed with both keys. Default 86400. 0: the former key is no longer used.
        """
        request = self._request("POST", "/api/webhooks/signing-keys/rotate", body={"overlapSeconds": overlap_seconds}, idempotency_key=idempotency_key)
        return self._parse(m.WebhookSigningKeys, await self._send(request))

    async def key_set(
        self,
        *,
        organization: str | NotGiven = NOT_GIVEN,
    ) -> m.WebhookKeySet:
        """Public keys of the `v1a` signatures as a JSON Web Key Set.

        organization: Only keys of this organization. Default: the newest 1000 keys of all organizations of this installation.
        """
        request = self._request("GET", "/.well-known/jwks.json", query={"organization": organization})
        return self._parse(m.WebhookKeySet, await self._send(request))

    async def create(
        self,
        *,
        url: str,
        event_types: Sequence[str],
        mailbox_id: str | NotGiven = NOT_GIVEN,
        description: str | NotGiven = NOT_GIVEN,
        auth_header: m.WebhookAuthHeader | NotGiven = NOT_GIVEN,
        public_key_signature: bool | NotGiven = NOT_GIVEN,
        include_extracts: bool | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.WebhookEndpointWithSecret:
        """Create an endpoint.

        url: https, resolvable, and all of its addresses publicly routable; checked now and before every attempt.
        event_types: At least one of `email_received`, `email_sent`, `email_blocked`, `mailbox_created`, `mailbox_deleted`, `outbound_consent_requested`, `outbound_consent_approved`, `outbound_consent_denied`, `email_delivered`, `email_bounced`, `email_complained`; each once.
        mailbox_id: Receive events of this mailbox only. Default: of the whole organization. Cannot be changed later.
        public_key_signature: Also sign deliveries with the key pair of the organization (`v1a`, Ed25519). The receiver verifies this signature with a public key and needs no secret.
        include_extracts: Include one-time codes and links of received mail in `data.extracts` of `email_received`. Anybody who can read the delivery, its history here, or the logs of the receiver can then use the codes.
        """
        request = self._request("POST", "/api/webhooks", body={"url": url, "eventTypes": event_types, "mailboxId": mailbox_id, "description": description, "authHeader": auth_header, "publicKeySignature": public_key_signature, "includeExtracts": include_extracts}, idempotency_key=idempotency_key)
        return self._parse(m.WebhookEndpointWithSecret, await self._send(request))

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        mailbox_id: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.WebhookEndpoint]:
        """List endpoints, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        mailbox_id: Mailbox id.
        """
        request = self._request("GET", "/api/webhooks", query={"limit": limit, "cursor": cursor, "mailboxId": mailbox_id})
        return AsyncPagedList(self._transport, request, m.WebhookEndpointList)

    def event_types(
        self,
    ) -> AsyncPagedList[m.WebhookEventType]:
        """Event types with scopes, schema and example."""
        request = self._request("GET", "/api/webhooks/event-types")
        return AsyncPagedList(self._transport, request, m.WebhookEventTypeList)

    async def check_url(
        self,
        *,
        url: str,
        idempotency_key: str | None = None,
    ) -> m.CheckedWebhookUrl:
        """Check the URL of an endpoint.

        url: https, resolvable, and all of its addresses publicly routable; checked now and before every attempt.
        """
        request = self._request("POST", "/api/webhooks/check-url", body={"url": url}, idempotency_key=idempotency_key)
        return self._parse(m.CheckedWebhookUrl, await self._send(request))

    async def stats(
        self,
        id: str,
        *,
        hours: int | NotGiven = NOT_GIVEN,
    ) -> m.WebhookEndpointStats:
        """Count deliveries by hour and outcome.

        hours: The current hour and those before it (default 24).
        """
        request = self._request("GET", "/api/webhooks/{id}/stats", (id,), query={"hours": hours})
        return self._parse(m.WebhookEndpointStats, await self._send(request))

    async def get(
        self,
        id: str,
    ) -> m.WebhookEndpoint:
        """Get an endpoint."""
        request = self._request("GET", "/api/webhooks/{id}", (id,))
        return self._parse(m.WebhookEndpoint, await self._send(request))

    async def update(
        self,
        id: str,
        *,
        url: str | NotGiven = NOT_GIVEN,
        event_types: Sequence[str] | NotGiven = NOT_GIVEN,
        active: bool | NotGiven = NOT_GIVEN,
        description: str | None | NotGiven = NOT_GIVEN,
        auth_header: m.WebhookAuthHeader | None | NotGiven = NOT_GIVEN,
        public_key_signature: bool | NotGiven = NOT_GIVEN,
        include_extracts: bool | NotGiven = NOT_GIVEN,
        mailbox_id: Any | NotGiven = NOT_GIVEN,
    ) -> m.ChangedWebhookEndpoint:
        """Change an endpoint.

        url: https, resolvable, and all of its addresses publicly routable; checked now and before every attempt.
        event_types: At least one of `email_received`, `email_sent`, `email_blocked`, `mailbox_created`, `mailbox_deleted`, `outbound_consent_requested`, `outbound_consent_approved`, `outbound_consent_denied`, `email_delivered`, `email_bounced`, `email_complained`; each once.
        active: false: no new deliveries, and waiting ones are given up at once.
        public_key_signature: Also sign deliveries with the key pair of the organization (`v1a`, Ed25519). The receiver verifies this signature with a public key and needs no secret.
        include_extracts: Include one-time codes and links of received mail in `data.extracts` of `email_received`. Anybody who can read the delivery, its history here, or the logs of the receiver can then use the codes.
        mailbox_id: Cannot be changed: answers `immutable_field`.
        """
        request = self._request("PATCH", "/api/webhooks/{id}", (id,), body={"url": url, "eventTypes": event_types, "active": active, "description": description, "authHeader": auth_header, "publicKeySignature": public_key_signature, "includeExtracts": include_extracts, "mailboxId": mailbox_id})
        return self._parse(m.ChangedWebhookEndpoint, await self._send(request))

    async def delete(
        self,
        id: str,
    ) -> None:
        """Delete an endpoint."""
        request = self._request("DELETE", "/api/webhooks/{id}", (id,))
        await self._send(request)

    async def rotate_secret(
        self,
        id: str,
        *,
        overlap_seconds: int | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.RotatedSecret:
        """Replace the signing secret.

        overlap_seconds: Time during which attempts have the signatures of both secrets. Default 0.
        """
        request = self._request("POST", "/api/webhooks/{id}/rotate-secret", (id,), body={"overlapSeconds": overlap_seconds}, idempotency_key=idempotency_key)
        return self._parse(m.RotatedSecret, await self._send(request))

    async def trigger(
        self,
        id: str,
        *,
        event_type: Literal["email_received", "email_sent", "email_blocked", "mailbox_created", "mailbox_deleted", "outbound_consent_requested", "outbound_consent_approved", "outbound_consent_denied", "email_delivered", "email_bounced", "email_complained"] | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.Delivery:
        """Send an example event.

        event_type: Default: the first type the endpoint subscribed to.
        """
        request = self._request("POST", "/api/webhooks/{id}/test", (id,), body={"eventType": event_type}, idempotency_key=idempotency_key)
        return self._parse(m.Delivery, await self._send(request))

    async def receiver(
        self,
    ) -> m.WebhookReceiverState:
        """Get the built-in receiver with its requests."""
        request = self._request("GET", "/api/receiver")
        return self._parse(m.WebhookReceiverState, await self._send(request))

    async def open_receiver(
        self,
        *,
        idempotency_key: str | None = None,
    ) -> m.WebhookReceiver:
        """Open the built-in receiver."""
        request = self._request("POST", "/api/receiver", idempotency_key=idempotency_key)
        return self._parse(m.WebhookReceiver, await self._send(request))


class AsyncDeliveries(AsyncResource):
    """Deliveries of the organization."""

    def list(
        self,
        id: str,
        *,
        status: Literal["pending", "success", "failed", "exhausted"] | NotGiven = NOT_GIVEN,
        event_type: Literal["email_received", "email_sent", "email_blocked", "mailbox_created", "mailbox_deleted", "outbound_consent_requested", "outbound_consent_approved", "outbound_consent_denied", "email_delivered", "email_bounced", "email_complained"] | NotGiven = NOT_GIVEN,
        reason: Literal["attempts_exhausted", "endpoint_inactive", "endpoint_deleted", "endpoint_gone", "plan_downgraded", "unsafe_destination", "mailbox_deleted", "organization_suspended"] | NotGiven = NOT_GIVEN,
        response_code: str | NotGiven = NOT_GIVEN,
        since: datetime | str | NotGiven = NOT_GIVEN,
        until: datetime | str | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        offset: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.Delivery]:
        """List deliveries of an endpoint, newest first.

        reason: Why it was given up.
        response_code: Of the last answer: a code such as `503`, a class such as `5xx`, or `none` without an answer.
        since: Created at this time or later.
        until: Created before this time.
        limit: Rows per page (default 50).
        offset: Rows to skip. New rows shift it; `cursor` does not have this problem.
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/webhooks/{id}/deliveries", (id,), query={"status": status, "eventType": event_type, "reason": reason, "responseCode": response_code, "since": since, "until": until, "limit": limit, "offset": offset, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.DeliveryList)

    async def get(
        self,
        id: str,
        draft_id: str,
    ) -> m.DeliveryWithAttempts:
        """Get a delivery with its attempts."""
        request = self._request("GET", "/api/webhooks/{id}/deliveries/{did}", (id, draft_id,))
        return self._parse(m.DeliveryWithAttempts, await self._send(request))

    async def resend(
        self,
        id: str,
        draft_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Delivery:
        """Send a delivery again."""
        request = self._request("POST", "/api/webhooks/{id}/deliveries/{did}/resend", (id, draft_id,), idempotency_key=idempotency_key)
        return self._parse(m.Delivery, await self._send(request))


class AsyncRecoveries(AsyncResource):
    """Recoveries of the organization."""

    async def start(
        self,
        id: str,
        *,
        since: datetime | str,
        until: datetime | str | NotGiven = NOT_GIVEN,
        status: Literal["exhausted", "failed"] | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> m.Recovery:
        """Send given-up deliveries again.

        since: Deliveries created at this time or later.
        until: And before this one. Default, and at most: now.
        status: `exhausted` (default): deliveries that were given up, whatever the reason. `failed`: deliveries that wait for a retry, which is then made now.
        """
        request = self._request("POST", "/api/webhooks/{id}/recover", (id,), body={"since": since, "until": until, "status": status}, idempotency_key=idempotency_key)
        return self._parse(m.Recovery, await self._send(request))

    def list(
        self,
        id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
    ) -> AsyncPagedList[m.Recovery]:
        """List recoveries of an endpoint, newest first.

        limit: Rows per page (default 50).
        cursor: `nextCursor` of the previous page; opaque.
        """
        request = self._request("GET", "/api/webhooks/{id}/recoveries", (id,), query={"limit": limit, "cursor": cursor})
        return AsyncPagedList(self._transport, request, m.RecoveryList)

    async def get(
        self,
        id: str,
        recovery_id: str,
    ) -> m.Recovery:
        """Get a recovery with its progress."""
        request = self._request("GET", "/api/webhooks/{id}/recoveries/{rid}", (id, recovery_id,))
        return self._parse(m.Recovery, await self._send(request))

    async def cancel(
        self,
        id: str,
        recovery_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Recovery:
        """End a recovery."""
        request = self._request("POST", "/api/webhooks/{id}/recoveries/{rid}/cancel", (id, recovery_id,), idempotency_key=idempotency_key)
        return self._parse(m.Recovery, await self._send(request))

    async def pause(
        self,
        id: str,
        recovery_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Recovery:
        """Pause a recovery."""
        request = self._request("POST", "/api/webhooks/{id}/recoveries/{rid}/pause", (id, recovery_id,), idempotency_key=idempotency_key)
        return self._parse(m.Recovery, await self._send(request))

    async def resume(
        self,
        id: str,
        recovery_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Recovery:
        """Resume a paused recovery."""
        request = self._request("POST", "/api/webhooks/{id}/recoveries/{rid}/resume", (id, recovery_id,), idempotency_key=idempotency_key)
        return self._parse(m.Recovery, await self._send(request))


class AsyncOrganizationResources:
    """The resources of an organization."""

    def __init__(self, transport: AsyncTransport) -> None:
        self.mailboxes = AsyncMailboxes(transport)
        self.mail = AsyncMail(transport)
        self.consents = AsyncConsents(transport)
        self.lists = AsyncLists(transport)
        self.standing_approvals = AsyncStandingApprovals(transport)
        self.decision_rules = AsyncDecisionRules(transport)
        self.deputies = AsyncDeputies(transport)
        self.suppressions = AsyncSuppressions(transport)
        self.domains = AsyncDomains(transport)
        self.notices = AsyncNotices(transport)
        self.sessions = AsyncSessions(transport)
        self.organization = AsyncOrganization(transport)
        self.members = AsyncMembers(transport)
        self.keys = AsyncKeys(transport)
        self.webhooks = AsyncWebhooks(transport)
        self.deliveries = AsyncDeliveries(transport)
        self.recoveries = AsyncRecoveries(transport)
