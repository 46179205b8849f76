/** The process `mail`: the doors of the mail host. Deliveries it owes are dispatched by the api processes. */
import { runPart } from '../core/run-part.ts';
import { startOutbound } from '../core/start-outbound.ts';
import { connectTemporal } from '../core/temporal-client.ts';
import { startMail } from './start.ts';

await runPart({
  name: 'mail',
  async start(services, life) {
    const temporal = connectTemporal(services.settings);
    life.onStop('Temporal connection', () => temporal.close());
    const mail = await startMail(services, {
      onSubmitted: (submitted) => void startOutbound(services, temporal, submitted),
    });
    life.onStop('mail', () => mail.close());
    const { close: _close, ...doors } = mail;
    services.log.info({ doors }, 'the mail host listens');
    return temporal;
  },
});
