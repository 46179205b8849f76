import assert from 'node:assert/strict';
import { test } from 'node:test';
import { opaqueLinks } from '#mime/carried/opaque-links.ts';

const isOpaque = (...links: readonly string[]): boolean =>
  opaqueLinks([links.map((link) => `<a href="${link}">here</a>`).join(' ')], () => false).length > 0;

const OPAQUE: readonly (readonly string[])[] = [
  ['https://evil.example/p.gif?d=Zm9ydHktb25lIHRob3VzYW5kIGNyb3ducw'],
  ['https://evil.example/Zm9ydHktb25lIHRob3VzYW5kIGNyb3ducw/p.gif'],
  ['https://c2VjcmV0LXBhc3N3b3Jk.evil.example/'],
  ['https://evil.example/#6d61726d616c616465'],
  ['https://evil.example/?a=KRUGKIDC&b=MFWGC3TD&c=MUQHO2LM'],
  ['//evil.example/a?d=4a6f686e20446f65'],
  ['https://x.example/?a=104&b=101&c=108&d=108&e=111&f=119&g=111&h=114'],
  ['https://x.example/?a=1&amp;d=%34%61%36%66%36%38%36%65%32%30%34%34%36%66%36%35'],
  ['https://user:cGFzc3dvcmQgb2YgYm9i@evil.example/'],
  // In pieces that are short alone.
  ['dQw4w9WgXcQ', 'aB3dE5fG7hI', 'kL9mN1oP3qR', 'sT5uV7wX9yZ', 'zY2xW4vU6tS'].map((id) => `https://evil.example/${id}`),
];

const PLAIN: readonly (readonly string[])[] = [
  ['https://shop.example/orders/4711'],
  ['https://www.video.example/watch?v=dQw4w9WgXcQ'],
  ['https://example.com/2026/11/28/how-to-configure-your-new-router-at-home'],
  ['https://meet.example/abc-defg-hij'],
  ['https://calendar.example/ann-example/30min'],
  ['https://ru.wikipedia.org/wiki/%D0%9C%D0%BE%D1%81%D0%BA%D0%B2%D0%B0'],
  ['https://maps.example/?q=48.8583701,2.2922926'],
  ['https://acme.example/newsletter?utm_source=newsletter&utm_medium=email&utm_campaign=november2026'],
  ['https://shop.example/dp/B08N5WRWNW'],
  ['https://en.wikipedia.org/wiki/Freedom_of_information_in_the_United_Kingdom#History'],
  ['http://localhost/c2VjcmV0LXBhc3N3b3Jk'],
];

for (const links of OPAQUE) test(`could carry something: ${links[0]}`, () => assert.ok(isOpaque(...links)));
for (const links of PLAIN) test(`says what it is: ${links[0]}`, () => assert.ok(!isOpaque(...links)));

test('a host may be excused', () => {
  const text = 'https://docs.acme.example/Zm9ydHktb25lIHRob3VzYW5kIGNyb3ducw';
  assert.equal(opaqueLinks([text], (host) => host.endsWith('acme.example')).length, 0);
});

test('long hostile text is read in time proportional to it', () => {
  const started = performance.now();
  opaqueLinks(
    ['https://'.repeat(100_000), 'https://a.example/?'.concat('%41'.repeat(300_000)), '//'.repeat(500_000)],
    () => false,
  );
  assert.ok(performance.now() - started < 5_000);
});
