import Type from 'typebox';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import { SIGNATURE_VERDICTS } from '#domain/webhooks/webhook-receiver.ts';

export const WebhookReceiver = closed(
  {
    id: Type.String({ pattern: idPattern('receiver') }),
    url: Type.String({ description: 'Create a webhook endpoint with this URL. Requests to it are listed here.' }),
    createdAt: dateTime(),
    expiresAt: dateTime('The receiver and its requests are deleted then.'),
  },
  { title: 'WebhookReceiver' },
);

const ReceivedRequest = closed(
  {
    id: Type.String({ pattern: idPattern('receivedRequest') }),
    receivedAt: dateTime(),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Those of the signature and of the event, in lower case.',
    }),
    body: Type.String(),
    signature: Type.Enum(SIGNATURE_VERDICTS, {
      description:
        '`verified`: a valid signature of a delivery to this address. `failed`: the signature is wrong, or there is no such delivery. `unsigned`: there is no signature.',
    }),
  },
  { title: 'ReceivedRequest' },
);

export const ReceiverState = closed(
  {
    receiver: nullable(WebhookReceiver),
    requests: Type.Array(ReceivedRequest, { description: 'Newest first.' }),
  },
  { title: 'WebhookReceiverState' },
);
