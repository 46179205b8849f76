/**
 * Names of spans and of their attributes, with what they mean: docs/operations/traces.md lists them, and a test compares.
 * They are stable. Where OpenTelemetry has a name for something, that one is used. Content of mail and of requests,
 * subjects and credentials are in none of them.
 */

export const SPANS = {
  'api.request': 'a request of the API, MCP over HTTP included',
  'smtp.session': 'a connection of another host or of a mail client to a listener of SMTP',
  'smtp.message': 'DATA: from its first byte to the answer',
  'message.store': 'the transaction that stores a received message, with its wait for other writers of the mailbox',
  'message.submit': 'a message is checked, and stored to be sent or held',
  'workflow.start': 'the start of a workflow in Temporal',
  'event.record': 'an event is recorded; attempts of its deliveries are below it',
  'webhook.attempt': 'one request to an endpoint; its id is in the header `traceparent`',
  'mail.attempt': 'one attempt to send a message to one destination',
} as const;
export type SpanName = keyof typeof SPANS;

export const ATTRIBUTES = {
  'http.request.method': 'method of the request',
  'http.response.status_code': 'status of the answer',
  'server.address': 'host of the endpoint, or the other mail host',
  'network.protocol.name': '`smtp`',
  'error.type': 'why it failed, such as the error of an attempt; not set where it worked',
  'agent_mailbox.request.id': 'id that the client got in `X-Request-Id`',
  'agent_mailbox.operation': 'operation of the API',
  'agent_mailbox.session.id': 'id of the SMTP session, as in the mail log',
  'agent_mailbox.listener': '`smtp` or `submission`',
  'agent_mailbox.organization.id': 'id of the organization',
  'agent_mailbox.mailbox.id': 'id of the mailbox',
  'agent_mailbox.message.id': 'id of the message; several of a mail to several mailboxes',
  'agent_mailbox.message.size': 'bytes of the message',
  'agent_mailbox.message.outcome': 'what became of the message: `accepted`, `held`, `scheduled`, …',
  'agent_mailbox.event.id': 'id of the event',
  'agent_mailbox.event.type': 'type of the event',
  'agent_mailbox.delivery.id': 'id of the delivery, the `webhook-id`',
  'agent_mailbox.endpoint.id': 'id of the endpoint',
  'agent_mailbox.attempt.number': 'number of the attempt, from 1 on',
  'agent_mailbox.attempt.kind':
    'what makes the attempt: `fan-out` (the first one), `endpoint` (a later one), `manual` or `recovery`',
  'temporal.workflow.id': 'id of the workflow; of an attempt the one that makes it, if one does',
  'agent_mailbox.mail.from': 'envelope sender; only with TRACE_ADDRESSES',
  'agent_mailbox.mail.to': 'envelope recipients; only with TRACE_ADDRESSES',
} as const;
export type AttributeName = keyof typeof ATTRIBUTES;

/** Values of attributes; those that are undefined are not set. */
export type SpanAttributes = Readonly<Partial<Record<AttributeName, string | number | readonly string[] | undefined>>>;
