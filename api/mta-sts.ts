/** The MTA-STS policy of the instance's own domain (RFC 8461 §3.2), at its host alone. */
import type Router from '@koa/router';
import { stsHost, stsPolicy } from '#core/mailboxes/mta-sts.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { RequestState } from './handle.ts';

export function addMtaSts(router: Router<RequestState>, settings: Settings): void {
  const policy = stsPolicy(settings);
  if (policy === undefined) return;
  router.get('/.well-known/mta-sts.txt', (context) => {
    if (context.hostname.toLowerCase() !== stsHost(settings)) return;
    context.type = 'text/plain';
    context.body = policy;
  });
}
