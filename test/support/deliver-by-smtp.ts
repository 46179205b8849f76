import { readFileSync } from 'node:fs';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { ServiceFacts } from '#dev/launcher/service-file.ts';

/** Brings a mail to a started service as another mail server would: by SMTP with STARTTLS. */
export async function deliverBySmtp(
  { smtp, caFile }: Pick<ServiceFacts, 'smtp' | 'caFile'>,
  mail: SendMailOptions,
): Promise<void> {
  const transport = createTransport({
    host: smtp?.host ?? '',
    port: smtp?.port ?? 0,
    requireTLS: true,
    tls: { ca: readFileSync(caFile ?? '') },
  });
  try {
    await transport.sendMail({ from: 'Ada Example <ada@example.org>', ...mail });
  } finally {
    transport.close();
  }
}
