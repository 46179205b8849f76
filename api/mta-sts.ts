/** The MTA-STS policy of the domains served here (RFC 8461 §3.2), at their hosts alone. */
import type Router from '@koa/router';
import { isServedDomain } from '#core/mailboxes/domains.ts';
import { domainOfStsHost, stsPolicy } from '#core/mailboxes/mta-sts.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { RequestState } from './handle.ts';

export function addMtaSts(router: Router<RequestState>, { db, settings }: Pick<Services, 'db' | 'settings'>): void {
  const policy = stsPolicy(settings);
  if (policy === undefined) return;
  router.get('/.well-known/mta-sts.txt', async (context) => {
    const domain = domainOfStsHost(context.hostname);
    if (domain === undefined || !(await isServedDomain(db, settings.MAIL_DOMAIN, domain))) return;
    context.type = 'text/plain';
    context.body = policy;
  });
}
