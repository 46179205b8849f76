import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type StartedApi, startApi } from '#api/start.ts';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import { openTestServices } from '#test/support/services.ts';

let services: Services;
let temporal: TemporalClient;
let api: StartedApi;
before(async () => {
  services = await openTestServices({
    MAIL_PUBLIC_IMAP_PORT: '993',
    MAIL_PUBLIC_POP3_PORT: '995',
    MAIL_PUBLIC_SUBMISSION_PORT: '465',
  });
  temporal = connectTemporal(services.settings);
  api = await startApi(services, temporal);
});
after(async () => {
  await api.close();
  await temporal.close();
  await services.close();
});

test('autoconfig answers the listeners for mail clients, at both paths', async () => {
  for (const path of ['/.well-known/autoconfig/mail/config-v1.1.xml', '/mail/config-v1.1.xml']) {
    const answer = await fetch(`${api.url}${path}?emailaddress=bot%40Agents.Test`);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/xml/);
    const text = await answer.text();
    assert.match(text, /<emailProvider id="agents\.test">/);
    const [imap = '', pop3 = ''] = text.match(/<incomingServer[^]*?<\/incomingServer>/g) ?? [];
    assert.match(imap, /type="imap"[^]*<hostname>mail\.test<\/hostname>\s*<port>993<\/port>\s*<socketType>SSL</);
    assert.match(pop3, /type="pop3"[^]*<port>995<\/port>/);
    assert.match(
      text,
      /<outgoingServer type="smtp">\s*<hostname>mail\.test<\/hostname>\s*<port>465<\/port>\s*<socketType>SSL<[^]*<username>%EMAILADDRESS%<[^]*<authentication>password-cleartext<[^]*<\/outgoingServer>/,
    );
    assert.match(imap, /<username>%EMAILADDRESS%<\/username>/);
  }
});

test('autoconfig without an address answers for the domain of the instance, and for no foreign one', async () => {
  const path = '/.well-known/autoconfig/mail/config-v1.1.xml';
  assert.match(await (await fetch(`${api.url}${path}`)).text(), /<domain>agents\.test<\/domain>/);
  const foreign = await fetch(`${api.url}${path}?emailaddress=bot%40elsewhere.example`);
  assert.equal(foreign.status, 404);
  const hostile = await fetch(`${api.url}${path}?emailaddress=${encodeURIComponent('a@"><x/>')}`);
  assert.doesNotMatch(await hostile.text(), /<x\/>/);
});

const discover = async (address: string) => {
  const answer = await fetch(`${api.url}/autodiscover/autodiscover.xml`, {
    method: 'POST',
    headers: { 'content-type': 'text/xml' },
    body: `<?xml version="1.0" encoding="utf-8"?>
<Autodiscover xmlns="http://schemas.microsoft.com/exchange/autodiscover/outlook/requestschema/2006">
  <Request>
    <EMailAddress>${address}</EMailAddress>
    <AcceptableResponseSchema>http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a</AcceptableResponseSchema>
  </Request>
</Autodiscover>`,
  });
  assert.equal(answer.status, 200);
  return answer.text();
};

test('Autodiscover answers the listeners for Outlook', async () => {
  const text = await discover('bot@agents.test');
  const [imap = '', pop3 = '', smtp = ''] = text.match(/<Protocol>[^]*?<\/Protocol>/g) ?? [];
  assert.match(imap, /<Type>IMAP<\/Type>\s*<Server>mail\.test<\/Server>\s*<Port>993<\/Port>/);
  assert.match(imap, /<LoginName>bot@agents\.test<\/LoginName>[^]*<SSL>on<\/SSL>/);
  assert.match(pop3, /<Type>POP3<\/Type>/);
  assert.match(smtp, /<Type>SMTP<\/Type>\s*<Server>mail\.test<\/Server>\s*<Port>465<\/Port>[^]*<AuthRequired>on</);
});

test('Autodiscover answers foreign and broken requests with error 600', async () => {
  for (const address of ['bot@elsewhere.example', '', 'a&lt;b&gt;@agents.test']) {
    assert.match(await discover(address), /<ErrorCode>600<\/ErrorCode>/);
  }
});
