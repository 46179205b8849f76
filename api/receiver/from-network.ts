/** `POST /receiver/<token>`: requests to a built-in receiver from the network, not from our own sender. */
import type Router from '@koa/router';
import type { RequestState } from '#api/handle.ts';
import { readText } from '#api/http/read-body.ts';
import type { Services } from '#core/platform/process/services.ts';
import { receiveFromNetwork } from '#core/webhooks/webhook-receiver.ts';
import { RECEIVER_BODY_MAX_BYTES } from '#domain/webhooks/webhook-receiver.ts';

export function addReceiver(router: Router<RequestState>, services: Services): void {
  router.post('/receiver/:token', async (context) => {
    const { token = '' } = context.params;
    const body = await readText(context.req, RECEIVER_BODY_MAX_BYTES);
    const headers = Object.fromEntries(
      Object.entries(context.req.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
    );
    const { status, text } = await receiveFromNetwork(services, token, { headers, body });
    context.status = status;
    context.type = 'text/plain';
    context.body = `${text}\n`;
  });
}
