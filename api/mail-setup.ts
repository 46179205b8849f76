/**
 * How mail clients set themselves up when they are given an address: autoconfig of Thunderbird and others
 * (https://www.bucksch.org/1/projects/thunderbird/autoconfiguration/config-file-format.html) and Autodiscover of Outlook
 * (MS-OXDSCLI, "plain old XML"). Both answer for domains of this instance, whether the mailbox exists or not.
 */
import type Router from '@koa/router';
import { type MailConnection, type MailListener, mailConnection } from '#core/mailboxes/client-settings.ts';
import { isServedDomain } from '#core/mailboxes/domains.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { RequestState } from './handle.ts';
import { readText } from './http/read-body.ts';

const AUTOCONFIG_PATHS = ['/.well-known/autoconfig/mail/config-v1.1.xml', '/mail/config-v1.1.xml'];
/** Outlook uses both spellings. */
const AUTODISCOVER_PATHS = ['/autodiscover/autodiscover.xml', '/Autodiscover/Autodiscover.xml'];
const REQUEST_MAX_BYTES = 16_384;
const ADDRESS = /^[^\s@<>]{1,64}@([A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}))$/;
const RESPONSE_SCHEMA = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a';

type Setup = Pick<Services, 'settings' | 'db'>;

export function addMailSetup(router: Router<RequestState>, services: Setup): void {
  const { settings, db } = services;
  for (const path of AUTOCONFIG_PATHS)
    router.get(path, async (context) => {
      const given = context.query['emailaddress'];
      const [, domain = settings.MAIL_DOMAIN] = ADDRESS.exec(String(given ?? '')) ?? [];
      if (!(await isServedDomain(db, settings.MAIL_DOMAIN, domain))) return;
      context.type = 'text/xml';
      context.body = autoconfig(domain.toLowerCase(), mailConnection(settings, '%EMAILADDRESS%'));
    });
  for (const path of AUTODISCOVER_PATHS)
    router.post(path, async (context) => {
      const body = await readText(context.req, REQUEST_MAX_BYTES);
      const address = unescapeXml(/<(?:\w+:)?EMailAddress>\s*([^<]*?)\s*<\//i.exec(body)?.[1] ?? '');
      const [, domain] = ADDRESS.exec(address) ?? [];
      const served = domain !== undefined && (await isServedDomain(db, settings.MAIL_DOMAIN, domain));
      context.type = 'text/xml';
      context.body = served ? autodiscover(mailConnection(settings, address)) : autodiscoverError();
    });
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const escapeXml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
const unescapeXml = (text: string): string =>
  Object.entries(ENTITIES)
    .toReversed()
    .reduce((rest, [character, entity]) => rest.replaceAll(entity, character), text);

/** One element per line, indented by the caller. */
const elements = (values: Readonly<Record<string, string | number>>, indent: string): string =>
  Object.entries(values)
    .map(([name, value]) => `${indent}<${name}>${escapeXml(String(value))}</${name}>`)
    .join('\n');

function autoconfig(domain: string, { imap, pop3, smtp }: MailConnection): string {
  const server = (
    kind: 'incomingServer' | 'outgoingServer',
    type: 'imap' | 'pop3' | 'smtp',
    listener: MailListener,
  ) => `    <${kind} type="${type}">
${elements(
  {
    hostname: listener.host,
    port: listener.port,
    socketType: listener.security === 'tls' ? 'SSL' : 'STARTTLS',
    username: listener.username,
    authentication: 'password-cleartext',
  },
  '      ',
)}
    </${kind}>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<clientConfig version="1.1">
  <emailProvider id="${escapeXml(domain)}">
${elements({ domain, displayName: `Agent Mailbox (${domain})`, displayShortName: 'Agent Mailbox' }, '    ')}
${server('incomingServer', 'imap', imap)}
${server('incomingServer', 'pop3', pop3)}
${server('outgoingServer', 'smtp', smtp)}
  </emailProvider>
</clientConfig>
`;
}

function autodiscover({ imap, pop3, smtp }: MailConnection): string {
  const protocol = (type: 'IMAP' | 'POP3' | 'SMTP', listener: MailListener) => `      <Protocol>
${elements(
  {
    Type: type,
    Server: listener.host,
    Port: listener.port,
    DomainRequired: 'off',
    LoginName: listener.username,
    SPA: 'off',
    SSL: listener.security === 'tls' ? 'on' : 'off',
    ...(listener.security === 'tls' ? {} : { Encryption: 'TLS' }),
    AuthRequired: 'on',
  },
  '        ',
)}
      </Protocol>`;
  return `<?xml version="1.0" encoding="utf-8"?>
<Autodiscover xmlns="http://schemas.microsoft.com/exchange/autodiscover/responseschema/2006">
  <Response xmlns="${RESPONSE_SCHEMA}">
    <Account>
      <AccountType>email</AccountType>
      <Action>settings</Action>
${protocol('IMAP', imap)}
${protocol('POP3', pop3)}
${protocol('SMTP', smtp)}
    </Account>
  </Response>
</Autodiscover>
`;
}

/** Error 600 of MS-OXDSCLI: the request cannot be answered. */
const autodiscoverError = (): string => `<?xml version="1.0" encoding="utf-8"?>
<Autodiscover xmlns="http://schemas.microsoft.com/exchange/autodiscover/responseschema/2006">
  <Response>
    <Error>
      <ErrorCode>600</ErrorCode>
      <Message>Invalid request</Message>
      <DebugData />
    </Error>
  </Response>
</Autodiscover>
`;
