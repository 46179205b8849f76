/** The process `mail`: the listeners of the mail host. The api processes dispatch its webhook deliveries. */
import { sendNotices } from '#core/organizations/member-notices.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { runPart } from '#core/process/run-part.ts';
import { startOutbound } from '#sending/submit/start-outbound.ts';
import { startMail } from './start.ts';

await runPart({
  name: 'mail',
  async start(services, life, readiness) {
    const temporal = connectTemporal(services.settings, services.db);
    life.onStop('Temporal connection', () => temporal.close());
    const mail = await startMail(services, {
      onSubmitted: (submitted) => void startOutbound(services, temporal, submitted),
      onNotices: (notices) => void sendNotices(services, temporal, notices),
    });
    life.onStop('mail', () => mail.close());
    const { close: _close, ...listeners } = mail;
    readiness.useTemporal(temporal);
    services.log.info({ listeners }, 'the mail host listens');
  },
});
